#pragma once

#include <array>
#include <cstdint>

#include "net/endian.hpp"

namespace zonelb::conntrack {

/// The 5-tuple of a packet as it lies in the packet (network byte order, never swapped).
/// IPv4 uses addresses[0] alone: source in the lower half of memory, destination in the upper.
/// IPv6: source in [0..1], destination in [2..3].
struct FlowKey {
  std::array<std::uint64_t, 4> addresses;
  /// Source port (bits 0-15, raw), destination port (16-31, raw), protocol (32-39); the rest is zero.
  std::uint64_t ports_protocol;

  [[nodiscard]] std::uint8_t protocol() const { return static_cast<std::uint8_t>(ports_protocol >> 32); }
  [[nodiscard]] net::be16 destination_port() const {
    return net::be16::from_raw(static_cast<std::uint16_t>(ports_protocol >> 16));
  }

  friend bool operator==(const FlowKey&, const FlowKey&) = default;
};

}  // namespace zonelb::conntrack
