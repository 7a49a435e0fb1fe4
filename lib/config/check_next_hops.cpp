#include <algorithm>
#include <unordered_map>

#include "config/checks.hpp"

namespace zonelb::config {

namespace {

using net::IpAddress;

const std::optional<InterfaceAddress>& of_family(const Port& port, const IpAddress& address) {
  return address.is_v4() ? port.v4 : port.v6;
}

/// Is there a port whose address of the family of `address` passes `test`?
template <class Test>
bool any_port(const std::vector<Port>& ports, const IpAddress& address, Test test) {
  return std::any_of(ports.begin(), ports.end(), [&](const Port& port) {
    const auto& own = of_family(port, address);
    return own && test(*own);
  });
}

/// Empty, or why packets forwarded this way do not get to the backend.
std::string unreachable(const std::vector<Port>& ports, const Backend& backend,
                        const BackendService& service) {
  const IpAddress& address = backend.address;
  const auto on_link = [&](const InterfaceAddress& own) { return own.network.contains(address); };
  const auto routed = [](const InterfaceAddress& own) { return own.gateway.has_value(); };
  const auto any = [](const InterfaceAddress&) { return true; };
  if (service.forwarding == Forwarding::l2_dsr) {
    if (backend.mac || any_port(ports, address, on_link)) return {};
    return fmt::format(
        "address {} is on no port's network, where L2_DSR of service {} needs it; set mac on the "
        "backend, or forwarding=IPIP or VXLAN on the service",
        address.to_string(), service.name);
  }
  if (!any_port(ports, address, any))
    return fmt::format("address {} needs an {} address on a --port to tunnel from", address.to_string(),
                       family_name(address));
  if (backend.mac || any_port(ports, address, on_link) || any_port(ports, address, routed)) return {};
  return fmt::format(
      "address {} is on no port's network and no port has an {} gateway; set gateway{} on a --port "
      "or mac on the backend",
      address.to_string(), family_name(address), address.is_v4() ? "" : "6");
}

}  // namespace

void check_next_hops(const Draft& draft) {
  const Config& config = draft.config;
  std::unordered_map<std::string, const BackendService*> services;
  for (const auto& service : config.backend_services) services.emplace(service.name, &service);
  for (std::size_t i = 0; i < config.backends.size(); ++i) {
    const Backend& backend = config.backends[i];
    const Place& place = draft.place("backend", i);
    for (const auto& port : config.machine.ports) {
      const auto& own = of_family(port, backend.address);
      if (own && own->address == backend.address)
        throw place.error(
            fmt::format("address {} is that of port {}", backend.address.to_string(), port.name));
    }
    for (const auto& name : backend.services)
      if (const auto why = unreachable(config.machine.ports, backend, *services.at(name)); !why.empty())
        throw place.error(why);
  }
}

}  // namespace zonelb::config
