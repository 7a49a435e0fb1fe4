#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "packet/parse.hpp"

/// Frames written as hex, in parts that read like a packet.
namespace zonelb::packet::testing {

using Frame = std::vector<std::uint8_t>;

inline Frame bytes(std::initializer_list<std::string_view> parts) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  Frame result;
  for (const auto part : parts) {
    for (std::size_t i = 0; i + 1 < part.size(); i += 2) {
      while (part[i] == ' ') ++i;
      result.push_back(static_cast<std::uint8_t>(digit(part[i]) * 16 + digit(part[i + 1])));
    }
  }
  return result;
}

inline Frame bytes(const std::uint8_t* at, std::size_t length) {
  return Frame(at, at + length);
}

/// Parses a copy that ends where its allocation ends, so that a sanitizer sees every byte read too far.
inline Parsed parse(const Frame& frame, bool ip_checksum_known_good = true) {
  const auto exact = std::make_unique<std::uint8_t[]>(frame.size());
  std::copy(frame.begin(), frame.end(), exact.get());
  Parsed parsed;
  std::memset(static_cast<void*>(&parsed), 0xa5, sizeof(parsed));
  packet::parse(exact.get(), static_cast<std::uint32_t>(frame.size()), ip_checksum_known_good, parsed);
  return parsed;
}

/// The reason a frame is dropped for; `count` when it is not.
inline DropReason reason(const Frame& frame, bool ip_checksum_known_good = true) {
  const auto parsed = parse(frame, ip_checksum_known_good);
  return parsed.kind == Kind::dropped ? parsed.reason : DropReason::count;
}

// What the frames are made of. The client is 10.1.0.5 and 2001:db8:1::5 with MAC 02::2, the VIP 10.0.0.80 and
// 2001:db8::80, our MAC 02::1.
inline constexpr std::string_view macs = "020000000001 020000000002";
inline constexpr std::string_view client4 = "0a010005";
inline constexpr std::string_view vip4 = "0a000050";
inline constexpr std::string_view client6 = "20010db8000100000000000000000005";
inline constexpr std::string_view vip6 = "20010db8000000000000000000000080";
inline constexpr std::string_view tcp_syn = "9c40 0050 00000001 00000000 5002 2000 defb 0000";
/// 40 bytes, SYN, TOS 0xb9, DF, right checksums.
inline constexpr std::string_view ipv4_tcp = "45b9 0028 1234 4000 4006 138e 0a010005 0a000050";
/// Bytes before the addresses: traffic class 0xb9, label 0x12345, TCP without options.
inline constexpr std::string_view ipv6_tcp = "6b912345 0014 06 40";
// The same for UDP without a checksum of its own, as long as a bare TCP header.
inline constexpr std::string_view udp_question = "9c40 0035 0014 0000 7175657374696f6e2e2e2e2e";
inline constexpr std::string_view ipv4_udp = "4500 0028 0007 0000 4011 6669 0a010005 0a000050";
inline constexpr std::string_view ipv6_udp = "60000000 0014 11 40";

inline const net::Mac own_mac({2, 0, 0, 0, 0, 1});
inline const net::Mac client_mac({2, 0, 0, 0, 0, 2});

inline net::IpAddress ip(std::string_view text) {
  return net::IpAddress::parse(text).value();
}

}  // namespace zonelb::packet::testing
