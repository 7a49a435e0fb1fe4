#include "dataplane/engine.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include <fmt/format.h>

#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_mbuf.h>

#include "config/log.hpp"
#include "dataplane/eal.hpp"
#include "dataplane/machine_error.hpp"

/// rte_ring_create_elem() by its name in the library: DPDK 24.11's rte_ring_elem.h forgets to say that it is
/// a C function.
extern "C" rte_ring* zonelb_ring_create_elem(const char* name, unsigned element_size, unsigned count,
                                             int socket, unsigned flags) __asm__("rte_ring_create_elem");

namespace zonelb::dataplane {
namespace {

using config::log;

constexpr unsigned report_ring_size = 1024;
constexpr unsigned handoff_ring_size = 2048;
constexpr std::uint32_t least_buffers = 8192;

rte_ring* make_ring(const std::string& name, unsigned element_size, unsigned count, unsigned flags) {
  rte_ring* ring = zonelb_ring_create_elem(name.c_str(), element_size, count, SOCKET_ID_ANY, flags);
  if (ring == nullptr)
    throw MachineError(fmt::format("no memory for ring {}: {}\n  give EAL more: --eal '-m 512'", name,
                                   rte_strerror(rte_errno)));
  return ring;
}

/// Enough for all descriptors to be full at once, and for what cores keep in hand.
std::uint32_t buffers_for(const config::Machine& machine, std::size_t workers) {
  if (machine.mbufs != 0) return machine.mbufs;
  const std::size_t per_queue = std::size_t{machine.rx_descriptors} + machine.tx_descriptors;
  const std::size_t in_hand = (workers + 1) * 1024 + machine.ports.size() * handoff_ring_size;
  return std::max(least_buffers,
                  static_cast<std::uint32_t>(machine.ports.size() * workers * per_queue + in_hand));
}

template <class Table>
std::unique_ptr<Table> make_table(std::uint64_t capacity, const char* flag) {
  try {
    return std::make_unique<Table>(capacity, std::random_device{}());
  } catch (const std::bad_alloc&) {
    throw MachineError(
        fmt::format("no memory for {} {}: {} MB are needed\n  free -m shows what there is; ask for fewer",
                    flag, capacity, capacity * Table::slot_size / 1'000'000));
  }
}

}  // namespace

Engine::Engine(const config::Machine& machine) : lcores_(worker_lcores()) {
  if (lcores_.empty())
    throw MachineError(
        "EAL has one lcore, which is the main core's; none is left to forward\n  give it two or more: "
        "--eal '-l 0-1'");
  if (machine.workers > lcores_.size())
    throw MachineError(
        fmt::format("{} workers are asked for, EAL has {} lcores for them\n  give it more: --eal '-l 0-{}'",
                    machine.workers, lcores_.size(), machine.workers));
  const std::size_t wanted = machine.workers == 0 ? lcores_.size() : machine.workers;
  open_ports(machine, wanted);
  make_tables(machine);
  make_workers();
}

Engine::~Engine() {
  stop();
}

void Engine::open_ports(const config::Machine& machine, std::size_t wanted) {
  const auto largest = std::ranges::max_element(machine.ports, {}, &config::Port::mtu);
  pool_ = make_pool(buffers_for(machine, wanted), largest->mtu);
  PortTuning tuning;
  tuning.queues = machine.rx_queues != 0 ? machine.rx_queues : static_cast<std::uint16_t>(wanted);
  tuning.rx_descriptors = machine.rx_descriptors;
  tuning.tx_descriptors = machine.tx_descriptors;
  std::size_t queues = 0;
  for (const auto& port : machine.ports) {
    ports_.emplace_back(port, machine.eal, tuning, pool_.get());
    queues += ports_.back().rx_queues();
    handoff_.emplace_back(
        make_ring(fmt::format("handoff{}", ports_.size()), sizeof(void*), handoff_ring_size, RING_F_SC_DEQ));
  }
  worker_count_ = static_cast<unsigned>(std::min(wanted, queues));
  if (worker_count_ < wanted)
    log("{} workers for {} receive queues; {} lcores stay idle (--workers {} says so)", worker_count_, queues,
        wanted - worker_count_, worker_count_);
}

void Engine::make_tables(const config::Machine& machine) {
  table4_ = make_table<conntrack::Table4>(machine.connections, "--connections");
  table6_ = make_table<conntrack::Table6>(machine.connections6, "--connections6");
  if (!table4_->in_huge_pages() || !table6_->in_huge_pages())
    log("connection tables lie in ordinary pages: slower look-ups; reserve 2 MB pages to mend it: echo {} > "
        "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
        (table4_->memory_size() + table6_->memory_size()) / (2 << 20) + 1);
}

void Engine::make_workers() {
  report_ring_.reset(make_ring("reports", sizeof(NeighbourReport), report_ring_size, RING_F_SC_DEQ));
  reports_ = std::make_unique<NeighbourReports>(report_ring_.get());
  publication_ = std::make_unique<Publication>(worker_count_);
  for (unsigned i = 0; i < worker_count_; ++i) {
    counters_.push_back(std::make_unique<WorkerCounters>());
    transmits_.push_back(std::make_unique<Transmit>(ports_.size()));
    workers_.push_back(std::make_unique<Worker>(
        wiring(i), *publication_, Context{*table4_, *table6_, *counters_[i], *reports_, *transmits_[i]}));
  }
}

/// Queues are dealt out in turn, so that as many workers as possible have one. A port with fewer transmit
/// queues than workers has the rest of them hand their frames to worker 0.
Worker::Wiring Engine::wiring(unsigned worker) const {
  Worker::Wiring result;
  result.index = worker;
  result.workers = worker_count_;
  unsigned turn = 0;
  for (std::uint16_t position = 0; position < ports_.size(); ++position) {
    const Port& port = ports_[position];
    for (std::uint16_t queue = 0; queue < port.rx_queues(); ++queue)
      if (turn++ % worker_count_ == worker) result.receive.push_back({position, port.id(), queue});
    const bool own_queue = worker < port.tx_queues();
    result.send.push_back({port.id(), static_cast<std::uint16_t>(own_queue ? worker : 0),
                           own_queue ? nullptr : handoff_[position].get()});
    if (worker == 0) result.handed_over.push_back({position, handoff_[position].get()});
  }
  return result;
}

void Engine::start() {
  running_ = true;
  for (unsigned i = 0; i < worker_count_; ++i) {
    const auto run = [](void* worker) {
      static_cast<Worker*>(worker)->run();
      return 0;
    };
    if (const int error = rte_eal_remote_launch(run, workers_[i].get(), lcores_[i]); error != 0)
      throw MachineError(fmt::format("lcore {} does not start: {}", lcores_[i], rte_strerror(-error)));
  }
}

void Engine::stop() {
  if (!running_) return;
  running_ = false;
  // Worker 0 goes last, as it sends for the others.
  for (unsigned i = worker_count_; i-- > 0;) {
    workers_[i]->stop();
    rte_eal_wait_lcore(lcores_[i]);
  }
}

bool Engine::send(std::uint16_t port, std::span<const std::uint8_t> frame) {
  rte_mbuf* buffer = rte_pktmbuf_alloc(pool_.get());
  if (buffer == nullptr) return false;
  char* bytes = rte_pktmbuf_append(buffer, static_cast<std::uint16_t>(frame.size()));
  if (bytes != nullptr) {
    std::memcpy(bytes, frame.data(), frame.size());
    if (rte_ring_mp_enqueue(handoff_[port].get(), buffer) == 0) return true;
  }
  rte_pktmbuf_free(buffer);
  return false;
}

}  // namespace zonelb::dataplane
