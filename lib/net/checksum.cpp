#include "net/checksum.hpp"

#include <bit>
#include <cstring>

namespace zonelb::net {

PartialSum checksum_add(PartialSum sum, std::span<const std::uint8_t> bytes) {
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 4; at += 4, left -= 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, at, 4);
    sum += word;
  }
  if (left >= 2) {
    std::uint16_t word = 0;
    std::memcpy(&word, at, 2);
    sum += word;
    at += 2;
    left -= 2;
  }
  if (left == 1) {
    const std::uint8_t padded[2] = {*at, 0};
    std::uint16_t word = 0;
    std::memcpy(&word, padded, 2);
    sum += word;
  }
  return sum;
}

}  // namespace zonelb::net
