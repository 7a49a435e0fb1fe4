#pragma once

#include <array>
#include <vector>

#include "dataplane/pipeline.hpp"
#include "options.hpp"

namespace zonelb::bench {

inline constexpr std::size_t stages = static_cast<std::size_t>(dataplane::Stage::count);

/// Cycles per packet of one run, as the mean over workers.
struct RunResult {
  double total = 0;
  double floor = 0;
  std::array<double, stages> stage{};
  /// Bursts that are not in these figures, as the core was taken away during them.
  std::uint64_t interrupted = 0;
};

struct Report {
  std::vector<RunResult> runs;
  std::uint64_t cycles_per_second = 0;
  std::uint64_t entries = 0;
  std::uint64_t untracked = 0;
  std::uint64_t evictions = 0;
  std::uint64_t dropped = 0;
  bool huge_pages = false;
};

/// Runs what the options ask for: production pipeline, production snapshot and table. EAL must be up with an
/// lcore for each worker.
Report run(const Options& options);

}  // namespace zonelb::bench
