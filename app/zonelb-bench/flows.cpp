#include "flows.hpp"

#include <cstring>

#include "packet/checksum.hpp"
#include "packet/headers.hpp"
#include "packet/l2.hpp"
#include "scenario.hpp"

namespace zonelb::bench {
namespace {

constexpr std::uint64_t ports_per_client = 50'000;
constexpr std::uint16_t first_port = 10'000;
constexpr std::size_t frame_check_sequence = 4;

struct Client {
  std::uint64_t zone;
  std::uint16_t host;
  std::uint16_t port;
};

/// Numbers one after the other differ in zone, then port, then host, as clients do.
Client client(std::uint64_t number, unsigned zones) {
  const std::uint64_t in_zone = number / zones;
  return {number % zones, static_cast<std::uint16_t>(in_zone / ports_per_client + 1),
          static_cast<std::uint16_t>(first_port + in_zone % ports_per_client)};
}

void write_tcp(std::uint8_t* bytes, std::uint16_t source, std::uint8_t flags) {
  auto& tcp = packet::header<packet::Tcp>(bytes);
  tcp.source = source;
  tcp.destination = std::uint16_t{80};
  bytes[12] = 5 << 4;
  tcp.flags = flags;
}

}  // namespace

Flows::Flows(const Options& options) : ipv6_(options.ipv6), zones_(options.zones) {
  const Scenario scenario(options);
  for (const auto& rule : scenario.config.forwarding_rules) destinations_.push_back(rule.address);
  const std::size_t l3 = ipv6_ ? sizeof(packet::Ipv6) : sizeof(packet::Ipv4);
  const auto least = sizeof(packet::Ethernet) + l3 + sizeof(packet::Tcp);
  template_.resize(std::max<std::size_t>(options.size - frame_check_sequence, least));
  std::uint8_t* ip = template_.data() + sizeof(packet::Ethernet);
  packet::write_ethernet(ip, bench_port().mac, net::Mac({0x02, 0xcc, 0, 0, 0, 1}), packet::no_vlan,
                         ipv6_ ? packet::ethertype::ipv6 : packet::ethertype::ipv4);
  if (ipv6_) {
    auto& header = packet::header<packet::Ipv6>(ip);
    ip[0] = 6 << 4;
    header.payload_length = static_cast<std::uint16_t>(template_.size() - sizeof(packet::Ethernet) - l3);
    header.next_header = packet::ip_protocol::tcp;
    header.hop_limit = 64;
  } else {
    auto& header = packet::header<packet::Ipv4>(ip);
    ip[0] = packet::Ipv4::version_without_options;
    header.total_length = static_cast<std::uint16_t>(template_.size() - sizeof(packet::Ethernet));
    header.ttl = 64;
    header.protocol = packet::ip_protocol::tcp;
  }
}

std::uint32_t Flows::write(std::uint8_t* frame, std::uint64_t number, std::uint8_t flags) const {
  std::memcpy(frame, template_.data(), template_.size());
  return ipv6_ ? write6(frame, number, flags) : write4(frame, number, flags);
}

std::uint32_t Flows::write4(std::uint8_t* frame, std::uint64_t number, std::uint8_t flags) const {
  const auto from = client(number, zones_);
  std::uint8_t* ip = frame + sizeof(packet::Ethernet);
  auto& header = packet::header<packet::Ipv4>(ip);
  header.source = static_cast<std::uint32_t>(20U << 24 | from.zone << 16 | from.host);
  header.destination = destinations_[number % destinations_.size()].as_v4();
  header.checksum = packet::internet_checksum({ip, sizeof header});
  write_tcp(ip + sizeof header, from.port, flags);
  return static_cast<std::uint32_t>(template_.size());
}

std::uint32_t Flows::write6(std::uint8_t* frame, std::uint64_t number, std::uint8_t flags) const {
  const auto from = client(number, zones_);
  std::uint8_t* ip = frame + sizeof(packet::Ethernet);
  const std::uint8_t network[6] = {0x20, 0x01, 0x0d, 0xb8, 0x20, static_cast<std::uint8_t>(from.zone)};
  std::memcpy(ip + offsetof(packet::Ipv6, source), network, sizeof network);
  ip[offsetof(packet::Ipv6, source) + 14] = static_cast<std::uint8_t>(from.host >> 8);
  ip[offsetof(packet::Ipv6, source) + 15] = static_cast<std::uint8_t>(from.host);
  std::memcpy(ip + offsetof(packet::Ipv6, destination),
              destinations_[number % destinations_.size()].bytes().data(), 16);
  write_tcp(ip + sizeof(packet::Ipv6), from.port, flags);
  return static_cast<std::uint32_t>(template_.size());
}

}  // namespace zonelb::bench
