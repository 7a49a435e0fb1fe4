#pragma once

#include <functional>
#include <string>

#include "policy/members.hpp"
#include "policy/zone_map.hpp"

namespace zonelb::policy {

/// What is known of a backend beyond its flags.
struct BackendCondition {
  bool healthy = true;
  bool draining = false;
};

using ConditionOf = std::function<BackendCondition(const config::Backend&)>;

/// The members of `service` in `config`, sorted by name, in the condition that `condition_of` tells.
ServiceState make_state(const config::Config& config, const config::BackendService& service,
                        const ZoneMap& zones, const ConditionOf& condition_of);

/// Sorted names of a set's members.
std::vector<std::string> names_of(const ServiceState& service, const MemberSet& set);

}  // namespace zonelb::policy
