#include "runner.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <random>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "dataplane/port.hpp"
#include "flows.hpp"
#include "packet/l2.hpp"
#include "scenario.hpp"

namespace zonelb::bench {
namespace {

using conntrack::tcp_flag::ack;
using conntrack::tcp_flag::syn;
using dataplane::Batch;

/// Buffers in turn: few enough to stay in the cache, as what a NIC has just written does.
constexpr unsigned buffers = 512;

class StageClock {
 public:
  void start() { last_ = rte_rdtsc(); }
  void lap(dataplane::Stage ended) {
    const auto now = rte_rdtsc();
    cycles_[static_cast<std::size_t>(ended)] += now - last_;
    last_ = now;
  }
  [[nodiscard]] const std::array<std::uint64_t, stages>& cycles() const { return cycles_; }

 private:
  std::uint64_t last_ = 0;
  std::array<std::uint64_t, stages> cycles_{};
};

/// Everything the workers of a benchmark share.
struct Shared {
  explicit Shared(const Options& chosen)
      : options(chosen),
        scenario(chosen),
        flows(chosen),
        table4(chosen.ipv6 ? 16 : chosen.connections, 1),
        table6(chosen.ipv6 ? chosen.connections : 16, 1),
        pool(dataplane::make_pool(buffers * chosen.workers + 512 * chosen.workers, 1500)) {}

  const Options& options;
  Scenario scenario;
  Flows flows;
  conntrack::Table4 table4;
  conntrack::Table6 table6;
  dataplane::Pool pool;
  /// Numbers of flows never seen before.
  std::atomic<std::uint64_t> next_new{0};
  std::atomic<unsigned> waiting{0};
};

/// One worker: its pipeline and the packets it is fed with.
class Feeder {
 public:
  Feeder(Shared& shared, unsigned worker)
      : shared_(shared),
        worker_(worker),
        transmit_(1),
        reports_(nullptr),
        pipeline_({shared.table4, shared.table6, counters_, reports_, transmit_}),
        random_(worker + 1) {
    for (auto number = worker; number < shared.options.flows; number += shared.options.workers)
      order_.push_back(static_cast<std::uint32_t>(number));
    std::ranges::shuffle(order_, random_);
    frames_.resize(buffers);
    if (rte_pktmbuf_alloc_bulk(shared.pool.get(), frames_.data(), buffers) != 0)
      throw std::runtime_error("no packet buffers");
  }

  ~Feeder() { rte_pktmbuf_free_bulk(frames_.data(), static_cast<unsigned>(frames_.size())); }

  /// Establishes all flows: SYN, then ACK.
  void establish() {
    for (const std::uint8_t flags : {syn, ack})
      for (std::size_t done = 0; done < order_.size();) {
        const auto count = std::min<std::size_t>(shared_.options.burst, order_.size() - done);
        for (std::size_t i = 0; i < count; ++i) write(i, order_[done + i], flags);
        process(count, dataplane::NoClock{});
        done += count;
      }
  }

  RunResult run() {
    RunResult result;
    std::uint64_t total = 0, floor = 0;
    StageClock clock;
    const unsigned burst = shared_.options.burst;
    const std::uint64_t bursts = shared_.options.packets / burst;
    for (std::uint64_t i = 0; i < bursts; ++i) {
      compose(burst);
      floor += time_floor(burst);
      compose_again(burst);
      // Every eighth burst pays for the stage breakdown, so that the total does not.
      if (i % 8 == 7) {
        clock.start();
        process(burst, clock);
      } else {
        const auto begin = rte_rdtsc();
        process(burst, dataplane::NoClock{});
        total += rte_rdtsc() - begin;
      }
      first_ = (first_ + burst) % (buffers - burst);
    }
    const auto packets = static_cast<double>(bursts * burst);
    const std::uint64_t staged_bursts = bursts / 8;
    const auto timed = static_cast<double>((bursts - staged_bursts) * burst);
    result.total = static_cast<double>(total) / timed;
    result.floor = static_cast<double>(floor) / packets;
    for (std::size_t s = 0; s < stages; ++s)
      result.stage[s] = static_cast<double>(clock.cycles()[s]) / (packets - timed);
    return result;
  }

  [[nodiscard]] const dataplane::WorkerCounters& counters() const { return counters_; }

 private:
  struct Planned {
    std::uint64_t number = 0;
    std::uint8_t flags = 0;
  };

  void write(std::size_t position, std::uint64_t number, std::uint8_t flags) {
    rte_mbuf* frame = frames_[first_ + position];
    rte_pktmbuf_reset(frame);
    const auto length = shared_.flows.write(rte_pktmbuf_mtod(frame, std::uint8_t*), number, flags);
    frame->data_len = static_cast<std::uint16_t>(length);
    frame->pkt_len = length;
  }

  void compose(unsigned burst) {
    for (unsigned i = 0; i < burst; ++i) {
      new_share_ += shared_.options.new_percent;
      if (new_share_ >= 100) {
        new_share_ -= 100;
        planned_[i] = {shared_.options.flows + shared_.next_new.fetch_add(1, std::memory_order_relaxed), syn};
      } else {
        planned_[i] = {order_[next_], ack};
        if (++next_ == order_.size()) next_ = 0;
      }
    }
    compose_again(burst);
  }

  void compose_again(unsigned burst) {
    for (unsigned i = 0; i < burst; ++i) write(i, planned_[i].number, planned_[i].flags);
  }

  /// Receive → touch the header → swap MACs → send, with nothing decided.
  std::uint64_t time_floor(unsigned burst) {
    const auto begin = rte_rdtsc();
    for (unsigned i = 0; i < burst; ++i) {
      auto* bytes = rte_pktmbuf_mtod(frames_[first_ + i], std::uint8_t*);
      auto& ethernet = packet::header<packet::Ethernet>(bytes);
      const net::Mac source = ethernet.source;
      if (ethernet.type.raw() != 0) packet::replace_macs(bytes, source, ethernet.destination);
      transmit_.add(0, frames_[first_ + i]);
    }
    const auto cycles = rte_rdtsc() - begin;
    transmit_.clear(0);
    return cycles;
  }

  template <class Clock>
  void process(std::size_t count, Clock&& clock) {
    pipeline_.process(*shared_.scenario.snapshot, worker_, 0, {frames_.data() + first_, count}, 1,
                      std::forward<Clock>(clock));
    if (transmit_.waiting(0).size() != count)
      throw std::runtime_error("the benchmark's packets were dropped");
    transmit_.clear(0);
  }

  Shared& shared_;
  unsigned worker_;
  dataplane::WorkerCounters counters_;
  dataplane::Transmit transmit_;
  dataplane::NeighbourReports reports_;
  dataplane::Pipeline pipeline_;
  std::mt19937 random_;
  std::vector<std::uint32_t> order_;
  std::size_t next_ = 0;
  unsigned new_share_ = 0;
  std::array<Planned, Batch::max_size> planned_{};
  std::vector<rte_mbuf*> frames_;
  std::size_t first_ = 0;
};

/// A worker's turn, to be run on its lcore.
struct Turn {
  Feeder* feeder = nullptr;
  Shared* shared = nullptr;
  bool establish = false;
  RunResult result;

  static int go(void* argument) {
    auto& turn = *static_cast<Turn*>(argument);
    // All start together. acq_rel: nothing else is handed over by it
    turn.shared->waiting.fetch_sub(1, std::memory_order_acq_rel);
    while (turn.shared->waiting.load(std::memory_order_acquire) != 0) rte_pause();
    if (turn.establish) {
      turn.feeder->establish();
    } else {
      turn.result = turn.feeder->run();
    }
    return 0;
  }
};

RunResult mean(const std::vector<Turn>& turns) {
  RunResult sum;
  const auto count = static_cast<double>(turns.size());
  for (const auto& turn : turns) {
    sum.total += turn.result.total / count;
    sum.floor += turn.result.floor / count;
    for (std::size_t s = 0; s < stages; ++s) sum.stage[s] += turn.result.stage[s] / count;
  }
  return sum;
}

/// Runs all workers at once: the first on this lcore, the others on theirs.
RunResult all(std::vector<std::unique_ptr<Feeder>>& feeders, Shared& shared, bool establish) {
  std::vector<Turn> turns;
  for (auto& feeder : feeders) turns.push_back({feeder.get(), &shared, establish, {}});
  shared.waiting.store(static_cast<unsigned>(turns.size()), std::memory_order_release);
  unsigned lcore = rte_get_main_lcore();
  for (std::size_t i = 1; i < turns.size(); ++i) {
    lcore = rte_get_next_lcore(lcore, 1, 0);
    rte_eal_remote_launch(Turn::go, &turns[i], lcore);
  }
  Turn::go(turns.data());
  rte_eal_mp_wait_lcore();
  return mean(turns);
}

}  // namespace

Report run(const Options& options) {
  Shared shared(options);
  std::vector<std::unique_ptr<Feeder>> feeders;
  for (unsigned worker = 0; worker < options.workers; ++worker)
    feeders.push_back(std::make_unique<Feeder>(shared, worker));
  if (options.new_percent < 100) all(feeders, shared, true);
  Report report;
  report.cycles_per_second = rte_get_tsc_hz();
  report.huge_pages = options.ipv6 ? shared.table6.in_huge_pages() : shared.table4.in_huge_pages();
  for (unsigned i = 0; i < options.runs; ++i) report.runs.push_back(all(feeders, shared, false));
  for (const auto& feeder : feeders) {
    const auto& counters = feeder->counters();
    report.entries += counters.entries_made.value() - counters.entries_removed.value();
    report.untracked += counters.untracked.value();
    report.evictions += counters.evictions.value();
  }
  return report;
}

}  // namespace zonelb::bench
