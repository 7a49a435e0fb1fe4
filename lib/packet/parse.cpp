#include "packet/parse.hpp"

#include <algorithm>
#include <optional>
#include <span>

namespace zonelb::packet {

namespace {

using Bytes = std::span<const std::uint8_t>;

void drop(Parsed& out, DropReason reason) {
  out.kind = Kind::dropped;
  out.reason = reason;
}

/// The protocol and where it starts in the IPv6 packet, or why there is none.
struct UpperLayer {
  std::uint32_t offset = sizeof(Ipv6);
  std::uint8_t protocol = 0;
  bool fragment_header = false;
  std::optional<DropReason> fault;
};

bool is_extension(std::uint8_t type) {
  return type == ip_protocol::hop_by_hop || type == ip_protocol::routing || type == ip_protocol::fragment ||
         type == ip_protocol::destination_options;
}

/// Our bounds against headers made to keep us busy; real packets have one or two.
constexpr unsigned most_extension_headers = 8;
constexpr std::uint32_t most_extension_bytes = 256;

/// Walks the extension headers of RFC 8200 4. An atomic fragment (RFC 6946) counts as a whole packet. A
/// routing header with segments left means that the packet's last destination is not the one it names.
UpperLayer walk_extension_headers(Bytes packet) {
  const auto end = std::min<std::size_t>(packet.size(), sizeof(Ipv6) + most_extension_bytes);
  UpperLayer upper;
  upper.protocol = header<Ipv6>(packet.data()).next_header;
  for (unsigned walked = 0; is_extension(upper.protocol); ++walked) {
    upper.fault = DropReason::extension_headers;
    if (walked == most_extension_headers || upper.offset + sizeof(Ipv6Fragment) > end) return upper;
    const std::uint8_t* at = packet.data() + upper.offset;
    std::uint32_t length = (at[1] + 1U) * 8;
    if (upper.protocol == ip_protocol::routing && at[3] != 0) return upper;
    if (upper.protocol == ip_protocol::fragment) {
      upper.fault = DropReason::fragment;
      if ((header<Ipv6Fragment>(at).offset_more.value() & Ipv6Fragment::offset_and_more) != 0) return upper;
      upper.fragment_header = true;
      length = sizeof(Ipv6Fragment);
    }
    upper.fault = DropReason::extension_headers;
    if (upper.offset + length > end) return upper;
    upper.protocol = at[0];
    upper.offset += length;
    upper.fault.reset();
  }
  return upper;
}

/// TCP or UDP of either family, else false.
bool parse_flow(Bytes l4, std::uint8_t protocol, Kind kind, Parsed& out) {
  if (!detail::is_tcp_or_udp(protocol)) return false;
  out.kind = kind;
  if (l4.size() < sizeof(Udp) || !detail::parse_ports(l4.data(), static_cast<std::uint32_t>(l4.size()),
                                                      protocol, out.key.ports_protocol, out.tcp_flags)) {
    drop(out, DropReason::bad_l4_header);
  }
  return true;
}

void parse_icmp(Bytes l4, Parsed& out) {
  if (l4.size() < sizeof(Icmp)) return drop(out, DropReason::bad_l4_header);
  const auto& icmp = header<Icmp>(l4.data());
  out.kind = icmp.type == icmp_type::echo_request && icmp.code == 0 ? Kind::echo4 : Kind::other4;
}

void parse_icmpv6(Bytes l4, Parsed& out) {
  if (l4.size() < sizeof(Icmp)) return drop(out, DropReason::bad_l4_header);
  const auto& icmp = header<Icmp>(l4.data());
  const bool nd = icmp.type >= icmpv6_type::router_solicitation && icmp.type <= icmpv6_type::redirect;
  const bool echo = icmp.type == icmpv6_type::echo_request && icmp.code == 0;
  out.kind = nd ? Kind::nd : echo ? Kind::echo6 : Kind::other6;
}

void parse_ipv4(Bytes frame_rest, bool ip_checksum_known_good, Parsed& out) {
  if (frame_rest.size() < sizeof(Ipv4)) return drop(out, DropReason::runt);
  const auto& ip = header<Ipv4>(frame_rest.data());
  detail::copy_addresses(ip, out.key);
  const unsigned header_length = ip.header_length();
  const unsigned total = ip.total_length.value();
  if (ip.version() != 4) return drop(out, DropReason::bad_ip_version);
  if (header_length < sizeof(Ipv4) || header_length > total)
    return drop(out, DropReason::bad_ip_header_length);
  if (total > frame_rest.size()) return drop(out, DropReason::truncated);
  if (!ip_checksum_known_good && internet_checksum(frame_rest.first(header_length)).value() != 0) {
    return drop(out, DropReason::bad_ip_checksum);
  }
  const std::uint16_t fragment = ip.fragment.value();
  out.key.ports_protocol = std::uint64_t{ip.protocol} << 32;
  out.l3_length = ip.total_length.value();
  out.l4_offset = static_cast<std::uint16_t>(out.l3_offset + header_length);
  if (is_impossible_source(ip.source)) return drop(out, DropReason::bad_source);
  if ((fragment & (Ipv4::more_fragments | Ipv4::fragment_offset)) != 0)
    return drop(out, DropReason::fragment);

  const auto l4 = frame_rest.first(total).subspan(header_length);
  if (parse_flow(l4, ip.protocol, Kind::flow4, out)) return;
  if (ip.protocol == ip_protocol::icmp) return parse_icmp(l4, out);
  out.kind = Kind::other4;
}

void parse_ipv6(Bytes frame_rest, Parsed& out) {
  if (frame_rest.size() < sizeof(Ipv6)) return drop(out, DropReason::runt);
  const auto& ip = header<Ipv6>(frame_rest.data());
  detail::copy_addresses(ip, out.key);
  const std::size_t total = sizeof(Ipv6) + ip.payload_length.value();
  if (ip.version() != 6) return drop(out, DropReason::bad_ip_version);
  if (total > std::min<std::size_t>(frame_rest.size(), 0xffff)) return drop(out, DropReason::truncated);
  out.l3_length = static_cast<std::uint16_t>(total);

  const auto packet = frame_rest.first(total);
  const auto upper = walk_extension_headers(packet);
  const auto l4 = packet.subspan(upper.offset);
  out.key.ports_protocol = std::uint64_t{upper.protocol} << 32;
  out.l4_offset = static_cast<std::uint16_t>(out.l3_offset + upper.offset);
  if (upper.fault) return drop(out, *upper.fault);
  if (!parse_flow(l4, upper.protocol, Kind::flow6, out)) {
    out.kind = Kind::other6;
    if (upper.protocol == ip_protocol::icmpv6) parse_icmpv6(l4, out);
  }
  // Only neighbour discovery starts before there is an address, and it is never fragmented (RFC 6980 5).
  const bool may_lack_source = out.kind == Kind::nd && is_unspecified(ip.source);
  if (is_impossible_source(ip.source) && !may_lack_source) return drop(out, DropReason::bad_source);
  if (out.kind == Kind::nd && upper.fragment_header) return drop(out, DropReason::bad_nd);
}

}  // namespace

void parse_fully(const std::uint8_t* frame, std::uint32_t length, bool ip_checksum_known_good, Parsed& out) {
  out = Parsed{};
  out.vlan = no_vlan;
  std::uint32_t l3 = sizeof(Ethernet);
  if (length < l3) return drop(out, DropReason::runt);
  net::be16 type = header<Ethernet>(frame).type;
  if (detail::is_vlan(type)) {
    if (length < l3 + sizeof(Vlan)) return drop(out, DropReason::runt);
    const auto& tag = header<Vlan>(frame + l3);
    out.vlan = detail::vlan_number(tag.control);
    type = tag.type;
    l3 += sizeof(Vlan);
  }
  out.l3_offset = static_cast<std::uint8_t>(l3);
  const Bytes rest{frame + l3, length - l3};
  if (type == ethertype::ipv4) return parse_ipv4(rest, ip_checksum_known_good, out);
  if (type == ethertype::ipv6) return parse_ipv6(rest, out);
  if (type != ethertype::arp) return drop(out, DropReason::unknown_ethertype);
  out.kind = Kind::arp;
  out.l3_length = static_cast<std::uint16_t>(std::min<std::size_t>(rest.size(), 0xffff));
}

}  // namespace zonelb::packet
