#include "net/prefix.hpp"

#include <charconv>

#include <fmt/format.h>

namespace zonelb::net {

IpAddress fill_host_bits(const IpAddress& address, unsigned length, bool ones) {
  auto bytes = address.bytes();
  for (unsigned bit = length; bit < address.bits(); ++bit) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> (bit % 8));
    if (ones) {
      bytes[bit / 8] |= mask;
    } else {
      bytes[bit / 8] &= static_cast<std::uint8_t>(~mask);
    }
  }
  if (address.is_v6()) return IpAddress::v6(bytes);
  be32 v4;
  std::memcpy(&v4, bytes.data(), 4);
  return IpAddress::v4(v4);
}

std::optional<std::pair<IpAddress, Prefix>> Prefix::parse_interface(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  unsigned length = address->bits();
  if (slash != std::string_view::npos) {
    const auto digits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (error != std::errc{} || end != digits.data() + digits.size() || length > address->bits())
      return std::nullopt;
  }
  return std::pair{*address, Prefix{fill_host_bits(*address, length, false), length}};
}

std::optional<Prefix> Prefix::parse(std::string_view text) {
  const auto parsed = parse_interface(text);
  if (!parsed || parsed->first != parsed->second.address) return std::nullopt;
  return parsed->second;
}

bool Prefix::contains(const IpAddress& other) const {
  return other.family() == address.family() && fill_host_bits(other, length, false) == address;
}

IpAddress Prefix::last() const {
  return fill_host_bits(address, length, true);
}

std::string Prefix::to_string() const {
  return fmt::format("{}/{}", address.to_string(), length);
}

}  // namespace zonelb::net
