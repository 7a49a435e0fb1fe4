#pragma once

#include <optional>

#include "config/config.hpp"
#include "dataplane/address_table.hpp"
#include "dataplane/neighbours.hpp"

namespace zonelb::control {

/// How frames reach a backend.
struct Route {
  /// Position in the configuration's ports.
  std::uint16_t port = 0;
  /// Whose MAC address to use; none when `mac` says it.
  std::optional<dataplane::NeighbourKey> neighbour;
  std::optional<net::Mac> mac;
};

/// The port on whose network `backend` lies, else the first one with a gateway of its family; a backend with
/// `mac=` that lies on no network leaves by the last port, the backends' side of two. Nullopt: no way.
std::optional<Route> route_to(const config::Backend& backend, const std::vector<config::Port>& ports);

/// Ports on which we say that `address`, a VIP or our own, is here, as bits by position: the one on whose
/// network it lies, or all when it lies on none.
dataplane::PortSet answering_ports(const net::IpAddress& address, const std::vector<config::Port>& ports);

/// Our address of a family on a port, if it has one.
std::optional<net::IpAddress> own_address(const config::Port& port, net::Family family);

}  // namespace zonelb::control
