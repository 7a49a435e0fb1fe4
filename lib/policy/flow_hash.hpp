#pragma once

#include <cstdint>
#include <span>

#include "config/config.hpp"
#include "net/address.hpp"

namespace zonelb::policy {

/// The fields of a packet that choose its backend.
struct Tuple {
  net::IpAddress source;
  net::IpAddress destination;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint8_t protocol = 0;
};

/// Hash over the fields that `affinity` names (semantics.md section 3). It is XXH3 over a fixed layout in
/// network byte order: the same number on every core, appliance and after every restart.
std::uint64_t flow_hash(config::SessionAffinity affinity, const Tuple& tuple);

/// The same from what lies in a packet: both addresses of one family (8 or 32 bytes, the source first), the
/// protocol, and both ports as they lie there.
std::uint64_t flow_hash(config::SessionAffinity affinity, std::span<const std::uint8_t> addresses,
                        std::uint8_t protocol, std::uint32_t raw_ports);

}  // namespace zonelb::policy
