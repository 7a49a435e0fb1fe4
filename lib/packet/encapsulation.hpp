#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "net/address.hpp"
#include "packet/checksum.hpp"
#include "packet/headers.hpp"
#include "packet/parse.hpp"

namespace zonelb::packet {

/// All that is written between the outer Ethernet header and the inner packet, made once per backend and
/// inner family. IP in IP (RFC 2003, 4213, 2473): an IP header. VXLAN (RFC 7348): IP, UDP, VXLAN and inner
/// Ethernet header.
struct alignas(64) Encapsulation {
  enum class Form : std::uint8_t { ipip4, ipip6, vxlan4, vxlan6 };  // the digit: the outer family
  static constexpr std::size_t vxlan_bytes = sizeof(Udp) + sizeof(Vxlan) + sizeof(Ethernet);

  /// Sum of the outer IPv4 header as it lies in `bytes`, folded.
  std::uint32_t partial_sum = 0;
  Form form = Form::ipip4;
  /// Bytes used: what the packet grows by.
  std::uint8_t length = 0;
  std::array<std::uint8_t, sizeof(Ipv6) + vxlan_bytes> bytes{};

  [[nodiscard]] net::be16 outer_ethertype() const {
    return form == Form::ipip4 || form == Form::vxlan4 ? ethertype::ipv4 : ethertype::ipv6;
  }
  /// True when finish_udp6_checksum has to follow write.
  [[nodiscard]] bool needs_udp6_checksum() const { return form == Form::vxlan6; }
};
static_assert(sizeof(Encapsulation) == 128);

/// IP in IP from `source` to `destination`. Throws std::invalid_argument when they are of two families.
Encapsulation make_ipip(const net::IpAddress& source, const net::IpAddress& destination, net::Family inner);

/// Who the inner Ethernet header of VXLAN names.
struct InnerMacs {
  net::Mac destination;
  net::Mac source;
};

/// VXLAN from `source` to `destination`. `vni` has 24 bits. Throws std::invalid_argument when the addresses
/// are of two families or the number is larger.
Encapsulation make_vxlan(const net::IpAddress& source, const net::IpAddress& destination,
                         std::uint16_t udp_port, std::uint32_t vni, const InnerMacs& macs, net::Family inner);

namespace detail {

/// Copies a template of which the length is known, so that it takes a few vector moves.
template <std::size_t length>
void copy_template(std::uint8_t* to, const Encapsulation& encapsulation) {
  static_assert(length <= sizeof(encapsulation.bytes));
  std::memcpy(to, encapsulation.bytes.data(), length);
}

/// `length`: of all that is written, encapsulation.length.
inline void finish_ipv4(std::uint8_t* outer_ip, const Encapsulation& encapsulation, std::uint32_t length,
                        const Parsed& inner, std::uint16_t ip_id) {
  auto& ip = header<Ipv4>(outer_ip);
  const auto marks = marks_of(outer_ip + length);
  const net::be16 tos = std::uint16_t{marks.traffic_class};
  const net::be16 total = static_cast<std::uint16_t>(length + inner.l3_length);
  const net::be16 id = ip_id;
  const std::uint32_t sum =
      encapsulation.partial_sum + tos.raw() + total.raw() + id.raw() + marks.dont_fragment.raw();
  ip.tos = marks.traffic_class;
  ip.total_length = total;
  ip.id = id;
  ip.fragment = marks.dont_fragment;
  ip.checksum = net::be16::from_raw(net::checksum_fold32(sum));
}

inline void finish_ipv6(std::uint8_t* outer_ip, const Encapsulation& encapsulation, const Parsed& inner,
                        std::uint32_t flow_hash) {
  auto& ip = header<Ipv6>(outer_ip);
  const auto marks = marks_of(outer_ip + encapsulation.length);
  ip.version_class_label = Ipv6::first_word(marks.traffic_class, flow_hash);
  ip.payload_length = static_cast<std::uint16_t>(encapsulation.length - sizeof(Ipv6) + inner.l3_length);
}

/// RFC 7348 5: a source port of the flow lets routers on the way spread flows, not packets of one.
inline void finish_udp(std::uint8_t* udp_header, const Parsed& inner, std::uint32_t flow_hash) {
  auto& udp = header<Udp>(udp_header);
  udp.source = static_cast<std::uint16_t>(0xc000 | flow_hash >> 18);
  udp.length = static_cast<std::uint16_t>(Encapsulation::vxlan_bytes + inner.l3_length);
}

}  // namespace detail

/// What write() does for Form::ipip4.
inline void write_ipip4(std::uint8_t* outer_ip, const Encapsulation& encapsulation, const Parsed& inner,
                        std::uint16_t ip_id) {
  detail::copy_template<sizeof(Ipv4)>(outer_ip, encapsulation);
  detail::finish_ipv4(outer_ip, encapsulation, sizeof(Ipv4), inner, ip_id);
}

/// Writes the outer headers at `outer_ip`, encapsulation.length bytes in front of the inner IP packet (of
/// which the frame must end with inner.l3_length: no padding). Inner and outer together stay below 64 KiB.
/// - DSCP and ECN are copied (RFC 6040 4.1, normal mode); TTL is 64; the inner TTL stays.
/// - Outer IPv4 copies the inner DF, which IPv6 inside always has (RFC 2003 3.1): who asked for fragmentation
/// may
///   have it on the way, and path MTU discovery works for the others. `ip_id` should differ between packets.
/// - The flow's hash becomes UDP source port (49152 to 65535) and IPv6 flow label (RFC 6438).
/// - The UDP checksum is zero over IPv4 (RFC 7348 5), and finish_udp6_checksum's business over IPv6.
inline void write(std::uint8_t* outer_ip, const Encapsulation& encapsulation, const Parsed& inner,
                  std::uint32_t flow_hash, std::uint16_t ip_id) {
  using Form = Encapsulation::Form;
  switch (encapsulation.form) {
    case Form::ipip4:
      return write_ipip4(outer_ip, encapsulation, inner, ip_id);
    case Form::ipip6:
      detail::copy_template<sizeof(Ipv6)>(outer_ip, encapsulation);
      return detail::finish_ipv6(outer_ip, encapsulation, inner, flow_hash);
    case Form::vxlan4:
      detail::copy_template<sizeof(Ipv4) + Encapsulation::vxlan_bytes>(outer_ip, encapsulation);
      detail::finish_ipv4(outer_ip, encapsulation, encapsulation.length, inner, ip_id);
      return detail::finish_udp(outer_ip + sizeof(Ipv4), inner, flow_hash);
    case Form::vxlan6:
      detail::copy_template<sizeof(Ipv6) + Encapsulation::vxlan_bytes>(outer_ip, encapsulation);
      detail::finish_ipv6(outer_ip, encapsulation, inner, flow_hash);
      return detail::finish_udp(outer_ip + sizeof(Ipv6), inner, flow_hash);
  }
}

/// Sets the UDP checksum of a VXLAN packet over IPv6, which receivers demand (RFC 8200 8.1), over its whole
/// payload.
void finish_udp6_checksum(std::uint8_t* outer_ip);

}  // namespace zonelb::packet
