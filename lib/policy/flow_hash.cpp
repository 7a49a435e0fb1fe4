#include "policy/flow_hash.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <xxhash.h>

#include "net/endian.hpp"

namespace zonelb::policy {
using config::SessionAffinity;

std::uint64_t flow_hash(SessionAffinity affinity, std::span<const std::uint8_t> addresses,
                        std::uint8_t protocol, std::uint32_t raw_ports) {
  std::array<std::uint8_t, 40> message;
  std::size_t size = addresses.size();
  std::memcpy(message.data(), addresses.data(), size);
  message[size] = protocol;
  std::memcpy(message.data() + size + 1, &raw_ports, sizeof raw_ports);
  switch (affinity) {
    case SessionAffinity::client_ip_no_destination:
      size /= 2;
      break;
    case SessionAffinity::client_ip:
      break;
    case SessionAffinity::client_ip_proto:
      size += 1;
      break;
    case SessionAffinity::none:
    case SessionAffinity::client_ip_port_proto:
      size += 1 + sizeof raw_ports;
      break;
  }
  return XXH3_64bits(message.data(), size);
}

std::uint64_t flow_hash(SessionAffinity affinity, const Tuple& tuple) {
  const std::size_t each = tuple.source.bits() / 8;
  std::array<std::uint8_t, 32> addresses;
  std::memcpy(addresses.data(), tuple.source.bytes().data(), each);
  std::memcpy(addresses.data() + each, tuple.destination.bytes().data(), each);
  const std::array<net::be16, 2> ports{tuple.source_port, tuple.destination_port};
  return flow_hash(affinity, {addresses.data(), 2 * each}, tuple.protocol,
                   std::bit_cast<std::uint32_t>(ports));
}

}  // namespace zonelb::policy
