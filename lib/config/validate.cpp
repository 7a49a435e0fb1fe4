#include "config/validate.hpp"

#include "config/checks.hpp"
#include "config/limits.hpp"

namespace zonelb::config {

std::string_view no_host_address(const net::IpAddress& address) {
  if (address.is_unspecified()) return "the unspecified address";
  if (address.is_multicast()) return "a multicast address";
  if (address == *net::IpAddress::parse("255.255.255.255")) return "the broadcast address";
  return {};
}

void validate(const Draft& draft, Ports ports) {
  const Config& config = draft.config;
  if (ports == Ports::required && config.machine.ports.empty())
    throw ConfigError("no --port is given: zonelb needs one such as --port name=0,address=10.0.0.2/16");
  check_ports(draft);
  check_client_networks(draft);
  if (config.probe_source && !no_host_address(*config.probe_source).empty())
    throw draft.place("probe-source")
        .error(fmt::format("probe-source {} is {}; accepted: an address of this machine",
                           config.probe_source->to_string(), no_host_address(*config.probe_source)));
  check_health_checks(draft);
  check_backend_services(draft);
  check_backends(draft);
  if (!config.machine.ports.empty()) check_next_hops(draft);
  check_forwarding_rules(draft);
  if (config.zones.size() > most_zones)
    throw ConfigError(fmt::format("{} zones are named by --zone and --client-network; accepted: at most {}",
                                  config.zones.size(), most_zones));
}

}  // namespace zonelb::config
