#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/member_name.hpp"

namespace zonelb::policy {

/// One member's claim on a table.
struct Contender {
  Contender(std::uint16_t position, std::uint64_t hash_of_name, std::uint64_t share)
      : name_hash(hash_of_name), weight(share), member(position) {}

  std::uint64_t name_hash;
  std::uint64_t weight;
  /// Position in the service's member list; what pick() returns.
  std::uint16_t member;
  friend bool operator==(const Contender&, const Contender&) = default;
};

/// Weighted Maglev table (Eisenbud et al., NSDI 2016, section 3.4): hash → member. Which member a hash meets
/// depends on the names and weights of the contenders and on the table's size, on nothing else.
class MaglevTable {
 public:
  /// Contenders of weight 0 get no slot unless all have weight 0; then all count alike. At least one
  /// contender. The time it takes grows with `size`, whatever the weights.
  MaglevTable(std::span<const Contender> contenders, std::uint32_t size);

  [[nodiscard]] std::uint16_t pick(std::uint64_t hash) const { return slots_[index(hash, slots_.size())]; }
  [[nodiscard]] std::span<const std::uint16_t> slots() const { return slots_; }

  /// Slot of a hash in a table of `size` slots, from the hash's upper half.
  static std::uint64_t index(std::uint64_t hash, std::uint64_t size) { return ((hash >> 32) * size) >> 32; }

 private:
  std::vector<std::uint16_t> slots_;
};

}  // namespace zonelb::policy
