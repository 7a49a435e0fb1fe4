#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "policy/maglev.hpp"

namespace zonelb::policy {

/// Hash → member, for a set of any size (semantics.md section 3). Few contenders share one Maglev table. More
/// are dealt into groups by their names' hashes: a first table picks the group, each as likely as its
/// contenders are together, and the group's own table picks the member. So one member's coming or going costs
/// two tables of thousands of slots instead of one of a million, and still the choice is a function of names
/// and weights alone. Each member's share is right within a slot of a hundred, in groups within two.
class SelectionTable {
 public:
  /// `expected`: how many contenders the set has when all is well. Sizes follow from it, so that a flip of
  /// health changes none of them, and with it every choice. What is as in `earlier` (may be null) is taken
  /// over from there.
  SelectionTable(std::vector<Contender> contenders, std::size_t expected, const SelectionTable* earlier);

  [[nodiscard]] std::uint16_t pick(std::uint64_t hash) const {
    const auto first = first_slots_[MaglevTable::index(hash, first_slots_.size())];
    // The first table has looked at the upper half of the hash.
    return groups_.empty() ? first : groups_[first].table->pick(hash << 32);
  }
  /// Sends for the memory that pick() begins with.
  void prefetch(std::uint64_t hash) const {
    __builtin_prefetch(&first_slots_[MaglevTable::index(hash, first_slots_.size())]);
  }

  /// Would the same arguments make this very table?
  [[nodiscard]] bool is_for(std::span<const Contender> contenders, std::size_t expected) const;

  /// Memory of the table, whoever shares parts of it.
  [[nodiscard]] std::size_t bytes() const;
  /// Calls `visit` with every Maglev table in it.
  template <class Visit>
  void for_each_part(Visit&& visit) const {
    visit(first_);
    for (const auto& group : groups_)
      if (group.table) visit(group.table);
  }

  /// Slots of a table for so many members: a prime of at least a hundred for each, up to most_in_one.
  static std::uint32_t slots_for(std::size_t members);
  /// More members are dealt into groups.
  static constexpr std::size_t most_in_one = 160;

 private:
  using Part = std::shared_ptr<const MaglevTable>;
  struct Group {
    std::vector<Contender> contenders;
    /// Null: nobody to choose.
    Part table;
  };

  void deal(std::size_t groups, const SelectionTable* earlier);

  std::size_t expected_;
  std::vector<Contender> contenders_;
  Part first_;
  /// Those of first_, a pointer nearer.
  std::span<const std::uint16_t> first_slots_;
  std::vector<Group> groups_;
};

}  // namespace zonelb::policy
