#pragma once

#include <string>

#include "control/state.hpp"
#include "control/totals.hpp"
#include "dataplane/engine.hpp"
#include "health/statistics.hpp"

namespace zonelb::control {

/// What the metrics page is made from.
struct MetricsSource {
  const State& state;
  const Totals& totals;
  const dataplane::Engine& engine;
  const dataplane::Neighbours& neighbours;
  health::ProbeStatistics probes;
  /// Seconds the last snapshot took to make and publish.
  double last_swap_seconds = 0;
};

/// All metrics of interface.md in Prometheus' text format.
std::string render_metrics(const MetricsSource& source);

}  // namespace zonelb::control
