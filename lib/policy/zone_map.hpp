#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "policy/members.hpp"

namespace zonelb::policy {

/// What the client networks say of a client (semantics.md section 2).
struct ClientClass {
  /// no_zone: not compatible.
  ZoneId zone = no_zone;
  /// Of another region: refused unless the rule allows global access.
  bool other_region = false;
  friend bool operator==(const ClientClass&, const ClientClass&) = default;
};

/// Client address → class, the most specific prefix deciding. Prefixes are cut into disjoint ranges once, so
/// that a look-up is a binary search without a trie's pointers.
class ZoneMap {
 public:
  ZoneMap() = default;
  /// Zones that are in `known` (the names() of an earlier map) keep their numbers, which tracked connections
  /// carry; new ones come after them.
  explicit ZoneMap(const config::Config& config, std::vector<std::string> known = {std::string()});

  [[nodiscard]] ClientClass find(const net::IpAddress& client) const;
  /// The same for IPv4, quickly.
  [[nodiscard]] ClientClass find4(net::be32 client) const {
    const std::uint32_t number = client.value();
    if (starts4_.empty()) return {};
    auto at = directory4_[number >> 16];
    while (starts4_[at + 1].first <= number) ++at;
    return starts4_[at].client;
  }

  /// Zones in this map, no_zone included.
  [[nodiscard]] std::size_t zone_count() const { return names_.size(); }
  /// Name of a zone; empty for no_zone.
  [[nodiscard]] const std::string& name(ZoneId zone) const { return names_[zone]; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Nullopt: not a zone of this region.
  [[nodiscard]] std::optional<ZoneId> id(const std::string& name) const;

 private:
  struct Range {
    net::IpAddress first;
    ClientClass client;
  };

  struct Start4 {
    /// Wider than an address: the last one lies behind all of them.
    std::uint64_t first;
    ClientClass client;
  };

  void index_ipv4();

  std::vector<std::string> names_{std::string()};
  /// Sorted by (family, first address); each range ends where the next begins.
  std::vector<Range> ranges_;
  /// Those of IPv4 once more, from 0.0.0.0 on, and by the upper half of an address where to begin to look.
  std::vector<Start4> starts4_;
  std::vector<std::uint32_t> directory4_;
};

}  // namespace zonelb::policy
