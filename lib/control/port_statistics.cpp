#include "control/port_statistics.hpp"

#include <rte_ethdev.h>

namespace zonelb::control {

std::vector<std::pair<std::string, std::uint64_t>> port_statistics(std::uint16_t device) {
  const int count = rte_eth_xstats_get_names(device, nullptr, 0);
  if (count <= 0) return {};
  const auto size = static_cast<unsigned>(count);
  std::vector<rte_eth_xstat_name> names(size);
  std::vector<rte_eth_xstat> values(size);
  if (rte_eth_xstats_get_names(device, names.data(), size) != count ||
      rte_eth_xstats_get(device, values.data(), size) != count)
    return {};
  std::vector<std::pair<std::string, std::uint64_t>> result;
  for (const auto& value : values) result.emplace_back(names[value.id].name, value.value);
  return result;
}

}  // namespace zonelb::control
