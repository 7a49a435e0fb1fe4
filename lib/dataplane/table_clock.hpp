#pragma once

#include <cstdint>

#include <rte_cycles.h>

namespace zonelb::dataplane {

/// Seconds of the connection tables' clock at `cycles` of the time stamp counter, which all cores share.
inline std::uint32_t table_seconds(std::uint64_t cycles) {
  return static_cast<std::uint32_t>(cycles / rte_get_tsc_hz());
}

}  // namespace zonelb::dataplane
