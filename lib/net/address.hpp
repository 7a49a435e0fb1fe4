#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/endian.hpp"

namespace zonelb::net {

enum class Family : std::uint8_t { ipv4, ipv6 };

/// An IPv4 or IPv6 address. IPv4 lies in the first four bytes, the rest are zero.
class IpAddress {
 public:
  using Bytes = std::array<std::uint8_t, 16>;

  constexpr IpAddress() = default;
  static IpAddress v4(be32 address);
  static IpAddress v6(const Bytes& bytes);
  /// Reads "10.0.0.1" or "2001:db8::1"; nullopt for anything else.
  static std::optional<IpAddress> parse(std::string_view text);

  [[nodiscard]] constexpr Family family() const { return family_; }
  [[nodiscard]] constexpr bool is_v4() const { return family_ == Family::ipv4; }
  [[nodiscard]] constexpr bool is_v6() const { return family_ == Family::ipv6; }
  /// Length in bits: 32 or 128.
  [[nodiscard]] constexpr unsigned bits() const { return is_v4() ? 32 : 128; }
  [[nodiscard]] constexpr const Bytes& bytes() const { return bytes_; }
  [[nodiscard]] be32 as_v4() const;

  [[nodiscard]] bool is_unspecified() const;
  [[nodiscard]] bool is_multicast() const;
  /// 169.254.0.0/16 or fe80::/10.
  [[nodiscard]] bool is_link_local() const;
  [[nodiscard]] std::string to_string() const;

  friend constexpr bool operator==(const IpAddress&, const IpAddress&) = default;
  friend constexpr auto operator<=>(const IpAddress&, const IpAddress&) = default;

 private:
  Family family_ = Family::ipv4;
  Bytes bytes_{};
};

/// An address with a port: "10.0.0.1:80" or "[2001:db8::1]:80".
struct Endpoint {
  IpAddress address;
  std::uint16_t port = 0;

  static std::optional<Endpoint> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;
  friend constexpr bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// An Ethernet address.
class Mac {
 public:
  using Bytes = std::array<std::uint8_t, 6>;

  constexpr Mac() = default;
  explicit constexpr Mac(const Bytes& bytes) : bytes_(bytes) {}
  /// Reads "02:00:00:00:00:01"; nullopt for anything else.
  static std::optional<Mac> parse(std::string_view text);
  static constexpr Mac broadcast() { return Mac({0xff, 0xff, 0xff, 0xff, 0xff, 0xff}); }

  [[nodiscard]] constexpr const Bytes& bytes() const { return bytes_; }
  [[nodiscard]] constexpr bool is_group() const { return (bytes_[0] & 1) != 0; }
  [[nodiscard]] std::string to_string() const;

  // Not `= default`, for which gcc calls memcmp: each packet's destination is compared.
  friend constexpr bool operator==(const Mac& a, const Mac& b) {
    const auto [first, last] = std::bit_cast<Words>(a.bytes_);
    const auto [other_first, other_last] = std::bit_cast<Words>(b.bytes_);
    return ((first ^ other_first) | static_cast<std::uint32_t>(last ^ other_last)) == 0;
  }
  friend constexpr auto operator<=>(const Mac&, const Mac&) = default;

 private:
  struct __attribute__((packed)) Words {
    std::uint32_t first;
    std::uint16_t last;
  };

  Bytes bytes_{};
};

static_assert(sizeof(Mac) == 6 && alignof(Mac) == 1);

}  // namespace zonelb::net
