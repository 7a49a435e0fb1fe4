#pragma once

#include <memory>

#include "control/state.hpp"
#include "options.hpp"

namespace zonelb::bench {

/// The appliance's own port in the benchmark.
dataplane::PortView bench_port();

/// Gives every service a health check, which all backends pass at first.
void check_health(config::Config& config);

/// Services, backends, zones and rules as the options ask, made into a snapshot by the production code.
/// `state` owns what the snapshot refers to.
struct Scenario {
  explicit Scenario(const Options& options);

  /// The snapshot of what the state knows now.
  std::unique_ptr<const dataplane::Snapshot> make_snapshot();

  config::Config config;
  control::State state;
  dataplane::Neighbours neighbours;
  /// What is probed; nothing unless options.health_check.
  std::vector<health::ProbeTarget> targets;
  std::unique_ptr<const dataplane::Snapshot> snapshot;
};

}  // namespace zonelb::bench
