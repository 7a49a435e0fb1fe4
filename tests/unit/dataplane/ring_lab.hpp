#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <rte_eth_ring.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "config/command_line.hpp"
#include "control/state.hpp"
#include "dataplane/eal.hpp"
#include "dataplane/port.hpp"
#include "dataplane/worker.hpp"
#include "packet/frames.hpp"

/// Real workers on a port made of two rings: what a test puts into the one comes in, what goes out lies in
/// the other.
namespace zonelb::dataplane::testing {

/// The environment of the whole test program; it cannot be started twice.
inline void need_eal() {
  static const Eal eal({"--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "-m", "128", "-l", "0"});
}

struct RingFree {
  void operator()(rte_ring* ring) const { rte_ring_free(ring); }
};
using Ring = std::unique_ptr<rte_ring, RingFree>;

inline Ring make_ring(unsigned size) {
  need_eal();
  static unsigned made = 0;
  const auto name = "ring" + std::to_string(made++);
  Ring ring(rte_ring_create(name.c_str(), size, SOCKET_ID_ANY, RING_F_EXACT_SZ));
  if (!ring) throw std::runtime_error("no ring");
  return ring;
}

/// Waits for `condition`; false when it does not come true.
inline bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// A ring port and its frames.
class RingPort {
 public:
  /// `out_size`: frames that fit into the way out before the port refuses more.
  explicit RingPort(unsigned out_size) : in_(make_ring(1024)), out_(make_ring(out_size)) {
    static unsigned made = 0;
    config::Port config;
    const auto name = "lab" + std::to_string(made++);
    config.name = "net_ring_" + name;
    rte_ring* in = in_.get();
    rte_ring* out = out_.get();
    if (rte_eth_from_rings(name.c_str(), &in, 1, &out, 1, 0) < 0) throw std::runtime_error("no ring port");
    pool_ = make_pool(4096, 1500);
    config.v4 =
        config::InterfaceAddress{*net::IpAddress::parse("10.0.0.2"), *net::Prefix::parse("10.0.0.0/16"), {}};
    port_ = std::make_unique<Port>(config, std::vector<std::string>{}, PortTuning{}, pool_.get());
  }
  ~RingPort() {
    drain(*in_);
    drain(*out_);
  }
  RingPort(const RingPort&) = delete;
  RingPort& operator=(const RingPort&) = delete;

  /// A client's SYN to the service, in a buffer with `headroom` bytes in front. `stripped_vlan`: of the tag
  /// that the NIC has taken off; 0: there was none.
  void receive_syn(std::uint16_t client_port, unsigned headroom = RTE_PKTMBUF_HEADROOM,
                   std::uint16_t stripped_vlan = 0) {
    auto bytes = packet::testing::bytes(
        {packet::testing::macs, "0800", packet::testing::ipv4_tcp, packet::testing::tcp_syn});
    std::ranges::copy(port_->view().mac.bytes(), bytes.begin());
    bytes[34] = static_cast<std::uint8_t>(client_port >> 8);
    bytes[35] = static_cast<std::uint8_t>(client_port);
    rte_mbuf* frame = rte_pktmbuf_alloc(pool_.get());
    frame->data_off = static_cast<std::uint16_t>(headroom);
    if (stripped_vlan != 0) {
      frame->vlan_tci = stripped_vlan;
      frame->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
    }
    std::memcpy(rte_pktmbuf_append(frame, static_cast<std::uint16_t>(bytes.size())), bytes.data(),
                bytes.size());
    rte_ring_enqueue(in_.get(), frame);
  }
  [[nodiscard]] unsigned sent() const { return rte_ring_count(out_.get()); }
  /// The first frame that went out; empty: there is none.
  std::vector<std::uint8_t> take() {
    void* taken = nullptr;
    if (rte_ring_dequeue(out_.get(), &taken) != 0) return {};
    auto* frame = static_cast<rte_mbuf*>(taken);
    const auto* bytes = rte_pktmbuf_mtod(frame, const std::uint8_t*);
    std::vector<std::uint8_t> copy(bytes, bytes + rte_pktmbuf_pkt_len(frame));
    rte_pktmbuf_free(frame);
    return copy;
  }
  /// Buffers that are neither free nor on their way in or out.
  [[nodiscard]] unsigned lost() const {
    return rte_mempool_in_use_count(pool_.get()) - rte_ring_count(in_.get()) - sent();
  }
  [[nodiscard]] const Port& port() const { return *port_; }

 private:
  static void drain(rte_ring& ring) {
    void* frame = nullptr;
    while (rte_ring_dequeue(&ring, &frame) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(frame));
  }

  Ring in_, out_;
  Pool pool_;
  std::unique_ptr<Port> port_;
};

/// One service at 10.0.0.80, one backend, as a snapshot of the production code; `change` may spoil it.
inline std::unique_ptr<const Snapshot> snapshot_for(const RingPort& ring, const std::string& service_keys,
                                                    const std::function<void(Snapshot&)>& change = {}) {
  const auto config =
      config::read_command_line(
          std::vector<std::string>{"--port", "name=0,address=10.0.0.2/16", "--zone", "z", "--backend-service",
                                   "name=web" + service_keys, "--backend",
                                   "service=web,name=b,address=10.0.1.1,zone=z,mac=02:bb:00:00:00:01",
                                   "--forwarding-rule",
                                   "name=r,address=10.0.0.80,protocol=TCP,ports=80,backend-service=web"})
          .config;
  auto view = ring.port().view();
  static std::vector<std::unique_ptr<control::State>> states;
  auto& state = *states.emplace_back(std::make_unique<control::State>(std::vector<PortView>{view}, 2));
  state.configure(config, control::Clock::now());
  control::Events events;
  auto made = state.make_snapshot(Neighbours([](const auto&, const auto&) {}), control::Clock::now(), events);
  auto changed = std::make_unique<Snapshot>(*made);
  if (change) change(*changed);
  return changed;
}

/// A worker on a thread of its own, and what it counted.
class RunningWorker {
 public:
  RunningWorker(const RingPort& ring, std::unique_ptr<const Snapshot> snapshot, rte_ring* handoff = nullptr)
      : reports_(nullptr),
        worker_({0, 1, {{0, ring.port().id(), 0}}, {{ring.port().id(), 0, handoff}}, {}}, publication_,
                {table4_, table6_, counters_, reports_, transmit_}) {
    publication_.publish(std::move(snapshot));
    thread_ = std::thread([this] { worker_.run(); });
  }
  ~RunningWorker() {
    worker_.stop();
    thread_.join();
  }
  RunningWorker(const RunningWorker&) = delete;
  RunningWorker& operator=(const RunningWorker&) = delete;

  [[nodiscard]] std::uint64_t dropped(packet::DropReason reason) const {
    return counters_.drops[static_cast<std::size_t>(reason)].value();
  }
  [[nodiscard]] std::uint64_t transmitted() const { return counters_.transmitted.value(); }

 private:
  conntrack::Table4 table4_{1024, 1};
  conntrack::Table6 table6_{16, 1};
  WorkerCounters counters_;
  NeighbourReports reports_;
  Transmit transmit_{1};
  Publication publication_{1};
  Worker worker_;
  std::thread thread_;
};

}  // namespace zonelb::dataplane::testing
