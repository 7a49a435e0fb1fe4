#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace zonelb::packet {

/// Why a packet was not forwarded. A user reads the names in zonelb_drops_total{reason}.
enum class DropReason : std::uint8_t {
  runt,                  ///< shorter than its headers
  multi_segment,         ///< spread over several buffers
  unknown_ethertype,     ///< neither IPv4, IPv6 nor ARP, or more than one VLAN tag
  vlan_mismatch,         ///< not of the port's VLAN
  not_ours,              ///< to an address that is neither a VIP nor our own
  no_rule,               ///< to a VIP, but no rule has its protocol and port
  bad_ip_version,        ///< version field and ethertype disagree
  bad_ip_header_length,  ///< IPv4 header below 20 bytes or above the total length
  bad_ip_checksum,
  truncated,      ///< the IP length exceeds the frame
  bad_l4_header,  ///< TCP, UDP or ICMP header does not fit or has an impossible length
  fragment,
  extension_headers,     ///< IPv6 extension headers: too many, too long, or with segments left
  unsupported_protocol,  ///< to a VIP, but neither TCP, UDP nor an echo request
  icmp_not_echo,
  bad_icmp_checksum,
  bad_arp,
  bad_nd,
  bad_source,            ///< multicast, broadcast, unspecified or loopback source address
  other_region,          ///< client of another region at a rule without global access
  no_backend,            ///< the policy says drop
  neighbour_unresolved,  ///< next hop's MAC address not known
  too_big,               ///< exceeds the MTU of the way out
  no_route,
  tx_full,
  no_buffer,
  ring_full,
  starting,  ///< the service waits for its first round of probes
  count
};

/// Number of reasons, to size arrays of counters.
inline constexpr std::size_t drop_reasons = static_cast<std::size_t>(DropReason::count);

/// The reason as metrics and `zonelbctl drops` spell it.
std::string_view name(DropReason reason);

}  // namespace zonelb::packet
