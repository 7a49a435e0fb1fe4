#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"

namespace zonelb::bench {

/// The table a run meets.
enum class TableState : std::uint8_t {
  /// As the run before left it.
  kept,
  /// Empty before each run.
  emptied,
  /// Full of connections of one packet each.
  full,
  /// Full of confirmed connections.
  confirmed
};

/// What the command line asks for.
struct Options {
  std::uint64_t flows = 16;
  unsigned new_percent = 0;
  unsigned size = 64;
  bool ipv6 = false;
  config::Forwarding forwarding = config::Forwarding::l2_dsr;
  config::ZonalAffinity zonal_affinity = config::ZonalAffinity::spill_cross_zone;
  unsigned services = 1;
  unsigned backends = 16;
  unsigned zones = 3;
  unsigned workers = 1;
  /// Per worker and run; 0: four million, or what fills four fifths of a table that is emptied before.
  std::uint64_t packets = 0;
  unsigned runs = 10;
  unsigned burst = 64;
  /// Table entries; 0: twice the flows, at least a million.
  std::uint64_t connections = 0;
  TableState table = TableState::kept;
  /// Can backends fail?
  bool health_check = false;
  bool json = false;
};

}  // namespace zonelb::bench
