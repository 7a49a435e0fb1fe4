#pragma once

#include <cstdint>

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

}  // namespace zonelb::policy
