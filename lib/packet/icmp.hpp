#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "packet/headers.hpp"
#include "packet/parse.hpp"

namespace zonelb::packet {

/// Turns an echo request (echo4, echo6) into its reply in place, back to the station it came from: MACs,
/// addresses and type change, TTL becomes 64, IPv4 options are blanked (they describe the way here). Returns
/// the reason when the request's ICMP checksum is wrong; the frame is untouched then.
std::optional<DropReason> answer_echo(std::uint8_t* frame, const Parsed& request, const net::Mac& own_mac);

/// Whether RFC 1122 3.2.2 and RFC 4443 2.4 (e) let us answer this packet with an error: it is no ICMP error
/// itself, was sent to one station at both layers, and its source is one. What parse dropped, fragments too,
/// gets none.
bool may_answer_with_error(const std::uint8_t* frame, const Parsed& parsed);

/// Room for any frame write_too_big writes: 576 bytes of IPv4 (RFC 1812 4.3.2.3), 1280 of IPv6 (RFC 4443 2.4
/// (c)).
inline constexpr std::size_t max_icmp_error_frame = sizeof(Ethernet) + sizeof(Vlan) + 1280;

/// Writes into `frame` that `offending` exceeds `mtu` bytes (of IP): ICMP "fragmentation needed" (RFC 1191 4)
/// or ICMPv6 "packet too big" (RFC 4443 3.2), with as much of the packet as fits, to the station it came
/// from. `own` is of the packet's family. Returns the frame's length. Ask may_answer_with_error first.
std::uint32_t write_too_big(std::uint8_t* frame, const std::uint8_t* offending, const Parsed& parsed,
                            const net::IpAddress& own, const net::Mac& own_mac, std::uint16_t mtu);

}  // namespace zonelb::packet
