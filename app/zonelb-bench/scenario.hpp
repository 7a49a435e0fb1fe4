#pragma once

#include <memory>

#include "control/state.hpp"
#include "options.hpp"

namespace zonelb::bench {

/// The appliance's own port in the benchmark.
dataplane::PortView bench_port();

/// Services, backends, zones and rules as the options ask, made into a snapshot by the production code.
/// `state` owns what the snapshot refers to.
struct Scenario {
  explicit Scenario(const Options& options);

  config::Config config;
  control::State state;
  std::unique_ptr<const dataplane::Snapshot> snapshot;
};

}  // namespace zonelb::bench
