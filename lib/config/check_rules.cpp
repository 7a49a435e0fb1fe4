#include <algorithm>
#include <map>
#include <unordered_map>

#include "config/checks.hpp"

namespace zonelb::config {

namespace {

/// What already lies at an address: "port net_tap0", "backend web-a1".
using Owners = std::map<net::IpAddress, std::string>;

Owners owners_of(const Config& config) {
  Owners owners;
  for (const auto& port : config.machine.ports)
    for (const auto* own : {&port.v4, &port.v6}) {
      if (!*own) continue;
      owners.emplace((*own)->address, "port " + port.name);
      if ((*own)->gateway) owners.emplace(*(*own)->gateway, "the gateway of port " + port.name);
    }
  for (const auto& backend : config.backends) owners.emplace(backend.address, "backend " + backend.name);
  return owners;
}

void check_address(const ForwardingRule& rule, const Owners& owners, const Place& place) {
  const auto& address = rule.address;
  if (const auto why = no_host_address(address); !why.empty())
    throw place.error(
        fmt::format("address {} is {}; accepted: an address of one host", address.to_string(), why));
  if (const auto owner = owners.find(address); owner != owners.end())
    throw place.error(fmt::format("address {} is that of {}; accepted: an address of its own",
                                  address.to_string(), owner->second));
}

bool overlap(const std::vector<PortRange>& a, const std::vector<PortRange>& b) {
  // Explicit ports win over all ports: no overlap.
  if (a.empty() || b.empty()) return a.empty() && b.empty();
  return std::any_of(a.begin(), a.end(), [&](const PortRange& x) {
    return std::any_of(b.begin(), b.end(),
                       [&](const PortRange& y) { return x.first <= y.last && y.first <= x.last; });
  });
}

/// L2_DSR sends a rule's packets as they are: a backend known by its address of the other family alone may
/// not take them, one whose Ethernet address the user names does.
void check_family(const ForwardingRule& rule, const std::vector<const Backend*>& members,
                  const Place& place) {
  for (const Backend* const backend : members)
    if (backend->address.family() != rule.address.family() && !backend->mac)
      throw place.error(
          fmt::format("address {} is {}, but backend {} has the {} address {}: L2_DSR needs mac on that "
                      "backend (IPIP and VXLAN may cross families)",
                      rule.address.to_string(), family_name(rule.address), backend->name,
                      family_name(backend->address), backend->address.to_string()));
}

}  // namespace

void check_forwarding_rules(const Draft& draft) {
  const Config& config = draft.config;
  const auto owners = owners_of(config);
  std::unordered_map<std::string, std::vector<const Backend*>> l2_members;
  for (const auto& service : config.backend_services)
    if (service.forwarding == Forwarding::l2_dsr) l2_members[service.name];
  for (const auto& backend : config.backends)
    for (const auto& name : backend.services)
      if (const auto found = l2_members.find(name); found != l2_members.end())
        found->second.push_back(&backend);

  std::map<std::pair<net::IpAddress, Protocol>, std::vector<std::size_t>> neighbours;
  for (std::size_t i = 0; i < config.forwarding_rules.size(); ++i) {
    const ForwardingRule& rule = config.forwarding_rules[i];
    const Place& place = draft.place("forwarding-rule", i);
    if (!draft.named.contains("backend-service " + rule.backend_service))
      throw place.error(unknown_reference("backend-service", rule.backend_service, "declared",
                                          names_of(config.backend_services)));
    check_address(rule, owners, place);
    if (const auto found = l2_members.find(rule.backend_service); found != l2_members.end())
      check_family(rule, found->second, place);
    auto& others = neighbours[{rule.address, rule.protocol}];
    for (const auto other : others)
      if (overlap(rule.ports, config.forwarding_rules[other].ports))
        throw place.error(
            fmt::format("overlaps forwarding-rule {} given at {}: same address, protocol and port",
                        config.forwarding_rules[other].name, draft.place("forwarding-rule", other).origin));
    others.push_back(i);
  }
}

}  // namespace zonelb::config
