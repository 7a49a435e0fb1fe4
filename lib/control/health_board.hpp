#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/config.hpp"
#include "health/prober.hpp"

namespace zonelb::control {

/// A backend as a member of a service.
struct Membership {
  std::string service;
  std::string backend;
};

/// What is to be probed for a configuration, and what the probes have said. A target that two services share
/// under one health check is probed once.
class HealthBoard {
 public:
  /// Takes over a configuration and returns its targets; states of targets that stay are kept.
  std::vector<health::ProbeTarget> configure(const config::Config& config);

  /// Notes a result; returns whom it is about: nobody when the target is gone.
  const std::vector<Membership>& record(const health::StateChange& change);

  struct Standing {
    health::State state = health::State::unknown;
    /// Why the last probe failed.
    std::string reason;
    /// In the configuration since the appliance started; others came by reload.
    bool since_start = false;
  };
  [[nodiscard]] Standing standing(const std::string& service, const config::Backend& backend) const;

  /// Have all targets of a service had a result?
  [[nodiscard]] bool first_round_done(const std::string& service) const;
  [[nodiscard]] bool first_round_done() const { return unknown_ == 0; }

 private:
  struct Result {
    Standing standing;
    std::vector<Membership> members;
  };
  struct Service {
    /// Name; empty: no check.
    std::string health_check;
    /// A service has an address once.
    std::map<net::IpAddress, std::shared_ptr<Result>> results;
    /// Its members without a result.
    std::size_t unknown = 0;
  };

  std::unordered_map<std::string, Service> services_;
  /// By target.
  std::unordered_map<std::string, std::shared_ptr<Result>> results_;
  /// Targets without a result.
  std::size_t unknown_ = 0;
  bool started_ = false;
};

}  // namespace zonelb::control
