#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "packet/headers.hpp"

namespace zonelb::packet {

/// Bytes of an Ethernet header with the tag of `vlan`, or without one for no_vlan.
[[nodiscard]] constexpr std::uint32_t ethernet_length(std::uint16_t vlan) {
  return vlan == no_vlan ? sizeof(Ethernet) : sizeof(Ethernet) + sizeof(Vlan);
}

/// Writes an Ethernet header into the ethernet_length(vlan) bytes in front of `l3`; returns the frame's
/// start.
inline std::uint8_t* write_ethernet(std::uint8_t* l3, const net::Mac& destination, const net::Mac& source,
                                    std::uint16_t vlan, net::be16 type) {
  std::uint8_t* frame = l3 - ethernet_length(vlan);
  if (vlan == no_vlan) {
    header<Ethernet>(frame) = {destination, source, type};
  } else {
    header<Ethernet>(frame) = {destination, source, ethertype::vlan};
    header<Vlan>(frame + sizeof(Ethernet)) = {vlan, type};
  }
  return frame;
}

/// Where a frame goes and comes from, as it lies in the frame.
struct MacPair {
  net::Mac destination;
  net::Mac source;
};

/// Redirects a frame without touching its tag and type.
inline void replace_macs(std::uint8_t* frame, const MacPair& macs) {
  std::memcpy(frame, &macs, sizeof macs);
}

}  // namespace zonelb::packet
