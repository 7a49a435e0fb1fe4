#include "control/layout_builder.hpp"

#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "config/error.hpp"
#include "config/limits.hpp"
#include "conntrack/entry.hpp"
#include "packet/encapsulation.hpp"

namespace zonelb::control {
namespace {

using dataplane::AddressTable;
using dataplane::Layout;
using dataplane::Target;
using dataplane::TargetId;

/// Positions of services by name, and the items of each by position.
struct Members {
  std::unordered_map<std::string, std::uint16_t> service;
  std::vector<std::vector<const RosterItem*>> of;
};

Members members_of(const config::Config& config, const Roster& roster) {
  Members members;
  for (const auto& service : config.backend_services) {
    members.service.emplace(service.name, static_cast<std::uint16_t>(members.service.size()));
    members.of.push_back(roster.members(service.name));
  }
  return members;
}

std::vector<dataplane::PortClaim> claims_of(const config::ForwardingRule& rule, std::uint32_t position) {
  std::vector<dataplane::PortClaim> claims;
  const auto protocol = static_cast<std::uint8_t>(rule.protocol);
  if (rule.ports.empty()) claims.push_back({0, 0xffff, protocol, position});
  for (const auto& range : rule.ports) claims.push_back({range.first, range.last, protocol, position});
  return claims;
}

AddressTable local_addresses(const config::Config& config, net::Family family) {
  std::map<net::IpAddress, std::vector<dataplane::PortClaim>> all;
  for (const auto& port : config.machine.ports)
    if (const auto own = own_address(port, family)) all[*own];
  for (std::uint32_t i = 0; i < config.forwarding_rules.size(); ++i) {
    const auto& rule = config.forwarding_rules[i];
    if (rule.address.family() != family) continue;
    const auto claims = claims_of(rule, i);
    auto& at_address = all[rule.address];
    at_address.insert(at_address.end(), claims.begin(), claims.end());
  }
  std::vector<AddressTable::Item> items;
  for (auto& [address, claims] : all)
    items.push_back({address, std::move(claims), answering_ports(address, config.machine.ports)});
  return AddressTable(items);
}

/// Numbers services and rules, and gives each its part of the counter block.
void lay_out_services(const config::Config& config, const Members& members, Layout& layout) {
  const auto zones = layout.zones.zone_count();
  for (const auto& service : config.backend_services) {
    const auto& items = members.of[layout.services.size()];
    dataplane::Service laid_out;
    laid_out.name = service.name;
    laid_out.affinity = service.session_affinity;
    laid_out.first_choice = static_cast<std::uint32_t>(layout.counter_size.choices);
    for (const auto* item : items) {
      laid_out.targets.push_back(item->id);
      laid_out.members.push_back({item->backend.name, item->backend.zone});
    }
    layout.counter_size.choices += items.size() * zones * policy::choice_count;
    layout.services.push_back(std::move(laid_out));
  }
  for (const auto& rule : config.forwarding_rules) {
    const auto service = members.service.at(rule.backend_service);
    layout.rules.push_back(
        {service, rule.allow_global_access, static_cast<std::uint32_t>(layout.counter_size.flows)});
    layout.rule_names.push_back(rule.name);
    layout.counter_size.flows += members.of[service].size() * zones;
  }
}

std::optional<packet::Encapsulation> encapsulation(const RosterItem& item, const net::IpAddress& source,
                                                   const dataplane::PortView& port, net::Family inner) {
  switch (item.service.forwarding) {
    case config::Forwarding::l2_dsr:
      return std::nullopt;
    case config::Forwarding::ipip:
      return packet::make_ipip(source, item.backend.address, inner);
    case config::Forwarding::vxlan:
      return packet::make_vxlan(source, item.backend.address, item.service.vxlan_port, item.service.vxlan_vni,
                                {item.backend.inner_mac.value_or(config::default_vxlan_inner_mac), port.mac},
                                inner);
  }
  return std::nullopt;
}

class TargetBuilder {
 public:
  TargetBuilder(const config::Config& config, const std::vector<dataplane::PortView>& ports,
                BuiltLayout& built, Layout& layout)
      : config_(config), ports_(ports), built_(built), layout_(layout) {}

  void add(const RosterItem& item, std::uint16_t service, std::uint16_t member) {
    Target& target = built_.targets[item.id];
    target.service = service;
    target.member = member;
    target.idle_timeout = static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::seconds>(item.service.idle_timeout).count());
    const auto route = route_to(item.backend, config_.machine.ports);
    if (!route) return;
    built_.routes[item.id] = *route;
    const auto& port = ports_[route->port];
    target.port = route->port;
    target.macs.source = port.mac;
    target.mtu = port.mtu;
    target.vlan = port.vlan;
    target.keep_vlan = port.vlan == packet::no_vlan;
    add_encapsulations(item, port, config_.machine.ports[route->port], target);
  }

 private:
  void add_encapsulations(const RosterItem& item, const dataplane::PortView& port,
                          const config::Port& port_config, Target& target) {
    const auto source = own_address(port_config, item.backend.address.family());
    if (!source) return;
    for (const auto inner : {net::Family::ipv4, net::Family::ipv6}) {
      const auto made = encapsulation(item, *source, port, inner);
      if (!made) continue;
      // The vector was reserved for all, so that pointers into it stay.
      layout_.encapsulations.push_back(*made);
      target.encapsulation[static_cast<std::size_t>(inner)] = &layout_.encapsulations.back();
    }
  }

  const config::Config& config_;
  const std::vector<dataplane::PortView>& ports_;
  BuiltLayout& built_;
  Layout& layout_;
};

}  // namespace

BuiltLayout build_layout(const config::Config& config, const Roster& roster,
                         const std::vector<dataplane::PortView>& ports,
                         const std::vector<std::string>& known_zones) {
  BuiltLayout built;
  auto layout = std::make_shared<Layout>();
  layout->local4 = local_addresses(config, net::Family::ipv4);
  layout->local6 = local_addresses(config, net::Family::ipv6);
  layout->ports = ports;
  for (const auto& port : ports) layout->parsers.emplace_back(port.mac);
  layout->zones = policy::ZoneMap(config, known_zones);
  static_assert(config::most_zones < conntrack::Entry::max_zones);
  if (layout->zones.zone_count() > config::most_zones + 1)
    throw config::ConfigError(
        fmt::format("{} zones, counting those of earlier configurations that connections may remember; at "
                    "most {} are accepted",
                    layout->zones.zone_count() - 1, config::most_zones));
  const auto members = members_of(config, roster);
  lay_out_services(config, members, *layout);
  layout->counter_size.targets = roster.id_limit();

  built.targets.resize(roster.id_limit());
  built.routes.resize(roster.id_limit());
  layout->encapsulations.reserve(roster.items().size() * 2);
  TargetBuilder targets(config, ports, built, *layout);
  std::uint16_t service = 0;
  for (const auto& items : members.of) {
    std::uint16_t member = 0;
    for (const auto* item : items) targets.add(*item, service, member++);
    ++service;
  }
  built.layout = std::move(layout);
  return built;
}

}  // namespace zonelb::control
