#include "runner.hpp"

#include <memory>

#include <rte_cycles.h>

#include "feeder.hpp"
#include "lcores.hpp"

namespace zonelb::bench {
namespace {

/// A worker's turn, to be run on its lcore.
struct Turn {
  enum class Kind : std::uint8_t { establish, fill, fill_confirmed, measure };

  Feeder* feeder = nullptr;
  Kind kind = Kind::measure;
  RunResult result;

  void go() {
    switch (kind) {
      case Kind::establish:
        feeder->establish();
        break;
      case Kind::fill:
      case Kind::fill_confirmed:
        feeder->fill_table(kind == Kind::fill_confirmed);
        break;
      case Kind::measure:
        result = feeder->run();
        break;
    }
  }
};

RunResult mean(const std::vector<Turn>& turns) {
  RunResult sum;
  const auto count = static_cast<double>(turns.size());
  for (const auto& turn : turns) {
    sum.total += turn.result.total / count;
    sum.floor += turn.result.floor / count;
    sum.interrupted += turn.result.interrupted;
    for (std::size_t s = 0; s < stages; ++s) sum.stage[s] += turn.result.stage[s] / count;
  }
  return sum;
}

/// Runs all workers at once.
RunResult all(std::vector<std::unique_ptr<Feeder>>& feeders, Turn::Kind kind) {
  std::vector<Turn> turns;
  for (auto& feeder : feeders) turns.push_back({feeder.get(), kind, {}});
  on_lcores(static_cast<unsigned>(turns.size()), [&](unsigned worker) { turns[worker].go(); });
  return mean(turns);
}

void empty(Shared& shared) {
  const auto every = [](std::uint8_t, const conntrack::Entry&, std::uint32_t) { return true; };
  const auto unheard = [](const conntrack::Entry&) {};
  shared.table4.sweep(0, shared.table4.line_count(), 1, every, unheard);
  shared.table6.sweep(0, shared.table6.line_count(), 1, every, unheard);
}

}  // namespace

Report run(const Options& options) {
  Shared shared(options);
  std::vector<std::unique_ptr<Feeder>> feeders;
  for (unsigned worker = 0; worker < options.workers; ++worker)
    feeders.push_back(std::make_unique<Feeder>(shared, worker));
  if (options.new_percent < 100) all(feeders, Turn::Kind::establish);
  if (options.table == TableState::full) all(feeders, Turn::Kind::fill);
  if (options.table == TableState::confirmed) all(feeders, Turn::Kind::fill_confirmed);
  Report report;
  report.cycles_per_second = rte_get_tsc_hz();
  report.huge_pages = options.ipv6 ? shared.table6.in_huge_pages() : shared.table4.in_huge_pages();
  for (unsigned i = 0; i < options.runs; ++i) {
    if (options.table == TableState::emptied) empty(shared);
    report.runs.push_back(all(feeders, Turn::Kind::measure));
  }
  const auto count = [&](const auto&, const auto&, std::uint32_t) { ++report.entries; };
  shared.table4.for_each(1, count);
  shared.table6.for_each(1, count);
  for (const auto& feeder : feeders) {
    const auto& counters = feeder->counters();
    report.untracked += counters.untracked.value();
    report.evictions += counters.evictions.value();
  }
  return report;
}

}  // namespace zonelb::bench
