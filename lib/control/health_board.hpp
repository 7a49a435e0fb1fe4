#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "health/prober.hpp"

namespace zonelb::control {

/// What is to be probed for a configuration, and what the probes have said. A target that two services share
/// under one health check is probed once.
class HealthBoard {
 public:
  /// Takes over a configuration and returns its targets; states of targets that stay are kept.
  std::vector<health::ProbeTarget> configure(const config::Config& config);

  /// Notes a result; false: of a target that is gone.
  bool record(const health::StateChange& change);

  struct Standing {
    health::State state = health::State::unknown;
    /// Why the last probe failed.
    std::string reason;
    /// Has no health check.
    bool unchecked = false;
    /// In the configuration since the appliance started; others came by reload.
    bool since_start = false;
  };
  [[nodiscard]] Standing standing(const std::string& service, const config::Backend& backend) const;

  /// Have all targets had a result?
  [[nodiscard]] bool first_round_done() const;

 private:
  struct Result {
    health::State state = health::State::unknown;
    std::string reason;
    bool since_start = false;
  };

  [[nodiscard]] std::string key(const config::HealthCheck& check, const std::string& service,
                                const net::IpAddress& address) const;

  /// By service: its check; absent: none.
  std::map<std::string, config::HealthCheck> checks_;
  std::map<std::string, Result> results_;
  bool started_ = false;
};

}  // namespace zonelb::control
