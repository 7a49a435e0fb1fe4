#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "health/probe.hpp"

namespace zonelb::health {

/// What a Prober has done since it started.
struct ProbeStatistics {
  /// Upper bounds of the duration buckets in seconds; one more bucket holds what took longer.
  static constexpr std::array<double, 13> bounds{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
                                                 0.2,   0.5,   1.0,   2.0,  5.0,  10.0};

  std::array<std::uint64_t, bounds.size() + 1> durations{};
  double duration_sum_seconds = 0;
  /// Indexed by Outcome.
  std::array<std::uint64_t, outcome_count> outcomes{};
  /// Probes that started late because as many as allowed were in flight.
  std::uint64_t queued = 0;
  std::uint64_t targets = 0;

  /// Counts one probe that ended.
  void record(Outcome outcome, std::chrono::duration<double> duration) {
    std::size_t bucket = 0;
    while (bucket < bounds.size() && duration.count() > bounds[bucket]) ++bucket;
    ++durations[bucket];
    duration_sum_seconds += duration.count();
    ++outcomes[static_cast<std::size_t>(outcome)];
  }
};

}  // namespace zonelb::health
