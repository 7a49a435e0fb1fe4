#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "packet/drop_reason.hpp"

namespace zonelb::dataplane {

/// A counter that one worker writes and anybody reads.
class Counter {
 public:
  void add(std::uint64_t amount) {
    // relaxed, and no read-modify-write: there is one writer, and a number orders nothing
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct FlowCounter {
  Counter packets;
  Counter bytes;
};

/// Packets that the appliance took for itself.
enum class LocalKind : std::uint8_t { arp, nd, echo, count };
inline constexpr std::size_t local_kinds = static_cast<std::size_t>(LocalKind::count);

/// What a worker counts whatever the configuration.
struct alignas(64) WorkerCounters {
  std::array<Counter, packet::drop_reasons> drops;
  std::array<Counter, local_kinds> local;
  Counter received;
  Counter transmitted;
  Counter icmp_errors;
  Counter entries_made;
  Counter entries_removed;
  Counter evictions;
  /// Connections forwarded by hash alone because the table had no room, or another worker was in the way for
  /// long.
  Counter untracked;
  Counter busy_cycles;
  Counter total_cycles;
};

/// Counters whose number depends on the configuration. A reload that changes the layout starts a new block;
/// the old one's sums are added up by the main core once no worker uses it.
class CounterBlock {
 public:
  struct Size {
    std::size_t flows = 0;
    std::size_t choices = 0;
    std::size_t targets = 0;
  };
  struct PerWorker {
    std::vector<FlowCounter> flows;
    std::vector<Counter> choices;
    /// Table entries begun and ended per target; one worker may end what another began.
    std::vector<Counter> begun;
    std::vector<Counter> ended;
  };

  CounterBlock(unsigned workers, const Size& size) {
    for (unsigned i = 0; i < workers; ++i) {
      workers_.push_back(std::make_unique<PerWorker>());
      workers_.back()->flows = std::vector<FlowCounter>(size.flows);
      workers_.back()->choices = std::vector<Counter>(size.choices);
      workers_.back()->begun = std::vector<Counter>(size.targets);
      workers_.back()->ended = std::vector<Counter>(size.targets);
    }
  }

  [[nodiscard]] PerWorker& worker(unsigned index) const { return *workers_[index]; }
  [[nodiscard]] unsigned workers() const { return static_cast<unsigned>(workers_.size()); }

 private:
  std::vector<std::unique_ptr<PerWorker>> workers_;
};

}  // namespace zonelb::dataplane
