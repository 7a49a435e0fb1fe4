#include "packet/nd.hpp"

#include <algorithm>
#include <span>

#include "packet/checksum.hpp"
#include "packet/l2.hpp"

namespace zonelb::packet {

namespace {

/// No router passes such a packet on (RFC 4861 3.1).
constexpr std::uint8_t nd_hop_limit = 255;

constexpr net::IpAddress::Bytes all_nodes_bytes{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

bool is_solicited_node_multicast(const net::IpAddress& address) {
  return address == solicited_node_multicast(address);
}

/// Reads the options into `message`; false when they break RFC 4861 4.6.
bool read_options(std::span<const std::uint8_t> options, NeighbourMessage& message) {
  const auto wanted = message.is_solicitation() ? NdLinkLayerOption::source : NdLinkLayerOption::target;
  while (!options.empty()) {
    if (options.size() < sizeof(NdLinkLayerOption)) return false;
    const auto& option = header<NdLinkLayerOption>(options.data());
    const std::size_t length = std::size_t{option.length} * 8;
    if (length == 0 || length > options.size()) return false;
    if (option.type == wanted) {
      if (length != sizeof(option) || option.mac.is_group() || option.mac == net::Mac()) return false;
      message.link_layer = option.mac;
    }
    options = options.subspan(length);
  }
  return true;
}

bool is_valid(const NeighbourMessage& message) {
  if (message.target.is_multicast()) return false;
  const bool from_nobody = message.source.is_unspecified();
  if (message.is_advertisement()) {
    return !from_nobody && !(message.destination.is_multicast() && message.solicited);
  }
  return !from_nobody || (is_solicited_node_multicast(message.destination) && !message.link_layer);
}

/// An ND message with one link-layer option, all but its addresses.
struct Content {
  std::uint8_t type;
  std::uint8_t flags;
  std::uint8_t option;
  net::Mac option_mac;
};

struct Way {
  net::Mac source_mac;
  net::Mac destination_mac;
  std::uint16_t vlan;
  net::IpAddress source;
  net::IpAddress destination;
};

std::uint32_t write_message(std::uint8_t* frame, const Way& way, const net::IpAddress& target,
                            const Content& content) {
  constexpr std::uint16_t payload = sizeof(NdMessage) + sizeof(NdLinkLayerOption);
  const std::uint32_t l3 = ethernet_length(way.vlan);
  write_ethernet(frame + l3, way.destination_mac, way.source_mac, way.vlan, ethertype::ipv6);
  auto& ip = header<Ipv6>(frame + l3);
  ip = {Ipv6::first_word(0, 0), payload, ip_protocol::icmpv6, nd_hop_limit, way.source.bytes(),
        way.destination.bytes()};
  std::uint8_t* l4 = frame + l3 + sizeof(Ipv6);
  auto& message = header<NdMessage>(l4);
  message = {content.type, 0, std::uint16_t{0}, content.flags, {}, target.bytes()};
  header<NdLinkLayerOption>(l4 + sizeof(NdMessage)) = {content.option, 1, content.option_mac};
  message.checksum = internet_checksum({l4, payload}, pseudo_header(ip, payload, ip_protocol::icmpv6));
  return l3 + sizeof(Ipv6) + payload;
}

}  // namespace

std::optional<NeighbourMessage> read_neighbour_message(const std::uint8_t* frame, const Parsed& parsed) {
  const auto& ip = header<Ipv6>(frame + parsed.l3_offset);
  const std::span<const std::uint8_t> icmp{
      frame + parsed.l4_offset,
      static_cast<std::size_t>(parsed.l3_offset + parsed.l3_length - parsed.l4_offset)};
  const auto checksum = internet_checksum(
      icmp, pseudo_header(ip, static_cast<std::uint32_t>(icmp.size()), ip_protocol::icmpv6));
  if (ip.hop_limit != nd_hop_limit || header<Icmp>(icmp.data()).code != 0 || checksum.value() != 0) {
    return std::nullopt;
  }
  NeighbourMessage message;
  message.type = header<Icmp>(icmp.data()).type;
  message.source = net::IpAddress::v6(ip.source);
  message.destination = net::IpAddress::v6(ip.destination);
  if (!message.is_solicitation() && !message.is_advertisement()) return message;
  if (icmp.size() < sizeof(NdMessage)) return std::nullopt;
  const auto& fixed = header<NdMessage>(icmp.data());
  message.target = net::IpAddress::v6(fixed.target);
  if (message.is_advertisement()) {
    message.router = (fixed.flags & NdMessage::router) != 0;
    message.solicited = (fixed.flags & NdMessage::solicited) != 0;
    message.overrides = (fixed.flags & NdMessage::override_flag) != 0;
  }
  if (!read_options(icmp.subspan(sizeof(NdMessage)), message) || !is_valid(message)) return std::nullopt;
  return message;
}

std::uint32_t write_solicitation(std::uint8_t* frame, const NdSender& sender, const net::IpAddress& target,
                                 const std::optional<net::Mac>& last_known) {
  const auto group = solicited_node_multicast(target);
  const Way way{sender.mac, last_known.value_or(multicast_mac(group)), sender.vlan, sender.address,
                last_known ? target : group};
  return write_message(frame, way, target,
                       {icmpv6_type::neighbour_solicitation, 0, NdLinkLayerOption::source, sender.mac});
}

std::uint32_t write_advertisement(std::uint8_t* frame, const net::Mac& own_mac, std::uint16_t vlan,
                                  const NeighbourMessage& solicitation, const net::Mac& asker) {
  const auto all_nodes = net::IpAddress::v6(all_nodes_bytes);
  const bool to_all = solicitation.source.is_unspecified();
  const Way way{own_mac, to_all ? multicast_mac(all_nodes) : solicitation.link_layer.value_or(asker), vlan,
                solicitation.target, to_all ? all_nodes : solicitation.source};
  const auto flags =
      static_cast<std::uint8_t>(NdMessage::override_flag | (to_all ? 0 : NdMessage::solicited));
  return write_message(frame, way, solicitation.target,
                       {icmpv6_type::neighbour_advertisement, flags, NdLinkLayerOption::target, own_mac});
}

std::uint32_t write_unsolicited_advertisement(std::uint8_t* frame, const NdSender& sender) {
  const auto all_nodes = net::IpAddress::v6(all_nodes_bytes);
  const Way way{sender.mac, multicast_mac(all_nodes), sender.vlan, sender.address, all_nodes};
  return write_message(frame, way, sender.address,
                       {icmpv6_type::neighbour_advertisement, NdMessage::override_flag,
                        NdLinkLayerOption::target, sender.mac});
}

net::IpAddress solicited_node_multicast(const net::IpAddress& address) {
  net::IpAddress::Bytes bytes{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff};
  std::copy_n(address.bytes().end() - 3, 3, bytes.end() - 3);
  return net::IpAddress::v6(bytes);
}

net::Mac multicast_mac(const net::IpAddress& group) {
  const auto& bytes = group.bytes();
  return net::Mac({0x33, 0x33, bytes[12], bytes[13], bytes[14], bytes[15]});
}

}  // namespace zonelb::packet
