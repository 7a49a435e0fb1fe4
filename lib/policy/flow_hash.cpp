#include "policy/flow_hash.hpp"

#include <array>
#include <bit>
#include <cstring>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "net/endian.hpp"

namespace zonelb::policy {
using config::SessionAffinity;

namespace {

/// Addresses of so many bytes, protocol, ports; each affinity hashes the beginning that it needs. Sizes are
/// constants, so that of the hash's code for all lengths a few instructions remain.
template <std::size_t addresses>
std::uint64_t hash(SessionAffinity affinity, const std::uint8_t* from, std::uint8_t protocol,
                   std::uint32_t raw_ports) {
  std::array<std::uint8_t, addresses + sizeof protocol + sizeof raw_ports> message;
  std::memcpy(message.data(), from, addresses);
  message[addresses] = protocol;
  std::memcpy(message.data() + addresses + sizeof protocol, &raw_ports, sizeof raw_ports);
  switch (affinity) {
    case SessionAffinity::client_ip_no_destination:
      return XXH3_64bits(message.data(), addresses / 2);
    case SessionAffinity::client_ip:
      return XXH3_64bits(message.data(), addresses);
    case SessionAffinity::client_ip_proto:
      return XXH3_64bits(message.data(), addresses + sizeof protocol);
    case SessionAffinity::none:
    case SessionAffinity::client_ip_port_proto:
      break;
  }
  return XXH3_64bits(message.data(), message.size());
}

}  // namespace

std::uint64_t flow_hash(SessionAffinity affinity, std::span<const std::uint8_t> addresses,
                        std::uint8_t protocol, std::uint32_t raw_ports) {
  return addresses.size() == 8 ? hash<8>(affinity, addresses.data(), protocol, raw_ports)
                               : hash<32>(affinity, addresses.data(), protocol, raw_ports);
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
