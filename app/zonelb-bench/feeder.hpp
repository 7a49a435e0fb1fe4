#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <vector>

#include "dataplane/pipeline.hpp"
#include "dataplane/port.hpp"
#include "dataplane/publication.hpp"
#include "flows.hpp"
#include "options.hpp"
#include "runner.hpp"
#include "scenario.hpp"

namespace zonelb::bench {

/// Buffers in turn: few enough to stay in the cache, as what a NIC has just written does.
constexpr unsigned buffers = 512;

/// Everything the workers of a benchmark share.
struct Shared {
  explicit Shared(const Options& chosen)
      : options(chosen),
        scenario(chosen),
        flows(chosen),
        table4(chosen.ipv6 ? 16 : chosen.connections, 1),
        table6(chosen.ipv6 ? chosen.connections : 16, 1),
        pool(dataplane::make_pool(buffers * chosen.workers + 512 * chosen.workers, 1500)),
        publication(chosen.workers) {
    publication.publish(std::move(scenario.snapshot));
  }

  const Options& options;
  Scenario scenario;
  Flows flows;
  conntrack::Table4 table4;
  conntrack::Table6 table6;
  dataplane::Pool pool;
  dataplane::Publication publication;
  /// Numbers of flows never seen before.
  std::atomic<std::uint64_t> next_new{0};
};

/// One worker: its pipeline and the packets it is fed with.
class Feeder {
 public:
  Feeder(Shared& shared, unsigned worker);
  ~Feeder();
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  /// Establishes all flows: SYN, then ACK.
  void establish();
  /// Opens connections until the table has no room for more; `confirmed`: with a second packet each.
  void fill_table(bool confirmed);
  RunResult run();
  /// Feeds one burst and returns the cycles it took.
  std::uint64_t burst();

  [[nodiscard]] const dataplane::WorkerCounters& counters() const { return counters_; }

 private:
  struct Planned {
    std::uint64_t number = 0;
    std::uint8_t flags = 0;
  };

  void write(std::size_t position, std::uint64_t number, std::uint8_t flags);
  void compose(unsigned burst);
  void compose_again(unsigned burst);
  std::uint64_t time_floor(unsigned burst);
  template <class Clock>
  void process(std::size_t count, Clock&& clock);

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
  std::array<Planned, dataplane::Batch::max_size> planned_{};
  std::vector<rte_mbuf*> frames_;
  std::size_t first_ = 0;
};

}  // namespace zonelb::bench
