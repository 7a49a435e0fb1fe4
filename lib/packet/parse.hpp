#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "conntrack/flow_key.hpp"
#include "packet/checksum.hpp"
#include "packet/drop_reason.hpp"
#include "packet/headers.hpp"
#include "packet/source.hpp"

namespace zonelb::packet {

/// What a frame is. `flow`: TCP or UDP with sound ports. `echo`: ICMP echo request. `nd`: ICMPv6 types 133 to
/// 137. `other`: IP of any other kind.
enum class Kind : std::uint8_t { flow4, flow6, echo4, echo6, arp, nd, dropped, other4, other6 };

[[nodiscard]] constexpr bool is_ipv4(Kind kind) {
  return kind == Kind::flow4 || kind == Kind::echo4 || kind == Kind::other4;
}

[[nodiscard]] constexpr bool is_ipv6(Kind kind) {
  return kind == Kind::flow6 || kind == Kind::echo6 || kind == Kind::other6 || kind == Kind::nd;
}

/// Where the parts of a frame lie, and what it is. One word.
struct Shape {
  /// Bytes from the IP header to the end of the packet (padding excluded); of ARP, to the end of the frame.
  std::uint16_t l3_length;
  /// Bytes from the frame's first to the TCP, UDP or ICMP header.
  std::uint16_t l4_offset;
  /// VLAN number in host order, or no_vlan.
  std::uint16_t vlan;
  /// Bytes of Ethernet and VLAN header.
  std::uint8_t l3_offset;
  Kind kind;
};

/// What the stages after parse need to know of a frame: one cache line.
struct alignas(64) Parsed : Shape {
  /// Addresses: of every IP packet whose basic header lies in the frame, also of a dropped one. Ports: of
  /// flows. Protocol: the one behind options and extension headers.
  conntrack::FlowKey key;
  /// Of TCP, else 0.
  std::uint8_t tcp_flags;
  /// Only when dropped.
  DropReason reason;

  /// Sets where the parts lie in one store: what `shape` says, of a packet of no length, for one of `length`
  /// bytes from the IP header on.
  void set_shape(const Shape& shape, std::uint16_t length) {
    constexpr auto one = std::bit_cast<std::uint64_t>(Shape{1, 0, 0, 0, Kind{}});
    const auto word = std::bit_cast<std::uint64_t>(shape) | length * one;
    std::memcpy(static_cast<Shape*>(this), &word, sizeof word);
  }
};
static_assert(sizeof(Parsed) == 64);

/// What routers on the way make of an IP packet.
struct Marks {
  /// DSCP and ECN: TOS of IPv4, traffic class of IPv6.
  std::uint8_t traffic_class;
  /// As in an IPv4 header, this flag alone; set for IPv6, which no router may split.
  net::be16 dont_fragment;
};

/// Those of the IP packet at `l3`.
[[nodiscard]] inline Marks marks_of(const std::uint8_t* l3) {
  constexpr net::be16 flag = Ipv4::dont_fragment;
  const auto& v4 = header<Ipv4>(l3);
  if (v4.version() == 4) [[likely]]
    return {v4.tos, net::be16::from_raw(v4.fragment.raw() & flag.raw())};
  return {header<Ipv6>(l3).traffic_class(), flag};
}

/// Parses any frame; never reads at or beyond frame + length. parse() is what to call.
void parse_fully(const std::uint8_t* frame, std::uint32_t length, bool ip_checksum_known_good, Parsed& out);

namespace detail {

/// Reads ports and flags of a TCP or UDP header with `length` bytes (at least 8) up to the packet's end.
/// False when header or length field do not fit, and for other protocols.
inline bool parse_ports(const std::uint8_t* l4, std::uint32_t length, std::uint8_t protocol,
                        std::uint64_t& ports_protocol, std::uint8_t& tcp_flags) {
  std::uint32_t ports = 0;
  std::memcpy(&ports, l4, sizeof(ports));
  ports_protocol = ports | std::uint64_t{protocol} << 32;
  if (protocol == ip_protocol::tcp) [[likely]] {
    constexpr std::uint32_t least = sizeof(Tcp);
    if (length < least) return false;
    const auto& tcp = header<Tcp>(l4);
    tcp_flags = tcp.flags;
    return tcp.header_length() - least <= length - least;
  }
  if (protocol != ip_protocol::udp) return false;
  tcp_flags = 0;
  const unsigned udp_length = header<Udp>(l4).length.value();
  return udp_length >= sizeof(Udp) && udp_length <= length;
}

constexpr bool is_tcp_or_udp(std::uint8_t protocol) {
  constexpr std::uint32_t both = 1U << ip_protocol::tcp | 1U << ip_protocol::udp;
  return protocol < 32 && (both >> protocol & 1) != 0;
}

inline bool is_vlan(net::be16 type) {
  return type == ethertype::vlan || type == ethertype::service_vlan;
}

/// VLAN number of a tag's control word; a priority tag (802.1Q 6.9) names none.
inline std::uint16_t vlan_number(net::be16 control) {
  const auto number = static_cast<std::uint16_t>(control.value() & Vlan::number_mask);
  return number == 0 ? no_vlan : number;
}

inline void copy_addresses(const Ipv4& ip, conntrack::FlowKey& key) {
  key.addresses = {};
  std::memcpy(key.addresses.data(), &ip.source, 2 * sizeof(ip.source));
}

inline void copy_addresses(const Ipv6& ip, conntrack::FlowKey& key) {
  std::memcpy(key.addresses.data(), &ip.source, sizeof(key.addresses));
}

/// `frame` holds at least an IPv4 header and eight bytes from `l3` on. The tests are taken together, as all
/// of them pass nearly always.
inline bool parse_flow4(const std::uint8_t* frame, std::uint32_t l3, std::uint32_t length,
                        bool ip_checksum_known_good, Parsed& out) {
  constexpr std::uint32_t header_length = sizeof(Ipv4);
  constexpr std::uint32_t least = header_length + sizeof(Udp);
  constexpr net::be16 fragmented = std::uint16_t{Ipv4::more_fragments | Ipv4::fragment_offset};
  const auto& ip = header<Ipv4>(frame + l3);
  const std::uint32_t total = ip.total_length.value();
  const auto unusual = static_cast<std::uint32_t>(ip.version_length ^ Ipv4::version_without_options) |
                       (std::uint32_t{ip.fragment.raw()} & fragmented.raw()) |
                       static_cast<std::uint32_t>(total - least > length - l3 - least) |
                       static_cast<std::uint32_t>(!is_tcp_or_udp(ip.protocol)) |
                       static_cast<std::uint32_t>(is_impossible_source(ip.source));
  if (unusual != 0 || !(ip_checksum_known_good || ipv4_checksum_is_good(ip))) return false;
  copy_addresses(ip, out.key);
  out.l3_length = static_cast<std::uint16_t>(total);
  out.l4_offset = static_cast<std::uint16_t>(l3 + header_length);
  out.l3_offset = static_cast<std::uint8_t>(l3);
  out.kind = Kind::flow4;
  return parse_ports(frame + l3 + header_length, total - header_length, ip.protocol, out.key.ports_protocol,
                     out.tcp_flags);
}

inline bool parse_flow6(const std::uint8_t* frame, std::uint32_t l3, std::uint32_t length, Parsed& out) {
  if (length < l3 + sizeof(Ipv6) + sizeof(Udp)) return false;
  const auto& ip = header<Ipv6>(frame + l3);
  const std::uint32_t payload = ip.payload_length.value();
  if (ip.version() != 6 || payload < sizeof(Udp) || payload > length - l3 - sizeof(Ipv6) ||
      payload > 0xffff - sizeof(Ipv6) || !is_tcp_or_udp(ip.next_header) || is_impossible_source(ip.source)) {
    return false;
  }
  copy_addresses(ip, out.key);
  out.l3_length = static_cast<std::uint16_t>(sizeof(Ipv6) + payload);
  out.l4_offset = static_cast<std::uint16_t>(l3 + sizeof(Ipv6));
  out.l3_offset = static_cast<std::uint8_t>(l3);
  out.kind = Kind::flow6;
  return parse_ports(frame + out.l4_offset, payload, ip.next_header, out.key.ports_protocol, out.tcp_flags);
}

}  // namespace detail

/// parse() for TCP and UDP without options, extension headers or faults, which is nearly all there is. False
/// for the rest, with `out` half written.
inline bool parse_common(const std::uint8_t* frame, std::uint32_t length, bool ip_checksum_known_good,
                         Parsed& out) {
  constexpr std::uint32_t least = sizeof(Ethernet) + sizeof(Ipv4) + sizeof(Udp);
  if (length < least) return false;
  const net::be16 type = header<Ethernet>(frame).type;
  out.vlan = no_vlan;
  if (type == ethertype::ipv4) [[likely]]
    return detail::parse_flow4(frame, sizeof(Ethernet), length, ip_checksum_known_good, out);
  if (type == ethertype::ipv6) return detail::parse_flow6(frame, sizeof(Ethernet), length, out);
  if (!detail::is_vlan(type) || length < least + sizeof(Vlan)) return false;
  constexpr std::uint32_t l3 = sizeof(Ethernet) + sizeof(Vlan);
  const auto& tag = header<Vlan>(frame + sizeof(Ethernet));
  out.vlan = detail::vlan_number(tag.control);
  if (tag.type == ethertype::ipv4) return detail::parse_flow4(frame, l3, length, ip_checksum_known_good, out);
  return tag.type == ethertype::ipv6 && detail::parse_flow6(frame, l3, length, out);
}

/// Reads a frame of `length` bytes (without FCS) into `out`, untagged or with one VLAN tag. Whatever the
/// bytes, it reads none beyond the frame and `out.kind` says what they are, or `out.reason` why they are
/// nothing. The IPv4 header checksum is verified unless the port says that it is good; those of TCP and UDP
/// are left to the backend (semantics.md section 6).
inline void parse(const std::uint8_t* frame, std::uint32_t length, bool ip_checksum_known_good, Parsed& out) {
  if (!parse_common(frame, length, ip_checksum_known_good, out)) [[unlikely]] {
    parse_fully(frame, length, ip_checksum_known_good, out);
  }
}

}  // namespace zonelb::packet
