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
/// under one health check is probed once. A copy costs little, as it shares what the configuration says.
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
  struct Service {
    /// Position in unknown_of_.
    std::size_t position = 0;
    /// Name; empty: no check.
    std::string health_check;
    /// Positions in standings_; a service has an address once.
    std::map<net::IpAddress, std::size_t> results;
  };
  /// What a configuration says.
  struct Index {
    std::unordered_map<std::string, Service> services;
    /// By target: position in standings_.
    std::unordered_map<std::string, std::size_t> results;
    /// Whom each of standings_ is about.
    std::vector<std::vector<Membership>> members;
  };

  void count_unknown();

  std::shared_ptr<const Index> index_ = std::make_shared<Index>();
  /// One for each target.
  std::vector<Standing> standings_;
  /// Members without a result, by service.
  std::vector<std::size_t> unknown_of_;
  /// Targets without a result.
  std::size_t unknown_ = 0;
  bool started_ = false;
};

}  // namespace zonelb::control
