#include <map>

#include "config/checks.hpp"
#include "config/limits.hpp"

namespace zonelb::config {

namespace {

void check_interface(const InterfaceAddress& own, const Place& place) {
  if (const auto why = no_host_address(own.address); !why.empty())
    throw place.error(
        fmt::format("address {} is {}; accepted: an address of one host", own.address.to_string(), why));
  if (!own.gateway) return;
  if (!own.network.contains(*own.gateway) && !(own.gateway->is_v6() && own.gateway->is_link_local()))
    throw place.error(fmt::format("gateway {} is outside the port's network {}", own.gateway->to_string(),
                                  own.network.to_string()));
  if (*own.gateway == own.address)
    throw place.error(fmt::format("gateway {} is the port's own address", own.gateway->to_string()));
}

bool overlap(const std::optional<InterfaceAddress>& a, const std::optional<InterfaceAddress>& b) {
  return a && b && (a->network.contains(b->network.address) || b->network.contains(a->network.address));
}

/// Which port a next hop is on must not depend on the order of the ports.
void check_pair(const Draft& draft, std::size_t a, std::size_t b) {
  const Port& one = draft.config.machine.ports[a];
  const Port& other = draft.config.machine.ports[b];
  for (const auto slot : {&Port::v4, &Port::v6})
    if (overlap(one.*slot, other.*slot))
      throw draft.place("port", b).error(fmt::format("network {} overlaps {} of port {}",
                                                     (other.*slot)->network.to_string(),
                                                     (one.*slot)->network.to_string(), one.name));
}

}  // namespace

void check_ports(const Draft& draft) {
  const auto& ports = draft.config.machine.ports;
  if (ports.size() > most_ports)
    throw draft.place("port", most_ports).error(fmt::format("more than {} ports", most_ports));
  for (std::size_t i = 0; i < ports.size(); ++i) {
    for (const auto* own : {&ports[i].v4, &ports[i].v6})
      if (*own) check_interface(**own, draft.place("port", i));
    for (std::size_t earlier = 0; earlier < i; ++earlier) check_pair(draft, earlier, i);
  }
}

void check_client_networks(const Draft& draft) {
  const Config& config = draft.config;
  std::map<net::Prefix, std::string> seen;
  for (std::size_t i = 0; i < config.client_networks.size(); ++i) {
    const auto& network = config.client_networks[i];
    const Place& place = draft.place("client-network", i);
    for (const auto& prefix : network.prefixes) {
      const auto [earlier, added] = seen.emplace(prefix, place.origin);
      if (!added)
        throw place.error(fmt::format("{} is already in a client network given at {}", prefix.to_string(),
                                      earlier->second));
    }
    if (!network.zone.empty() && !network.region.empty())
      throw place.error(fmt::format(
          "zone '{}' with region '{}': zones are those of this appliance's region{}; leave out one of them",
          network.zone, network.region,
          config.region.empty() ? ", which no --region names" : " '" + config.region + "'"));
    if (!network.region.empty() && network.region == config.region)
      throw place.error(fmt::format(
          "region '{}' is this appliance's own: say zone= so that its clients have one", network.region));
  }
}

}  // namespace zonelb::config
