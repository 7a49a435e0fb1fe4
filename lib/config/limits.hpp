#pragma once

#include "config/config.hpp"

namespace zonelb::config {

struct DurationRange {
  Duration low;
  Duration high;
  [[nodiscard]] bool contains(Duration value) const { return low <= value && value <= high; }
};

/// semantics.md section 8; the relaxed ones are those of --relaxed-limits.
inline constexpr DurationRange check_interval_range{seconds(1), seconds(300)};
inline constexpr DurationRange relaxed_check_interval_range{Duration(10), seconds(300)};
/// semantics.md section 4. Above the default only with PER_SESSION and less than a 5-tuple.
inline constexpr DurationRange idle_timeout_range{seconds(600), seconds(57600)};
inline constexpr DurationRange relaxed_idle_timeout_range{seconds(1), seconds(57600)};
/// semantics.md section 5.
inline constexpr DurationRange draining_timeout_range{seconds(0), seconds(3600)};
/// semantics.md section 8: request and response of a probe, in bytes.
inline constexpr std::size_t longest_probe_text = 1024;
/// Positions in a service are 16 bits wide; a few are left for backends that have been removed and still
/// drain.
inline constexpr std::size_t most_backends_of_a_service = 65'000;
/// Tracked connections remember their client's zone in ten bits.
inline constexpr std::size_t most_zones = 1023;
inline constexpr std::size_t most_ports = 16;
/// RFC 791 and RFC 8200: what every link of the family must carry.
inline constexpr std::uint16_t least_mtu_v4 = 576;
inline constexpr std::uint16_t least_mtu_v6 = 1280;
inline constexpr std::uint16_t most_mtu = 9600;

}  // namespace zonelb::config
