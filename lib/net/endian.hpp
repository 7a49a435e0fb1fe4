#pragma once

#include <bit>
#include <compare>
#include <concepts>
#include <cstdint>
#include <cstring>

namespace zonelb::net {

/// An unsigned integer kept in network byte order. It has alignment 1, so header structs made of it may lie
/// anywhere in a frame.
template <std::unsigned_integral T>
class BigEndian {
 public:
  constexpr BigEndian() = default;
  constexpr BigEndian(T host) { *this = host; }  // NOLINT: a number is what it stands for

  constexpr BigEndian& operator=(T host) {
    bytes_ = std::bit_cast<Bytes>(swap_on_little(host));
    return *this;
  }

  /// The number in the host's byte order.
  [[nodiscard]] constexpr T value() const { return swap_on_little(std::bit_cast<T>(bytes_)); }
  /// The number as it lies in memory, for hashing and for copying without a swap.
  [[nodiscard]] constexpr T raw() const { return std::bit_cast<T>(bytes_); }
  [[nodiscard]] static constexpr BigEndian from_raw(T raw) {
    BigEndian result;
    result.bytes_ = std::bit_cast<Bytes>(raw);
    return result;
  }

  friend constexpr bool operator==(const BigEndian& a, const BigEndian& b) { return a.raw() == b.raw(); }
  friend constexpr auto operator<=>(const BigEndian& a, const BigEndian& b) {
    return a.value() <=> b.value();
  }

 private:
  struct Bytes {
    unsigned char byte[sizeof(T)];
  };

  static constexpr T swap_on_little(T v) {
    if constexpr (std::endian::native == std::endian::big || sizeof(T) == 1) {
      return v;
    } else if constexpr (sizeof(T) == 2) {
      return __builtin_bswap16(v);
    } else if constexpr (sizeof(T) == 4) {
      return __builtin_bswap32(v);
    } else {
      return __builtin_bswap64(v);
    }
  }

  Bytes bytes_{};
};

using be16 = BigEndian<std::uint16_t>;
using be32 = BigEndian<std::uint32_t>;
using be64 = BigEndian<std::uint64_t>;

static_assert(alignof(be32) == 1 && sizeof(be32) == 4);

}  // namespace zonelb::net
