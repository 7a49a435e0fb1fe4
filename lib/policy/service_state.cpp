#include "policy/service_state.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace zonelb::policy {

std::vector<Backends> backends_by_service(const config::Config& config) {
  std::unordered_map<std::string_view, std::size_t> positions;
  for (const auto& service : config.backend_services) positions.emplace(service.name, positions.size());
  std::vector<Backends> result(config.backend_services.size());
  for (const auto& backend : config.backends)
    for (const auto& service : backend.services) result[positions.at(service)].push_back(&backend);
  for (auto& backends : result) std::ranges::sort(backends, {}, &config::Backend::name);
  return result;
}

Backends backends_of(const config::Config& config, const std::string& service) {
  Backends result;
  for (const auto& backend : config.backends)
    if (std::ranges::find(backend.services, service) != backend.services.end()) result.push_back(&backend);
  std::ranges::sort(result, {}, &config::Backend::name);
  return result;
}

ServiceState make_state(const config::BackendService& service, const Backends& backends, const ZoneMap& zones,
                        const ConditionOf& condition_of) {
  ServiceState state;
  state.name = service.name;
  state.zonal_affinity = service.zonal_affinity;
  state.spillover_ratio = service.spillover_ratio;
  state.failover_ratio = service.failover_ratio;
  state.drop_traffic_if_unhealthy = service.drop_traffic_if_unhealthy;
  state.members.reserve(backends.size());
  for (const auto* backend : backends) {
    const auto condition = condition_of(*backend);
    state.members.push_back({backend->name, zones.id(backend->zone).value_or(no_zone), backend->failover,
                             backend->weight, condition.healthy, condition.draining || backend->drain});
  }
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
