#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "net/checksum.hpp"
#include "packet/headers.hpp"

namespace zonelb::packet {

/// True when an IPv4 header without options, its version in place, sums up right. Inline: every packet of a
/// port without checksum offload passes here.
[[nodiscard]] inline bool ipv4_checksum_is_good(const Ipv4& ip) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&ip);
  std::uint64_t sum = 0;
  std::uint64_t middle = 0;
  std::uint32_t end = 0;
  std::memcpy(&sum, bytes, 8);
  std::memcpy(&middle, bytes + 8, 8);
  std::memcpy(&end, bytes + 16, 4);
  // One's complement sums are sums modulo 0xffff, in words of any size whose carries come around (RFC 1071
  // 2). A header that names its version is not all zeros, so that "divisible" means "minus zero".
  sum += static_cast<std::uint64_t>(__builtin_add_overflow(sum, middle, &sum));
  sum += static_cast<std::uint64_t>(__builtin_add_overflow(sum, end, &sum));
  return sum % 0xffff == 0;
}

/// The checksum to store in a message of which the checksum field is zero; zero when a message with its
/// checksum in place is whole. `sum` is that of a pseudo-header.
[[nodiscard]] inline net::be16 internet_checksum(std::span<const std::uint8_t> message,
                                                 net::PartialSum sum = 0) {
  return net::be16::from_raw(net::checksum_fold(net::checksum_add(sum, message)));
}

/// The pseudo-header of RFC 8200 8.1: `length` bytes of `protocol` behind `ip`.
[[nodiscard]] inline net::PartialSum pseudo_header(const Ipv6& ip, std::uint32_t length,
                                                   std::uint8_t protocol) {
  const auto addresses = net::checksum_add(net::checksum_add(0, ip.source), ip.destination);
  return addresses + net::be32(length).raw() + net::be32(protocol).raw();
}

/// The checksum after one of the 16-bit words it covers changed (RFC 1624 equation 3).
[[nodiscard]] constexpr net::be16 replace_in_checksum(net::be16 checksum, net::be16 before, net::be16 after) {
  const auto inverse = [](net::be16 word) { return static_cast<std::uint16_t>(~word.raw()); };
  return net::be16::from_raw(
      net::checksum_fold(net::PartialSum{inverse(checksum)} + inverse(before) + after.raw()));
}

}  // namespace zonelb::packet
