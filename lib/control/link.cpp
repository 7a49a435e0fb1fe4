#include "control/link.hpp"

#include <array>

#include "control/routes.hpp"
#include "packet/arp.hpp"
#include "packet/nd.hpp"

namespace zonelb::control {
namespace {

using Frame = std::array<std::uint8_t, std::max(packet::max_arp_frame, packet::max_nd_frame)>;

}  // namespace

void Link::ask(const dataplane::NeighbourKey& key, const std::optional<net::Mac>& last_known) {
  const auto own = own_address(ports_[key.port], key.address.family());
  if (!own) return;
  const auto& view = engine_.ports()[key.port].view();
  Frame frame{};
  const auto length =
      key.address.is_v4()
          ? packet::write_arp_request(frame.data(), {view.mac, own->as_v4(), view.vlan}, key.address.as_v4(),
                                      last_known.value_or(net::Mac::broadcast()))
          : packet::write_solicitation(frame.data(), {view.mac, *own, view.vlan}, key.address, last_known);
  engine_.send(key.port, {frame.data(), length});
}

void Link::announce(std::uint16_t port, const net::IpAddress& address) {
  const auto& view = engine_.ports()[port].view();
  Frame frame{};
  const auto length =
      address.is_v4() ? packet::write_arp_announcement(frame.data(), {view.mac, address.as_v4(), view.vlan})
                      : packet::write_unsolicited_advertisement(frame.data(), {view.mac, address, view.vlan});
  engine_.send(port, {frame.data(), length});
}

void Link::announce(const std::set<net::IpAddress>& vips) {
  for (std::uint16_t i = 0; i < ports_.size(); ++i)
    for (const auto family : {net::Family::ipv4, net::Family::ipv6})
      if (const auto own = own_address(ports_[i], family)) announce(i, *own);
  for (const auto& vip : vips) {
    const auto on = answering_ports(vip, ports_);
    for (std::uint16_t i = 0; i < ports_.size(); ++i)
      if (on[i]) announce(i, vip);
  }
}

}  // namespace zonelb::control
