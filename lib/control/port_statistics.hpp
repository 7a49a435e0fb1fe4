#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace zonelb::control {

/// DPDK's extended statistics of a device, by name.
std::vector<std::pair<std::string, std::uint64_t>> port_statistics(std::uint16_t device);

}  // namespace zonelb::control
