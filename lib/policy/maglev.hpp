#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace zonelb::policy {

/// One member's claim on a table.
struct Contender {
  /// Position in the service's member list; what pick() returns.
  std::uint16_t member = 0;
  std::string_view name;
  std::uint32_t weight = 1;
};

/// Weighted Maglev table (Eisenbud et al., NSDI 2016, section 3.4): hash → member. Which member a hash meets
/// depends on the names and weights of the contenders and on the table's size, on nothing else.
class MaglevTable {
 public:
  /// Contenders of weight 0 get no slot unless all have weight 0; then all count alike. At least one
  /// contender.
  MaglevTable(std::span<const Contender> contenders, std::uint32_t size);

  [[nodiscard]] std::uint16_t pick(std::uint64_t hash) const { return slots_[index(hash, slots_.size())]; }
  [[nodiscard]] std::span<const std::uint16_t> slots() const { return slots_; }

  /// Slot of a hash in a table of `size` slots, from the hash's upper half.
  static std::uint64_t index(std::uint64_t hash, std::uint64_t size) { return ((hash >> 32) * size) >> 32; }

  /// A prime of at least a hundred slots per member. It is chosen from all members of a service, eligible or
  /// not, so that a flip of health does not change the size and with it every choice.
  static std::uint32_t size_for(std::size_t members);

 private:
  std::vector<std::uint16_t> slots_;
};

}  // namespace zonelb::policy
