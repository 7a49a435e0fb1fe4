#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "net/address.hpp"
#include "net/endian.hpp"

/// The headers of a frame as they lie in memory. All have alignment 1 and no padding.
namespace zonelb::packet {

namespace ethertype {
inline constexpr net::be16 ipv4 = std::uint16_t{0x0800};
inline constexpr net::be16 arp = std::uint16_t{0x0806};
inline constexpr net::be16 vlan = std::uint16_t{0x8100};
inline constexpr net::be16 ipv6 = std::uint16_t{0x86dd};
inline constexpr net::be16 service_vlan = std::uint16_t{0x88a8};
}  // namespace ethertype

namespace ip_protocol {
inline constexpr std::uint8_t hop_by_hop = 0;
inline constexpr std::uint8_t icmp = 1;
inline constexpr std::uint8_t ipv4 = 4;
inline constexpr std::uint8_t tcp = 6;
inline constexpr std::uint8_t udp = 17;
inline constexpr std::uint8_t ipv6 = 41;
inline constexpr std::uint8_t routing = 43;
inline constexpr std::uint8_t fragment = 44;
inline constexpr std::uint8_t icmpv6 = 58;
inline constexpr std::uint8_t destination_options = 60;
}  // namespace ip_protocol

namespace icmp_type {
inline constexpr std::uint8_t echo_reply = 0;
inline constexpr std::uint8_t destination_unreachable = 3;
inline constexpr std::uint8_t source_quench = 4;
inline constexpr std::uint8_t redirect = 5;
inline constexpr std::uint8_t echo_request = 8;
inline constexpr std::uint8_t time_exceeded = 11;
inline constexpr std::uint8_t parameter_problem = 12;
}  // namespace icmp_type

/// Code of destination_unreachable (RFC 792).
inline constexpr std::uint8_t icmp_fragmentation_needed = 4;

namespace icmpv6_type {
inline constexpr std::uint8_t packet_too_big = 2;
/// Types below this one are errors (RFC 4443 2.1).
inline constexpr std::uint8_t first_informational = 128;
inline constexpr std::uint8_t echo_request = 128;
inline constexpr std::uint8_t echo_reply = 129;
inline constexpr std::uint8_t router_solicitation = 133;
inline constexpr std::uint8_t neighbour_solicitation = 135;
inline constexpr std::uint8_t neighbour_advertisement = 136;
inline constexpr std::uint8_t redirect = 137;
}  // namespace icmpv6_type

/// What we put into headers we make.
inline constexpr std::uint8_t default_ttl = 64;

/// In place of a VLAN number: the frame has no tag, or a priority tag (VLAN 0).
inline constexpr std::uint16_t no_vlan = 0xffff;

struct Ethernet {
  net::Mac destination;
  net::Mac source;
  net::be16 type;
};

/// IEEE 802.1Q: follows Ethernet when its type is ethertype::vlan or service_vlan.
struct Vlan {
  static constexpr std::uint16_t number_mask = 0x0fff;

  net::be16 control;
  net::be16 type;
};

/// RFC 791.
struct Ipv4 {
  static constexpr std::uint8_t version_without_options = 0x45;
  static constexpr std::uint16_t dont_fragment = 0x4000;
  static constexpr std::uint16_t more_fragments = 0x2000;
  static constexpr std::uint16_t fragment_offset = 0x1fff;

  std::uint8_t version_length;
  std::uint8_t tos;
  net::be16 total_length;
  net::be16 id;
  net::be16 fragment;
  std::uint8_t ttl;
  std::uint8_t protocol;
  net::be16 checksum;
  net::be32 source;
  net::be32 destination;

  [[nodiscard]] unsigned version() const { return version_length >> 4; }
  [[nodiscard]] unsigned header_length() const { return (version_length & 0xfU) * 4; }
};

/// RFC 8200.
struct Ipv6 {
  net::be32 version_class_label;
  net::be16 payload_length;
  std::uint8_t next_header;
  std::uint8_t hop_limit;
  net::IpAddress::Bytes source;
  net::IpAddress::Bytes destination;

  [[nodiscard]] static constexpr std::uint32_t first_word(std::uint8_t traffic_class, std::uint32_t label) {
    return 0x60000000U | std::uint32_t{traffic_class} << 20 | (label & 0xfffff);
  }
  [[nodiscard]] unsigned version() const { return version_class_label.value() >> 28; }
  [[nodiscard]] std::uint8_t traffic_class() const {
    return static_cast<std::uint8_t>(version_class_label.value() >> 20);
  }
};

/// RFC 8200 4.5.
struct Ipv6Fragment {
  static constexpr std::uint16_t offset_and_more = 0xfff9;

  std::uint8_t next_header;
  std::uint8_t reserved;
  net::be16 offset_more;
  net::be32 id;
};

/// RFC 9293.
struct Tcp {
  net::be16 source;
  net::be16 destination;
  net::be32 sequence;
  net::be32 acknowledgement;
  std::uint8_t data_offset;
  std::uint8_t flags;
  net::be16 window;
  net::be16 checksum;
  net::be16 urgent;

  [[nodiscard]] unsigned header_length() const { return data_offset >> 2 & 0x3cU; }
};

/// RFC 768.
struct Udp {
  net::be16 source;
  net::be16 destination;
  net::be16 length;
  net::be16 checksum;
};

/// ICMP (RFC 792) and ICMPv6 (RFC 4443). `rest` is identifier and sequence of an echo, the MTU of "too big".
struct Icmp {
  std::uint8_t type;
  std::uint8_t code;
  net::be16 checksum;
  net::be32 rest;
};

/// RFC 826 for IPv4 over Ethernet.
struct Arp {
  static constexpr std::uint16_t ethernet = 1;
  static constexpr std::uint16_t request = 1;
  static constexpr std::uint16_t reply = 2;

  net::be16 hardware_type;
  net::be16 protocol_type;
  std::uint8_t hardware_length;
  std::uint8_t protocol_length;
  net::be16 operation;
  net::Mac sender_mac;
  net::be32 sender_address;
  net::Mac target_mac;
  net::be32 target_address;
};

/// Neighbour solicitation and advertisement (RFC 4861 4.3, 4.4), without their options.
struct NdMessage {
  static constexpr std::uint8_t router = 0x80;
  static constexpr std::uint8_t solicited = 0x40;
  static constexpr std::uint8_t override_flag = 0x20;

  std::uint8_t type;
  std::uint8_t code;
  net::be16 checksum;
  std::uint8_t flags;
  std::array<std::uint8_t, 3> reserved;
  net::IpAddress::Bytes target;
};

/// RFC 4861 4.6.1. `length` counts units of eight bytes.
struct NdLinkLayerOption {
  static constexpr std::uint8_t source = 1;
  static constexpr std::uint8_t target = 2;

  std::uint8_t type;
  std::uint8_t length;
  net::Mac mac;
};

/// RFC 7348.
struct Vxlan {
  static constexpr std::uint32_t valid_vni = 0x08000000;

  net::be32 flags;
  net::be32 vni;
};

static_assert(sizeof(Ethernet) == 14 && sizeof(Vlan) == 4 && sizeof(Ipv4) == 20 && sizeof(Ipv6) == 40);
static_assert(sizeof(Ipv6Fragment) == 8 && sizeof(Tcp) == 20 && sizeof(Udp) == 8 && sizeof(Icmp) == 8);
static_assert(sizeof(Arp) == 28 && sizeof(NdMessage) == 24 && sizeof(NdLinkLayerOption) == 8 &&
              sizeof(Vxlan) == 8);

/// The header of type T at these bytes of a frame. The caller knows that all of them are inside it.
template <typename T>
[[nodiscard]] const T& header(const std::uint8_t* at) {
  static_assert(alignof(T) == 1 && std::is_trivially_copyable_v<T>);
  return *reinterpret_cast<const T*>(at);
}

template <typename T>
[[nodiscard]] T& header(std::uint8_t* at) {
  static_assert(alignof(T) == 1 && std::is_trivially_copyable_v<T>);
  return *reinterpret_cast<T*>(at);
}

}  // namespace zonelb::packet
