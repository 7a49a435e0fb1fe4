#include "control/routes.hpp"

namespace zonelb::control {
namespace {

const std::optional<config::InterfaceAddress>& interface_of(const config::Port& port, net::Family family) {
  return family == net::Family::ipv4 ? port.v4 : port.v6;
}

}  // namespace

std::optional<Route> route_to(const config::Backend& backend, const std::vector<config::Port>& ports) {
  const auto family = backend.address.family();
  for (std::uint16_t i = 0; i < ports.size(); ++i) {
    const auto& interface = interface_of(ports[i], family);
    if (!interface || !interface->network.contains(backend.address)) continue;
    if (backend.mac) return Route{i, std::nullopt, backend.mac};
    return Route{i, dataplane::NeighbourKey{i, backend.address}, std::nullopt};
  }
  if (backend.mac) return Route{static_cast<std::uint16_t>(ports.size() - 1), std::nullopt, backend.mac};
  for (std::uint16_t i = 0; i < ports.size(); ++i) {
    const auto& interface = interface_of(ports[i], family);
    if (!interface || !interface->gateway) continue;
    if (ports[i].gateway_mac) return Route{i, std::nullopt, ports[i].gateway_mac};
    return Route{i, dataplane::NeighbourKey{i, *interface->gateway}, std::nullopt};
  }
  return std::nullopt;
}

dataplane::PortSet answering_ports(const net::IpAddress& address, const std::vector<config::Port>& ports) {
  dataplane::PortSet on;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto& interface = interface_of(ports[i], address.family());
    on[i] = interface && interface->network.contains(address);
  }
  return on.any() ? on : ~on;
}

std::optional<net::IpAddress> own_address(const config::Port& port, net::Family family) {
  const auto& interface = interface_of(port, family);
  return interface ? std::optional(interface->address) : std::nullopt;
}

}  // namespace zonelb::control
