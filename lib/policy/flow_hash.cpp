#include "policy/flow_hash.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "net/endian.hpp"

namespace zonelb::policy {
using config::SessionAffinity;

namespace {

/// Addresses, protocol, ports. Those of IPv4 go to memory in one piece, as the hash reads other pieces of
/// them: what several stores have written a processor hands on only when all of them are done.
template <std::size_t addresses>
auto message(const std::uint8_t* from, std::uint8_t protocol, std::uint32_t raw_ports) {
  std::array<std::uint8_t, std::max<std::size_t>(addresses + sizeof protocol + sizeof raw_ports, 16)> bytes;
  if constexpr (addresses == 8 && std::endian::native == std::endian::little) {
    using Piece = std::uint64_t __attribute__((vector_size(16)));
    Piece piece = {0, protocol | std::uint64_t{raw_ports} << 8};
    std::memcpy(&piece, from, addresses);
    std::memcpy(bytes.data(), &piece, sizeof piece);
  } else {
    std::memcpy(bytes.data(), from, addresses);
    bytes[addresses] = protocol;
    std::memcpy(bytes.data() + addresses + sizeof protocol, &raw_ports, sizeof raw_ports);
  }
  return bytes;
}

/// Each affinity hashes the beginning of the message that it needs. Sizes are constants, so that of the
/// hash's code for all lengths a few instructions remain.
template <std::size_t addresses>
std::uint64_t hash(SessionAffinity affinity, const std::uint8_t* from, std::uint8_t protocol,
                   std::uint32_t raw_ports) {
  const auto bytes = message<addresses>(from, protocol, raw_ports);
  switch (affinity) {
    case SessionAffinity::client_ip_no_destination:
      return XXH3_64bits(bytes.data(), addresses / 2);
    case SessionAffinity::client_ip:
      return XXH3_64bits(bytes.data(), addresses);
    case SessionAffinity::client_ip_proto:
      return XXH3_64bits(bytes.data(), addresses + sizeof protocol);
    case SessionAffinity::none:
    case SessionAffinity::client_ip_port_proto:
      break;
  }
  return XXH3_64bits(bytes.data(), addresses + sizeof protocol + sizeof raw_ports);
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
