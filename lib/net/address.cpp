#include "net/address.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>

#include <fmt/format.h>

namespace zonelb::net {

IpAddress IpAddress::v4(be32 address) {
  IpAddress result;
  std::memcpy(result.bytes_.data(), &address, 4);
  return result;
}

IpAddress IpAddress::v6(const Bytes& bytes) {
  IpAddress result;
  result.family_ = Family::ipv6;
  result.bytes_ = bytes;
  return result;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const std::string terminated(text);
  IpAddress result;
  if (inet_pton(AF_INET, terminated.c_str(), result.bytes_.data()) == 1) return result;
  result.family_ = Family::ipv6;
  if (inet_pton(AF_INET6, terminated.c_str(), result.bytes_.data()) == 1) return result;
  return std::nullopt;
}

be32 IpAddress::as_v4() const {
  be32 result;
  std::memcpy(&result, bytes_.data(), 4);
  return result;
}

bool IpAddress::is_unspecified() const {
  return bytes_ == Bytes{};
}

bool IpAddress::is_multicast() const {
  return is_v4() ? (bytes_[0] & 0xf0) == 0xe0 : bytes_[0] == 0xff;
}

bool IpAddress::is_link_local() const {
  return is_v4() ? bytes_[0] == 169 && bytes_[1] == 254 : bytes_[0] == 0xfe && (bytes_[1] & 0xc0) == 0x80;
}

std::string IpAddress::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(is_v4() ? AF_INET : AF_INET6, bytes_.data(), text.data(), text.size());
  return text.data();
}

namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

}  // namespace

std::optional<Endpoint> Endpoint::parse(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto host = text.substr(0, colon);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto address = IpAddress::parse(host);
  const auto port = parse_port(text.substr(colon + 1));
  if (!address || !port || address->is_v6() != bracketed) return std::nullopt;
  return Endpoint{*address, *port};
}

std::string Endpoint::to_string() const {
  return address.is_v4() ? fmt::format("{}:{}", address.to_string(), port)
                         : fmt::format("[{}]:{}", address.to_string(), port);
}

std::optional<Mac> Mac::parse(std::string_view text) {
  if (text.size() != 17) return std::nullopt;
  Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* digits = text.data() + i * 3;
    const auto [end, error] = std::from_chars(digits, digits + 2, bytes[i], 16);
    if (error != std::errc{} || end != digits + 2) return std::nullopt;
    if (i + 1 < bytes.size() && digits[2] != ':' && digits[2] != '-') return std::nullopt;
  }
  return Mac(bytes);
}

std::string Mac::to_string() const {
  return fmt::format("{:02x}", fmt::join(bytes_, ":"));
}

}  // namespace zonelb::net
