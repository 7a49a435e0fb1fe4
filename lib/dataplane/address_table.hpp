#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

#include "config/limits.hpp"
#include "conntrack/flow_key.hpp"
#include "net/address.hpp"

namespace zonelb::dataplane {

/// A rule's claim on ports of one protocol at an address.
struct PortClaim {
  std::uint16_t first = 0;
  std::uint16_t last = 0xffff;
  std::uint8_t protocol = 0;
  std::uint32_t rule = 0;
};

/// Ports by position in the layout.
using PortSet = std::bitset<config::most_ports>;

/// An address that is ours: a VIP, a port's own, or both.
struct LocalAddress {
  std::uint64_t words[2] = {0, 0};
  std::uint32_t first_claim = 0;
  std::uint16_t claims = 0;
  bool used = false;
  /// Where ARP and neighbour discovery are answered for it.
  PortSet ports;

  [[nodiscard]] bool is_vip() const { return claims > 0; }
};

/// Destination address → what is ours there. Made once per configuration, read by workers.
class AddressTable {
 public:
  static constexpr std::uint32_t no_rule = 0xffffffff;

  struct Item {
    net::IpAddress address;
    std::vector<PortClaim> claims;
    PortSet ports = ~PortSet();
  };

  AddressTable() : AddressTable(std::span<const Item>{}) {}
  /// One item per address, all of one family.
  explicit AddressTable(std::span<const Item> items);

  /// The words of an address as find() takes them: as they lie in a packet.
  static std::pair<std::uint64_t, std::uint64_t> words(const net::IpAddress& address);
  static std::pair<std::uint64_t, std::uint64_t> destination4(const conntrack::FlowKey& key) {
    return {key.addresses[0] >> 32, 0};
  }
  static std::pair<std::uint64_t, std::uint64_t> destination6(const conntrack::FlowKey& key) {
    return {key.addresses[2], key.addresses[3]};
  }

  /// Null: not ours.
  [[nodiscard]] const LocalAddress* find(std::pair<std::uint64_t, std::uint64_t> words) const {
    for (auto at = index(words);; at = (at + 1) & mask_) {
      const LocalAddress& local = slots_[at];
      if (local.words[0] == words.first && local.words[1] == words.second && local.used) return &local;
      if (!local.used) return nullptr;
    }
  }

  /// The most specific rule for a protocol and port (host order); no_rule when there is none.
  [[nodiscard]] std::uint32_t rule(const LocalAddress& local, std::uint8_t protocol,
                                   std::uint16_t port) const {
    for (const PortClaim& claim : std::span(claims_).subspan(local.first_claim, local.claims))
      if (claim.protocol == protocol && claim.first <= port && port <= claim.last) return claim.rule;
    return no_rule;
  }

 private:
  [[nodiscard]] std::uint64_t index(std::pair<std::uint64_t, std::uint64_t> words) const {
    // Fibonacci hashing: the configuration's own addresses, so nobody else chooses the keys.
    return (((words.first ^ words.second * 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL) >> 32) & mask_;
  }

  std::uint64_t mask_ = 0;
  std::vector<LocalAddress> slots_;
  std::vector<PortClaim> claims_;
};

}  // namespace zonelb::dataplane
