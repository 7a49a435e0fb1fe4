#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/address.hpp"

namespace zonelb::net {

/// A network: an address whose bits past `length` are zero.
struct Prefix {
  IpAddress address;
  unsigned length = 0;

  /// Reads "10.1.0.0/16"; a bare address is a prefix of full length. Nullopt for anything else, also when
  /// host bits are set.
  static std::optional<Prefix> parse(std::string_view text);
  /// Reads "10.0.0.2/16" as an interface address: the address with its host bits, and the network around it.
  static std::optional<std::pair<IpAddress, Prefix>> parse_interface(std::string_view text);

  [[nodiscard]] bool contains(const IpAddress& other) const;
  [[nodiscard]] IpAddress last() const;
  [[nodiscard]] std::string to_string() const;
  friend constexpr bool operator==(const Prefix&, const Prefix&) = default;
  friend constexpr auto operator<=>(const Prefix&, const Prefix&) = default;
};

/// `address` with all bits past `length` set to `ones`.
IpAddress fill_host_bits(const IpAddress& address, unsigned length, bool ones);

}  // namespace zonelb::net
