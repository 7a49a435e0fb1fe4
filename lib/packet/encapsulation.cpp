#include "packet/encapsulation.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace zonelb::packet {

namespace {

constexpr std::uint32_t vni_end = 1U << 24;

/// Writes the outer IP header; lengths, DSCP, ECN, flow label and checksum are left to write().
void make_outer_ip(Encapsulation& encapsulation, const net::IpAddress& source,
                   const net::IpAddress& destination, std::uint8_t protocol) {
  if (source.family() != destination.family()) {
    throw std::invalid_argument(
        fmt::format("tunnel from {} to {}: both ends must be of one family, IPv4 or IPv6", source.to_string(),
                    destination.to_string()));
  }
  std::uint8_t* bytes = encapsulation.bytes.data();
  if (source.is_v4()) {
    auto& ip = header<Ipv4>(bytes);
    ip.version_length = Ipv4::version_without_options;
    ip.ttl = default_ttl;
    ip.protocol = protocol;
    ip.source = source.as_v4();
    ip.destination = destination.as_v4();
    encapsulation.length = sizeof(Ipv4);
    const auto inverse = net::checksum_fold(net::checksum_add(0, {bytes, sizeof(Ipv4)}));
    encapsulation.partial_sum = static_cast<std::uint16_t>(~inverse);
  } else {
    auto& ip = header<Ipv6>(bytes);
    ip.next_header = protocol;
    ip.hop_limit = default_ttl;
    ip.source = source.bytes();
    ip.destination = destination.bytes();
    encapsulation.length = sizeof(Ipv6);
  }
}

}  // namespace

Encapsulation make_ipip(const net::IpAddress& source, const net::IpAddress& destination, net::Family inner) {
  Encapsulation result;
  result.form = source.is_v4() ? Encapsulation::Form::ipip4 : Encapsulation::Form::ipip6;
  make_outer_ip(result, source, destination,
                inner == net::Family::ipv4 ? ip_protocol::ipv4 : ip_protocol::ipv6);
  return result;
}

Encapsulation make_vxlan(const net::IpAddress& source, const net::IpAddress& destination,
                         std::uint16_t udp_port, std::uint32_t vni, const InnerMacs& macs,
                         net::Family inner) {
  if (vni >= vni_end) {
    throw std::invalid_argument(fmt::format("VXLAN network identifier {}: 0 to {}", vni, vni_end - 1));
  }
  Encapsulation result;
  result.form = source.is_v4() ? Encapsulation::Form::vxlan4 : Encapsulation::Form::vxlan6;
  make_outer_ip(result, source, destination, ip_protocol::udp);
  std::uint8_t* at = result.bytes.data() + result.length;
  header<Udp>(at).destination = udp_port;
  at += sizeof(Udp);
  header<Vxlan>(at) = {Vxlan::valid_vni, vni << 8};
  at += sizeof(Vxlan);
  header<Ethernet>(at) = {macs.destination, macs.source,
                          inner == net::Family::ipv4 ? ethertype::ipv4 : ethertype::ipv6};
  result.length = static_cast<std::uint8_t>(result.length + Encapsulation::vxlan_bytes);
  return result;
}

void finish_udp6_checksum(std::uint8_t* outer_ip) {
  const auto& ip = header<Ipv6>(outer_ip);
  const std::uint16_t length = ip.payload_length.value();
  auto& udp = header<Udp>(outer_ip + sizeof(Ipv6));
  udp.checksum = std::uint16_t{0};
  const auto checksum =
      internet_checksum({outer_ip + sizeof(Ipv6), length}, pseudo_header(ip, length, ip_protocol::udp));
  udp.checksum = checksum.value() == 0 ? net::be16(std::uint16_t{0xffff}) : checksum;
}

}  // namespace zonelb::packet
