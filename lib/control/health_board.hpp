#pragma once

#include <map>
#include <set>
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

  /// Notes a result; returns whom it is about ("backend a of web"), or nothing when the target is gone.
  std::string record(const health::StateChange& change);

  struct Standing {
    health::State state = health::State::unknown;
    /// Why the last probe failed.
    std::string reason;
    /// In the configuration since the appliance started; others came by reload.
    bool since_start = false;
  };
  [[nodiscard]] Standing standing(const std::string& service, const config::Backend& backend) const;

  /// Have all targets of a service had a result?
  [[nodiscard]] bool first_round_done(const config::Config& config, const std::string& service) const;
  [[nodiscard]] bool first_round_done() const;

 private:
  struct Result {
    health::State state = health::State::unknown;
    std::string reason;
    bool since_start = false;
    /// "backend a of web"
    std::string backends;
  };

  [[nodiscard]] std::string key(const config::HealthCheck& check, const std::string& service,
                                const net::IpAddress& address) const;

  std::set<std::string> known_;
  /// By service: its check; absent: none.
  std::map<std::string, config::HealthCheck> checks_;
  std::map<std::string, Result> results_;
  bool started_ = false;
};

}  // namespace zonelb::control
