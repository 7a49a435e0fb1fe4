#pragma once

#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "policy/plan.hpp"
#include "policy/zone_map.hpp"

namespace zonelb::policy {

/// A question about one packet: "who gets it, and why?"
struct Case {
  std::string rule;
  net::Endpoint client;
  std::optional<std::string> protocol;
  std::optional<net::Endpoint> destination;
  /// Backends to take as unhealthy, whatever they are.
  std::set<std::string> unhealthy;
  /// When set, all others are unhealthy.
  std::optional<std::set<std::string>> healthy;
  std::map<std::string, std::uint32_t> weights;
};

struct Explanation {
  std::string rule;
  std::string service;
  net::Endpoint client;
  /// Empty when the client is not compatible.
  std::string client_zone;
  bool compatible = false;
  ActivePool active_pool = ActivePool::dropped;
  std::vector<std::string> configured;
  std::vector<std::string> original_eligible;
  std::vector<std::string> zonal_match_test;
  std::vector<std::string> zonal_matched;
  bool zonal_match = false;
  std::vector<std::string> modified_eligible;
  bool spilled = false;
  std::optional<double> ratio;
  /// Nullopt: dropped.
  std::optional<std::string> selected;
  std::string why;
};

/// The question does not fit the configuration: an unknown rule or backend, a port that the rule does not
/// serve.
class CaseError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Answers `question` for a service in `state` (the question's healthy, unhealthy and weights applied to it)
/// with the very code that makes a worker's plan and picks from it. Throws CaseError.
Explanation explain(const config::Config& config, const ZoneMap& zones, const Case& question,
                    ServiceState state);

/// The rule that `question` names. Throws CaseError.
const config::ForwardingRule& rule_of(const config::Config& config, const Case& question);

/// The same for backends that are all healthy unless the question says otherwise.
Explanation explain_offline(const config::Config& config, const ZoneMap& zones, const Case& question);

}  // namespace zonelb::policy
