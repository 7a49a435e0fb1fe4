#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "control/health_board.hpp"
#include "control/state.hpp"
#include "control/totals.hpp"
#include "dataplane/engine.hpp"
#include "dataplane/neighbours.hpp"
#include "health/statistics.hpp"

namespace zonelb::control {

/// The appliance at one moment, for reports of any length: taken on the main core's loop at little cost, and
/// read on any thread while the engine lives. What it shares with the loop does not change; what workers
/// count is read when the report is made.
struct Picture {
  const dataplane::Engine& engine;
  std::shared_ptr<const config::Config> config;
  std::shared_ptr<const dataplane::Layout> layout;
  Plans plans;
  HealthBoard health;
  /// By TargetId: may connections still know it?
  std::vector<bool> known_targets;
  Totals totals;
  std::vector<std::pair<dataplane::NeighbourKey, std::optional<net::Mac>>> neighbours;
  health::ProbeStatistics probes;
  /// Is the start over for all services?
  bool forwarding = false;
  std::uint64_t generation = 0;
  /// See State::failovers.
  std::uint64_t failovers = 0;
  /// Seconds the last snapshot took to make and publish.
  double last_swap_seconds = 0;
};

}  // namespace zonelb::control
