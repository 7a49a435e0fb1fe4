#include "packet/arp.hpp"

#include "packet/l2.hpp"
#include "packet/source.hpp"

namespace zonelb::packet {

std::optional<ArpMessage> read_arp(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < sizeof(Arp)) return std::nullopt;
  const auto& arp = header<Arp>(bytes.data());
  const std::uint16_t operation = arp.operation.value();
  const bool ipv4_over_ethernet =
      arp.hardware_type.value() == Arp::ethernet && arp.protocol_type == ethertype::ipv4 &&
      arp.hardware_length == sizeof(net::Mac) && arp.protocol_length == sizeof(net::be32);
  if (!ipv4_over_ethernet || (operation != Arp::request && operation != Arp::reply)) return std::nullopt;
  if (arp.sender_mac.is_group() || arp.sender_mac == net::Mac()) return std::nullopt;
  const bool probe = operation == Arp::request && arp.sender_address.value() == 0;
  if (is_impossible_source(arp.sender_address) && !probe) return std::nullopt;
  return ArpMessage{operation == Arp::request, arp.sender_mac, arp.sender_address, arp.target_address};
}

void answer_arp(std::uint8_t* frame, std::uint8_t l3_offset, const net::Mac& own_mac) {
  auto& arp = header<Arp>(frame + l3_offset);
  const auto asker = arp.sender_mac;
  const auto asker_address = arp.sender_address;
  arp.operation = Arp::reply;
  arp.sender_mac = own_mac;
  arp.sender_address = arp.target_address;
  arp.target_mac = asker;
  arp.target_address = asker_address;
  replace_macs(frame, {asker, own_mac});
}

std::uint32_t write_arp_request(std::uint8_t* frame, const ArpSender& sender, net::be32 target,
                                const net::Mac& destination) {
  const std::uint32_t l3 = ethernet_length(sender.vlan);
  write_ethernet(frame + l3, destination, sender.mac, sender.vlan, ethertype::arp);
  header<Arp>(frame + l3) = {Arp::ethernet,     ethertype::ipv4, sizeof(net::Mac),
                             sizeof(net::be32), Arp::request,    sender.mac,
                             sender.address,    net::Mac(),      target};
  return l3 + sizeof(Arp);
}

std::uint32_t write_arp_announcement(std::uint8_t* frame, const ArpSender& sender) {
  return write_arp_request(frame, sender, sender.address);
}

}  // namespace zonelb::packet
