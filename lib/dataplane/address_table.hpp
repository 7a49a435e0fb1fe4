#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "config/limits.hpp"
#include "conntrack/flow_key.hpp"
#include "net/address.hpp"
#include "net/mix.hpp"

namespace zonelb::dataplane {

/// A rule's claim on ports of one protocol at an address.
struct PortClaim {
  std::uint16_t first = 0;
  std::uint16_t last = 0xffff;
  std::uint8_t protocol = 0;
  std::uint32_t rule = 0;

  [[nodiscard]] bool covers(std::uint8_t of, std::uint16_t port) const {
    return protocol == of && first <= port && port <= last;
  }
};

/// Ports by position in the layout.
using PortSet = std::bitset<config::most_ports>;

/// An address that is ours: a VIP, a port's own, or both. One cache line.
struct alignas(64) LocalAddress {
  static constexpr std::uint32_t no_port = 0xffffffff;

  /// No IPv4 address, when unused.
  std::uint64_t words[2] = {~0ULL, ~0ULL};
  /// The claim on one port that comes first, which most packets are for: port and protocol as a key has them
  /// from bit 16 on, and the rule.
  std::uint32_t first_port = no_port;
  std::uint32_t first_rule = 0;
  /// All of them, in the table's claims.
  std::uint32_t first_claim = 0;
  std::uint16_t claims = 0;
  bool used = false;
  /// Where ARP and neighbour discovery are answered for it.
  PortSet ports;

  [[nodiscard]] bool is(std::pair<std::uint64_t, std::uint64_t> address) const {
    return words[0] == address.first && words[1] == address.second && used;
  }
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
  /// Null: not ours.
  [[nodiscard]] const LocalAddress* find(std::pair<std::uint64_t, std::uint64_t> words) const {
    const LocalAddress& local = slots_[index(words)];
    return local.is(words) ? &local : find_further(words);
  }

  // The same for the destination of a packet.
  [[nodiscard]] const LocalAddress* find4(const conntrack::FlowKey& key) const {
    const std::pair<std::uint64_t, std::uint64_t> words{key.addresses[0] >> 32, 0};
    const LocalAddress& local = slots_[index4(words.first)];
    if (local.words[0] == words.first) [[likely]]
      return &local;
    return find_further(words);
  }
  [[nodiscard]] const LocalAddress* find6(const conntrack::FlowKey& key) const {
    const std::pair<std::uint64_t, std::uint64_t> words{key.addresses[2], key.addresses[3]};
    const LocalAddress& local = slots_[index6(words)];
    if (local.is(words)) [[likely]]
      return &local;
    return find_further(words);
  }

  /// The most specific rule for a protocol and port (host order); no_rule when there is none.
  [[nodiscard]] std::uint32_t rule(const LocalAddress& local, std::uint8_t protocol,
                                   std::uint16_t port) const;
  /// The same for a packet.
  [[nodiscard]] std::uint32_t rule(const LocalAddress& local, const conntrack::FlowKey& key) const {
    return key.ports_protocol >> 16 == local.first_port
               ? local.first_rule
               : rule(local, key.protocol(), key.destination_port().value());
  }

 private:
  [[nodiscard]] const LocalAddress* find_further(std::pair<std::uint64_t, std::uint64_t> words) const;

  [[nodiscard]] std::uint64_t index(std::pair<std::uint64_t, std::uint64_t> words) const {
    return ipv6_ ? index6(words) : index4(words.first);
  }
  // Constants will do: these are the configuration's own addresses, so nobody else chooses the keys. One
  // multiplication spreads an IPv4 address; an IPv6 address, whose bits lie apart, is folded before.
  static constexpr std::uint64_t a = 0x9e3779b97f4a7c15, b = 0xd6e8feb86659fd93;
  [[nodiscard]] std::uint64_t index4(std::uint64_t word) const { return ((word * b) >> 32) & mask_; }
  [[nodiscard]] std::uint64_t index6(std::pair<std::uint64_t, std::uint64_t> words) const {
    return index4(net::mix(words.first ^ a, words.second ^ b));
  }

  bool ipv6_ = false;
  std::uint64_t mask_ = 0;
  std::vector<LocalAddress> slots_;
  std::vector<PortClaim> claims_;
};

}  // namespace zonelb::dataplane
