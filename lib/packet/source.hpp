#pragma once

#include <cstdint>
#include <cstring>

#include "net/address.hpp"
#include "net/endian.hpp"

namespace zonelb::packet {

/// True for addresses no packet on a network may come from: unspecified, loopback, multicast, limited
/// broadcast (RFC 1122 3.2.1.3).
[[nodiscard]] constexpr bool is_impossible_source(net::be32 address) {
  const std::uint32_t number = address.value();
  const bool all_zeros_or_ones = number + 1 <= 1;
  const bool loopback = number >> 24 == 127;
  const bool multicast = number >> 28 == 0xe;
  return static_cast<unsigned>(all_zeros_or_ones) | static_cast<unsigned>(loopback) |
         static_cast<unsigned>(multicast);
}

[[nodiscard]] inline bool is_unspecified(const net::IpAddress::Bytes& address) {
  return address == net::IpAddress::Bytes{};
}

/// The same for IPv6: unspecified, loopback, multicast (RFC 4291 2.5.2, 2.5.3, 2.7).
[[nodiscard]] inline bool is_impossible_source(const net::IpAddress::Bytes& address) {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::memcpy(&high, address.data(), 8);
  std::memcpy(&low, address.data() + 8, 8);
  const bool unspecified_or_loopback = (high | (low & ~net::be64(1).raw())) == 0;
  const bool multicast = address[0] == 0xff;
  return static_cast<unsigned>(unspecified_or_loopback) | static_cast<unsigned>(multicast);
}

}  // namespace zonelb::packet
