#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "packet/headers.hpp"

namespace zonelb::packet {

/// Room for any frame written here.
inline constexpr std::size_t max_arp_frame = sizeof(Ethernet) + sizeof(Vlan) + sizeof(Arp);

/// A valid ARP message. A probe (RFC 5227 1.1) has sender address 0.0.0.0.
struct ArpMessage {
  bool request = false;
  net::Mac sender_mac;
  net::be32 sender_address;
  net::be32 target_address;
};

/// Reads what follows the Ethernet header. Nullopt (count bad_arp): not a request or reply for IPv4 over
/// Ethernet (RFC 826), cut short, or a sender that can be nobody.
std::optional<ArpMessage> read_arp(std::span<const std::uint8_t> bytes);

/// Turns a request that read_arp accepted into its reply: `own_mac` has the address asked for. The frame
/// keeps its tag and length.
void answer_arp(std::uint8_t* frame, std::uint8_t l3_offset, const net::Mac& own_mac);

/// Who speaks, on which VLAN (or no_vlan).
struct ArpSender {
  net::Mac mac;
  net::be32 address;
  std::uint16_t vlan = no_vlan;
};

/// Writes the question who has `target`, to everybody or to the one who had it last (RFC 1122 2.3.2.1).
/// Returns the frame's length, at most max_arp_frame.
std::uint32_t write_arp_request(std::uint8_t* frame, const ArpSender& sender, net::be32 target,
                                const net::Mac& destination = net::Mac::broadcast());

/// Writes an announcement that the sender has its address (RFC 5227 2.3), to everybody.
std::uint32_t write_arp_announcement(std::uint8_t* frame, const ArpSender& sender);

}  // namespace zonelb::packet
