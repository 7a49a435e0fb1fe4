#include "packet/icmp.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "packet/checksum.hpp"
#include "packet/l2.hpp"
#include "packet/source.hpp"

namespace zonelb::packet {

namespace {

constexpr std::size_t most_ipv4_error = 576;
constexpr std::size_t most_ipv6_error = 1280;
/// RFC 1812 4.3.2.5: errors have precedence "internetwork control".
constexpr std::uint8_t error_tos = 0xc0;

std::span<std::uint8_t> icmp_message(std::uint8_t* frame, const Parsed& parsed) {
  return {frame + parsed.l4_offset,
          static_cast<std::size_t>(parsed.l3_offset + parsed.l3_length - parsed.l4_offset)};
}

/// Type and code are one word of the checksum.
void replace_type(Icmp& icmp, std::uint8_t type) {
  const auto word = [&icmp](std::uint8_t t) {
    return net::be16(static_cast<std::uint16_t>(t << 8 | icmp.code));
  };
  icmp.checksum = replace_in_checksum(icmp.checksum, word(icmp.type), word(type));
  icmp.type = type;
}

void turn_around_ipv4(std::uint8_t* l3) {
  auto& ip = header<Ipv4>(l3);
  std::swap(ip.source, ip.destination);
  ip.ttl = default_ttl;
  const std::span<std::uint8_t> whole{l3, ip.header_length()};
  std::ranges::fill(whole.subspan(sizeof(Ipv4)), std::uint8_t{0});
  ip.checksum = std::uint16_t{0};
  ip.checksum = internet_checksum(whole);
}

bool is_icmp_error(std::uint8_t type) {
  return type == icmp_type::destination_unreachable || type == icmp_type::source_quench ||
         type == icmp_type::redirect || type == icmp_type::time_exceeded ||
         type == icmp_type::parameter_problem;
}

bool is_icmpv6_error(std::uint8_t type) {
  return type < icmpv6_type::first_informational || type == icmpv6_type::redirect;
}

std::uint8_t protocol(const Parsed& parsed) {
  return static_cast<std::uint8_t>(parsed.key.ports_protocol >> 32);
}

bool may_answer_ipv4(const std::uint8_t* frame, const Parsed& parsed) {
  const auto& ip = header<Ipv4>(frame + parsed.l3_offset);
  const bool to_many =
      ip.destination.value() == 0xffffffff || net::IpAddress::v4(ip.destination).is_multicast();
  if (to_many || is_impossible_source(ip.source)) return false;
  return protocol(parsed) != ip_protocol::icmp || !is_icmp_error(header<Icmp>(frame + parsed.l4_offset).type);
}

bool may_answer_ipv6(const std::uint8_t* frame, const Parsed& parsed) {
  const auto& ip = header<Ipv6>(frame + parsed.l3_offset);
  if (net::IpAddress::v6(ip.destination).is_multicast() || is_impossible_source(ip.source)) return false;
  return protocol(parsed) != ip_protocol::icmpv6 ||
         !is_icmpv6_error(header<Icmp>(frame + parsed.l4_offset).type);
}

/// Writes the ICMP part: header and the quoted packet. The checksum is the caller's.
std::span<std::uint8_t> write_error(std::uint8_t* at, const Icmp& icmp,
                                    std::span<const std::uint8_t> quoted) {
  header<Icmp>(at) = icmp;
  std::memcpy(at + sizeof(Icmp), quoted.data(), quoted.size());
  return {at, sizeof(Icmp) + quoted.size()};
}

std::uint32_t write_fragmentation_needed(std::uint8_t* l3, std::span<const std::uint8_t> packet,
                                         const net::IpAddress& own, std::uint16_t mtu) {
  const auto quoted = packet.first(std::min(packet.size(), most_ipv4_error - sizeof(Ipv4) - sizeof(Icmp)));
  const auto message = write_error(
      l3 + sizeof(Ipv4),
      {icmp_type::destination_unreachable, icmp_fragmentation_needed, std::uint16_t{0}, std::uint32_t{mtu}},
      quoted);
  header<Icmp>(message.data()).checksum = internet_checksum(message);
  const auto total = static_cast<std::uint16_t>(sizeof(Ipv4) + message.size());
  auto& ip = header<Ipv4>(l3);
  ip = {Ipv4::version_without_options,
        error_tos,
        total,
        std::uint16_t{0},
        Ipv4::dont_fragment,
        default_ttl,
        ip_protocol::icmp,
        std::uint16_t{0},
        own.as_v4(),
        header<Ipv4>(packet.data()).source};
  ip.checksum = internet_checksum({l3, sizeof(Ipv4)});
  return total;
}

std::uint32_t write_packet_too_big(std::uint8_t* l3, std::span<const std::uint8_t> packet,
                                   const net::IpAddress& own, std::uint16_t mtu) {
  const auto quoted = packet.first(std::min(packet.size(), most_ipv6_error - sizeof(Ipv6) - sizeof(Icmp)));
  const auto message = write_error(
      l3 + sizeof(Ipv6), {icmpv6_type::packet_too_big, 0, std::uint16_t{0}, std::uint32_t{mtu}}, quoted);
  const auto payload = static_cast<std::uint16_t>(message.size());
  auto& ip = header<Ipv6>(l3);
  ip = {Ipv6::first_word(0, 0),
        payload,
        ip_protocol::icmpv6,
        default_ttl,
        own.bytes(),
        header<Ipv6>(packet.data()).source};
  header<Icmp>(message.data()).checksum =
      internet_checksum(message, pseudo_header(ip, payload, ip_protocol::icmpv6));
  return sizeof(Ipv6) + payload;
}

}  // namespace

std::optional<DropReason> answer_echo(std::uint8_t* frame, const Parsed& request, const net::Mac& own_mac) {
  const auto message = icmp_message(frame, request);
  auto& icmp = header<Icmp>(message.data());
  if (request.kind == Kind::echo4) {
    if (internet_checksum(message).value() != 0) return DropReason::bad_icmp_checksum;
    replace_type(icmp, icmp_type::echo_reply);
    turn_around_ipv4(frame + request.l3_offset);
  } else {
    auto& ip = header<Ipv6>(frame + request.l3_offset);
    const auto size = static_cast<std::uint32_t>(message.size());
    if (internet_checksum(message, pseudo_header(ip, size, ip_protocol::icmpv6)).value() != 0) {
      return DropReason::bad_icmp_checksum;
    }
    replace_type(icmp, icmpv6_type::echo_reply);
    std::swap(ip.source, ip.destination);
    ip.hop_limit = default_ttl;
  }
  replace_macs(frame, {header<Ethernet>(frame).source, own_mac});
  return std::nullopt;
}

bool may_answer_with_error(const std::uint8_t* frame, const Parsed& parsed) {
  if (header<Ethernet>(frame).destination.is_group()) return false;
  if (is_ipv4(parsed.kind)) return may_answer_ipv4(frame, parsed);
  return is_ipv6(parsed.kind) && may_answer_ipv6(frame, parsed);
}

std::uint32_t write_too_big(std::uint8_t* frame, const std::uint8_t* offending, const Parsed& parsed,
                            const net::IpAddress& own, const net::Mac& own_mac, std::uint16_t mtu) {
  const std::span<const std::uint8_t> packet{offending + parsed.l3_offset, parsed.l3_length};
  const std::uint32_t l3 = ethernet_length(parsed.vlan);
  write_ethernet(frame + l3, header<Ethernet>(offending).source, own_mac, parsed.vlan,
                 own.is_v4() ? ethertype::ipv4 : ethertype::ipv6);
  return l3 + (own.is_v4() ? write_fragmentation_needed(frame + l3, packet, own, mtu)
                           : write_packet_too_big(frame + l3, packet, own, mtu));
}

}  // namespace zonelb::packet
