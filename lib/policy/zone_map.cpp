#include "policy/zone_map.hpp"

#include <algorithm>

namespace zonelb::policy {
namespace {

/// The address after `address`; nullopt after the last one.
std::optional<net::IpAddress> next(const net::IpAddress& address) {
  auto bytes = address.bytes();
  for (std::size_t i = address.bits() / 8; i-- > 0;) {
    if (++bytes[i] == 0) continue;
    if (address.is_v6()) return net::IpAddress::v6(bytes);
    net::be32 v4;
    std::memcpy(&v4, bytes.data(), sizeof v4);
    return net::IpAddress::v4(v4);
  }
  return std::nullopt;
}

}  // namespace

ZoneMap::ZoneMap(const config::Config& config, std::vector<std::string> known) : names_(std::move(known)) {
  for (const auto& zone : config.zones)
    if (!id(zone)) names_.push_back(zone);

  struct Network {
    net::Prefix prefix;
    ClientClass client;
  };
  std::vector<Network> networks;
  for (const auto& network : config.client_networks) {
    const bool other_region = !network.region.empty() && network.region != config.region;
    const ZoneId zone = network.published || other_region ? no_zone : id(network.zone).value_or(no_zone);
    for (const auto& prefix : network.prefixes) networks.push_back({prefix, {zone, other_region}});
  }
  // An outer network comes before the ones inside it.
  std::ranges::sort(networks, [](const Network& a, const Network& b) {
    return a.prefix.address != b.prefix.address ? a.prefix.address < b.prefix.address
                                                : a.prefix.length < b.prefix.length;
  });

  const auto begin_range = [this](const net::IpAddress& first, ClientClass client) {
    if (!ranges_.empty() && ranges_.back().first == first) {
      ranges_.back().client = client;
    } else {
      ranges_.push_back({first, client});
    }
  };
  std::vector<Network> open;
  const auto close = [&] {
    const auto after = next(open.back().prefix.last());
    open.pop_back();
    if (after) begin_range(*after, open.empty() ? ClientClass{} : open.back().client);
  };
  for (const auto& network : networks) {
    while (!open.empty() && !open.back().prefix.contains(network.prefix.address)) close();
    begin_range(network.prefix.address, network.client);
    open.push_back(network);
  }
  while (!open.empty()) close();
  index_ipv4();
}

void ZoneMap::index_ipv4() {
  constexpr std::uint64_t blocks = 1U << 16;
  starts4_.push_back({0, {}});
  for (const auto& range : ranges_) {
    if (!range.first.is_v4()) continue;
    starts4_.push_back({range.first.as_v4().value(), range.client});
  }
  starts4_.push_back({std::uint64_t{1} << 32, {}});
  std::uint32_t at = 0;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    while (starts4_[at + 1].first <= block << 16) ++at;
    directory4_.push_back(at);
  }
}

ClientClass ZoneMap::find(const net::IpAddress& client) const {
  const auto after = std::ranges::upper_bound(ranges_, client, {}, &Range::first);
  if (after == ranges_.begin()) return {};
  const Range& range = *std::prev(after);
  return range.first.family() == client.family() ? range.client : ClientClass{};
}

std::optional<ZoneId> ZoneMap::id(const std::string& name) const {
  const auto found = std::ranges::find(names_.begin() + 1, names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<ZoneId>(found - names_.begin());
}

}  // namespace zonelb::policy
