#include "dataplane/address_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace zonelb::dataplane {

AddressTable::AddressTable(std::span<const Item> items)
    : ipv6_(!items.empty() && !items.front().address.is_v4()),
      mask_(std::bit_ceil(items.size() * 8 + 1) - 1),
      slots_(mask_ + 1) {
  for (const Item& item : items) {
    const auto key = words(item.address);
    auto at = index(key);
    while (slots_[at].used) at = (at + 1) & mask_;
    auto claims = item.claims;
    // rule() takes the first that fits: ports that were named before "all ports".
    std::ranges::stable_sort(claims, {}, [](const PortClaim& claim) { return claim.last - claim.first; });
    LocalAddress& local = slots_[at];
    local.words[0] = key.first;
    local.words[1] = key.second;
    local.first_claim = static_cast<std::uint32_t>(claims_.size());
    local.claims = static_cast<std::uint16_t>(claims.size());
    local.used = true;
    local.ports = item.ports;
    claims_.insert(claims_.end(), claims.begin(), claims.end());
    if (claims.empty() || claims.front().first != claims.front().last) continue;
    local.first_port = net::be16(claims.front().first).raw() | std::uint32_t{claims.front().protocol} << 16;
    local.first_rule = claims.front().rule;
  }
}

const LocalAddress* AddressTable::find_further(std::pair<std::uint64_t, std::uint64_t> words) const {
  for (auto at = index(words); slots_[at].used; at = (at + 1) & mask_)
    if (slots_[at].is(words)) return &slots_[at];
  return nullptr;
}

std::uint32_t AddressTable::rule(const LocalAddress& local, std::uint8_t protocol, std::uint16_t port) const {
  for (const PortClaim& claim : std::span(claims_).subspan(local.first_claim, local.claims))
    if (claim.covers(protocol, port)) return claim.rule;
  return no_rule;
}

std::pair<std::uint64_t, std::uint64_t> AddressTable::words(const net::IpAddress& address) {
  std::uint64_t both[2] = {0, 0};
  std::memcpy(both, address.bytes().data(), address.bits() / 8);
  return {both[0], both[1]};
}

}  // namespace zonelb::dataplane
