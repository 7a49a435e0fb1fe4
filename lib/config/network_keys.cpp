#include "config/keys.hpp"

namespace zonelb::config {

namespace {

using net::Family;
using net::IpAddress;
using Slot = std::optional<InterfaceAddress> Port::*;

constexpr Slot slot_of(Family family) {
  return family == Family::ipv4 ? &Port::v4 : &Port::v6;
}

/// `address` and `address6`. The first takes either family, so that a port with IPv6 alone reads naturally.
Key<Port> address_key(std::string name, std::optional<Family> only, std::string accepted,
                      std::string description) {
  Key<Port> result;
  result.name = name;
  result.accepted = accepted;
  result.description = std::move(description);
  result.read = [=](Port& port, const Item& item) -> std::optional<Refusal> {
    const auto text = item.text();
    const auto parsed = net::Prefix::parse_interface(text);
    if (!parsed || text.find('/') == std::string::npos || parsed->first.is_unspecified() ||
        (only && parsed->first.family() != *only))
      return refusal(name, text, accepted, {}, {});
    auto& slot = port.*slot_of(parsed->first.family());
    if (!slot) slot.emplace();
    if (!slot->address.is_unspecified())
      return Refusal{fmt::format("{} '{}': the port already has the {} address {}", name, text,
                                 parsed->first.is_v4() ? "IPv4" : "IPv6", slot->address.to_string())};
    slot->address = parsed->first;
    slot->network = parsed->second;
    return std::nullopt;
  };
  result.show = [only](const Port& port) -> std::string {
    const auto& slot = port.*slot_of(only.value_or(Family::ipv4));
    if (!slot) return {};
    return fmt::format("{}/{}", slot->address.to_string(), slot->network.length);
  };
  return result;
}

/// `gateway` and `gateway6`, the first of either family.
Key<Port> gateway_key(std::string name, std::optional<Family> only, std::string accepted,
                      std::string description) {
  Key<Port> result;
  result.name = name;
  result.accepted = accepted;
  result.description = std::move(description);
  result.read = [=](Port& port, const Item& item) -> std::optional<Refusal> {
    const auto gateway = IpAddress::parse(item.text());
    if (!gateway || (only && gateway->family() != *only)) return refusal(name, item.text(), accepted, {}, {});
    auto& slot = port.*slot_of(gateway->family());
    if (!slot) slot.emplace();
    if (slot->gateway)
      return Refusal{fmt::format("{} '{}': the port already has the gateway {}", name, item.text(),
                                 slot->gateway->to_string())};
    slot->gateway = *gateway;
    return std::nullopt;
  };
  result.show = [only](const Port& port) -> std::string {
    const auto& slot = port.*slot_of(only.value_or(Family::ipv4));
    return slot && slot->gateway ? slot->gateway->to_string() : std::string();
  };
  return result;
}

std::string port_problem(const Port& port, const Items&) {
  for (const auto* slot : {&port.v4, &port.v6})
    if (*slot && (*slot)->address.is_unspecified())
      return fmt::format("gateway {} without an address of its family", (*slot)->gateway->to_string());
  if (!port.v4 && !port.v6) return "key 'address' or 'address6' is missing";
  const bool has_gateway = (port.v4 && port.v4->gateway) || (port.v6 && port.v6->gateway);
  if (port.gateway_mac && !has_gateway) return "gateway-mac needs gateway or gateway6";
  if (port.v6 && port.mtu < least_mtu_v6)
    return fmt::format("mtu '{}' is too small for IPv6; accepted: {} to {}", port.mtu, least_mtu_v6,
                       most_mtu);
  return {};
}

std::string client_network_problem(const ClientNetwork&, const Items& items) {
  const bool published = items.word("published") == "TRUE";
  const auto given = int{items.has("zone")} + int{items.has("gateway")} + int{published};
  const bool region = items.has("region");
  if (given > 1 || (given == 1 && region && !items.has("zone")))
    return "zone, region, gateway and published=true exclude each other";
  if (given == 0 && !region) return "one of the keys zone, region, gateway, published=true is missing";
  return {};
}

}  // namespace

const KeyTable<Port>& port_keys() {
  static const KeyTable<Port> table{
      .flag = "port",
      .identity = "name",
      .keys = {required(key<Port>("name", &Port::name, port_name(), "DPDK's name or number of the port.")),
               address_key("address", std::nullopt, "an address with its prefix length such as 10.0.0.2/16",
                           "The appliance's own address. Needed, unless address6 is given."),
               address_key("address6", Family::ipv6, "an IPv6 address with its prefix length",
                           "Its IPv6 address next to an IPv4 one."),
               gateway_key("gateway", std::nullopt,
                           "an address inside the port's network or an IPv6 link-local one",
                           "Next hop of everything that is on no port's network."),
               gateway_key("gateway6", Family::ipv6,
                           "an IPv6 address inside the port's network or a link-local one",
                           "The same for IPv6."),
               key<Port>("gateway-mac", &Port::gateway_mac, mac(),
                         "The gateways' Ethernet address; when left out it is resolved by ARP and ND."),
               key<Port>("vlan", &Port::vlan, number<std::uint16_t>(1, 4094),
                         "Tag of all frames on the port; when left out they have none."),
               key<Port>("mtu", &Port::mtu, number<std::uint16_t>(least_mtu_v4, most_mtu),
                         fmt::format("Largest IP packet in bytes; with IPv6 at least {}.", least_mtu_v6))},
      .forbidden = port_problem};
  return table;
}

const KeyTable<ClientNetwork>& client_network_keys() {
  static const KeyTable<ClientNetwork> table{
      .flag = "client-network",
      .identity = "cidr",
      .keys = {required(list_key("cidr", &ClientNetwork::prefixes, network(),
                                 "The clients' source addresses. The most specific prefix decides.")),
               key<ClientNetwork>("zone", &ClientNetwork::zone, name(),
                                  "These clients are in this zone of this region: zonal affinity applies."),
               key<ClientNetwork>("region", &ClientNetwork::region, name(),
                                  "These clients are in another region: served only by rules with "
                                  "allow-global-access, without zonal affinity."),
               key<ClientNetwork>("gateway", &ClientNetwork::gateway, name(),
                                  "These clients come through this gateway (VPN, interconnect): no zonal "
                                  "affinity."),
               key<ClientNetwork>("published", &ClientNetwork::published, boolean(),
                                  "These clients come through a published endpoint: no zonal affinity.")},
      .forbidden = client_network_problem};
  return table;
}

}  // namespace zonelb::config
