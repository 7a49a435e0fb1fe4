#include "dataplane/address_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace zonelb::dataplane {

AddressTable::AddressTable(std::span<const Item> items)
    : mask_(std::bit_ceil(items.size() * 4 + 1) - 1), slots_(mask_ + 1) {
  for (const Item& item : items) {
    const auto key = words(item.address);
    auto at = index(key);
    while (slots_[at].used) at = (at + 1) & mask_;
    slots_[at] = {{key.first, key.second},
                  static_cast<std::uint32_t>(claims_.size()),
                  static_cast<std::uint16_t>(item.claims.size()),
                  true,
                  item.ports};
    const auto begin = claims_.insert(claims_.end(), item.claims.begin(), item.claims.end());
    // rule() takes the first that fits: ports that were named before "all ports".
    std::stable_sort(begin, claims_.end(), [](const PortClaim& a, const PortClaim& b) {
      return a.last - a.first < b.last - b.first;
    });
  }
}

std::pair<std::uint64_t, std::uint64_t> AddressTable::words(const net::IpAddress& address) {
  std::uint64_t both[2] = {0, 0};
  std::memcpy(both, address.bytes().data(), address.bits() / 8);
  return {both[0], both[1]};
}

}  // namespace zonelb::dataplane
