#pragma once

#include <cstdint>

namespace zonelb::net {

/// Folds the 128-bit product: each bit of the result depends on all bits of both factors.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace zonelb::net
