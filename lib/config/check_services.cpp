#include <map>
#include <unordered_map>
#include <unordered_set>

#include "config/checks.hpp"
#include "config/limits.hpp"
#include "config/syntax.hpp"

namespace zonelb::config {

namespace {

/// Refuses `value` outside the range that holds, naming the wider one where there is one.
void check_range(std::string_view key, Duration value, const DurationRange& range,
                 const DurationRange& relaxed, const Draft& draft, const Place& place,
                 std::string_view otherwise = "") {
  const bool may_be_wide = draft.config.relaxed_limits;
  if ((may_be_wide ? relaxed : range).contains(value)) return;
  throw place.error(
      fmt::format("{} '{}' is not accepted; accepted: {}{}", key, to_string(value),
                  to_string(may_be_wide ? relaxed : range),
                  may_be_wide ? std::string()
                              : fmt::format("{}; with --relaxed-limits {}", otherwise, to_string(relaxed))));
}

}  // namespace

void check_health_checks(const Draft& draft) {
  const auto& checks = draft.config.health_checks;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const HealthCheck& check = checks[i];
    const Place& place = draft.place("health-check", i);
    check_range("check-interval", check.check_interval, check_interval_range, relaxed_check_interval_range,
                draft, place);
    check_range("timeout", check.timeout, check_interval_range, relaxed_check_interval_range, draft, place);
    if (check.timeout > check.check_interval)
      throw place.error(fmt::format(
          "timeout '{}'{} is longer than check-interval '{}'; accepted: at most the interval",
          to_string(check.timeout), check.timeout == HealthCheck{}.timeout ? " (the default)" : "",
          to_string(check.check_interval)));
  }
}

void check_backend_services(const Draft& draft) {
  const Config& config = draft.config;
  const auto known = names_of(config.health_checks);
  for (std::size_t i = 0; i < config.backend_services.size(); ++i) {
    const BackendService& service = config.backend_services[i];
    const Place& place = draft.place("backend-service", i);
    if (!service.health_check.empty() && !draft.named.contains("health-check " + service.health_check))
      throw place.error(unknown_reference("health-check", service.health_check, "declared", known));
    if (config.relaxed_limits || service.idle_timeout <= idle_timeout_range.low)
      check_range("idle-timeout", service.idle_timeout, idle_timeout_range, relaxed_idle_timeout_range, draft,
                  place);
    else
      throw place.error(fmt::format(
          "idle-timeout '{}' is above {}, which needs tracking-mode=PER_SESSION and session-affinity "
          "CLIENT_IP_PROTO, CLIENT_IP or CLIENT_IP_NO_DESTINATION; with --relaxed-limits accepted: {}",
          to_string(service.idle_timeout), to_string(idle_timeout_range.low),
          to_string(relaxed_idle_timeout_range)));
  }
}

void check_backends(const Draft& draft) {
  const Config& config = draft.config;
  const std::unordered_set<std::string> zones(config.zones.begin(), config.zones.end());
  std::unordered_map<std::string, const BackendService*> services;
  for (const auto& service : config.backend_services) services.emplace(service.name, &service);
  std::unordered_map<std::string, std::map<net::IpAddress, const Backend*>> members;

  for (std::size_t i = 0; i < config.backends.size(); ++i) {
    const Backend& backend = config.backends[i];
    const Place& place = draft.place("backend", i);
    if (const auto why = no_host_address(backend.address); !why.empty())
      throw place.error(fmt::format("address {} is {}; accepted: an address of one host",
                                    backend.address.to_string(), why));
    if (!zones.contains(backend.zone))
      throw place.error(fmt::format("zone '{}' is not declared; {}known zones: {}", backend.zone,
                                    did_you_mean(backend.zone, config.zones), listing(config.zones)));
    bool in_vxlan = false;
    for (const auto& name : backend.services) {
      const auto service = services.find(name);
      if (service == services.end())
        throw place.error(unknown_reference("service", name, "declared", names_of(config.backend_services)));
      in_vxlan = in_vxlan || service->second->forwarding == Forwarding::vxlan;
      auto& addresses = members[name];
      const auto [other, added] = addresses.emplace(backend.address, &backend);
      if (!added)
        throw place.error(fmt::format("address {} is already that of backend {} in service {}",
                                      backend.address.to_string(), other->second->name, name));
      if (addresses.size() > most_backends_of_a_service)
        throw place.error(
            fmt::format("service {} has more than {} backends", name, most_backends_of_a_service));
    }
    if (backend.inner_mac && !in_vxlan) throw place.error("inner-mac needs a service with forwarding=VXLAN");
  }
}

}  // namespace zonelb::config
