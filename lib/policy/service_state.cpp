#include "policy/service_state.hpp"

#include <algorithm>

namespace zonelb::policy {

ServiceState make_state(const config::Config& config, const config::BackendService& service,
                        const ZoneMap& zones, const ConditionOf& condition_of) {
  ServiceState state;
  state.name = service.name;
  state.zonal_affinity = service.zonal_affinity;
  state.spillover_ratio = service.spillover_ratio;
  state.failover_ratio = service.failover_ratio;
  state.drop_traffic_if_unhealthy = service.drop_traffic_if_unhealthy;
  for (const auto& backend : config.backends) {
    if (std::ranges::find(backend.services, service.name) == backend.services.end()) continue;
    const auto condition = condition_of(backend);
    state.members.push_back({backend.name, zones.id(backend.zone).value_or(no_zone), backend.failover,
                             backend.weight, condition.healthy, condition.draining || backend.drain});
  }
  std::ranges::sort(state.members, {}, &Member::name);
  return state;
}

std::vector<std::string> names_of(const ServiceState& service, const MemberSet& set) {
  std::vector<std::string> names;
  names.reserve(set.size());
  for (const std::uint16_t i : set) names.push_back(service.members[i].name);
  std::ranges::sort(names);
  return names;
}

}  // namespace zonelb::policy
