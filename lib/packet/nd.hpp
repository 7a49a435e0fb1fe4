#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "packet/headers.hpp"
#include "packet/parse.hpp"

namespace zonelb::packet {

/// Room for any frame written here.
inline constexpr std::size_t max_nd_frame =
    sizeof(Ethernet) + sizeof(Vlan) + sizeof(Ipv6) + sizeof(NdMessage) + sizeof(NdLinkLayerOption);

/// A valid neighbour discovery message. Beyond `type` and the addresses only solicitations and advertisements
/// are read; router messages and redirects are the host's business.
struct NeighbourMessage {
  /// One of icmpv6_type.
  std::uint8_t type = 0;
  net::IpAddress source;
  net::IpAddress destination;
  net::IpAddress target;
  /// Source link-layer address of a solicitation, target link-layer address of an advertisement.
  std::optional<net::Mac> link_layer;
  /// Flags of an advertisement (RFC 4861 4.4).
  bool router = false;
  bool solicited = false;
  bool overrides = false;

  [[nodiscard]] bool is_solicitation() const { return type == icmpv6_type::neighbour_solicitation; }
  [[nodiscard]] bool is_advertisement() const { return type == icmpv6_type::neighbour_advertisement; }
};

/// Reads a frame that parse called `nd`. Nullopt (count bad_nd): fails a check of RFC 4861 7.1.1 or 7.1.2, or
/// has a link-layer address that is no Ethernet station's.
std::optional<NeighbourMessage> read_neighbour_message(const std::uint8_t* frame, const Parsed& parsed);

/// Who speaks, on which VLAN (or no_vlan).
struct NdSender {
  net::Mac mac;
  net::IpAddress address;
  std::uint16_t vlan = no_vlan;
};

/// Writes the question who has `target` with the sender's link-layer address (RFC 4861 4.3): to the target's
/// solicited-node group, or to `last_known` alone to ask whether it is still there. Returns the frame's
/// length, at most max_nd_frame.
std::uint32_t write_solicitation(std::uint8_t* frame, const NdSender& sender, const net::IpAddress& target,
                                 const std::optional<net::Mac>& last_known = std::nullopt);

/// Writes the answer to a solicitation for one of our addresses (RFC 4861 7.2.4): solicited and override set,
/// with our link-layer address; to all nodes when the asker has no address yet. `asker` is the frame's source
/// MAC.
std::uint32_t write_advertisement(std::uint8_t* frame, const net::Mac& own_mac, std::uint16_t vlan,
                                  const NeighbourMessage& solicitation, const net::Mac& asker);

/// Writes an unsolicited advertisement of the sender's address to all nodes (RFC 4861 7.2.6).
std::uint32_t write_unsolicited_advertisement(std::uint8_t* frame, const NdSender& sender);

/// ff02::1:ffXX:XXXX (RFC 4291 2.7.1).
net::IpAddress solicited_node_multicast(const net::IpAddress& address);

/// 33:33 and the last four bytes of an IPv6 group (RFC 2464 7).
net::Mac multicast_mac(const net::IpAddress& group);

}  // namespace zonelb::packet
