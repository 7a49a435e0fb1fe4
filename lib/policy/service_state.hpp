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

using Backends = std::vector<const config::Backend*>;

/// The backends of each service of `config`, in the order of its services, sorted by name.
std::vector<Backends> backends_by_service(const config::Config& config);
/// Those of one service.
Backends backends_of(const config::Config& config, const std::string& service);

/// `service` with `backends` as its members, in the condition that `condition_of` tells.
ServiceState make_state(const config::BackendService& service, const Backends& backends, const ZoneMap& zones,
                        const ConditionOf& condition_of);

/// Sorted names of a set's members.
std::vector<std::string> names_of(const ServiceState& service, const MemberSet& set);

}  // namespace zonelb::policy
