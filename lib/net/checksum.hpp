#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace zonelb::net {

/// Partial Internet checksum (RFC 1071): a sum of 16-bit words as they lie in memory, not yet folded.
/// Byte order does not matter to the sum as long as the result is stored the way it was read.
using PartialSum = std::uint64_t;

/// Adds `bytes` to `sum`. All spans but the last of a message must have an even length.
PartialSum checksum_add(PartialSum sum, std::span<const std::uint8_t> bytes);

/// The 16-bit one's complement of the sum, as it is stored in a header (memory order).
constexpr std::uint16_t checksum_fold(PartialSum sum) {
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

/// The same of a sum that fits 32 bits: of up to 65,537 words.
constexpr std::uint16_t checksum_fold32(std::uint32_t sum) {
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~(sum + (sum >> 16)));
}

}  // namespace zonelb::net
