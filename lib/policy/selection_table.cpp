#include "policy/selection_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

namespace zonelb::policy {
namespace {

/// Members of a group when there are as many as expected: half of this and more.
constexpr std::size_t most_in_group = 80;
/// A hundred for each of them, as a prime.
constexpr std::uint32_t group_slots = 8191;

/// The largest primes below 512, 1024 and so on: about 128 slots for each of 4, 8 … 1024 groups.
constexpr std::array<std::uint32_t, 9> first_slots{509, 1021, 2039, 4093, 8191, 16381, 32749, 65521, 131071};

/// 0: all in one table.
std::size_t groups_for(std::size_t members) {
  if (members <= SelectionTable::most_in_one) return 0;
  return std::bit_ceil((members + most_in_group - 1) / most_in_group);
}

std::uint32_t first_slots_for(std::size_t groups) {
  const auto index = static_cast<std::size_t>(std::bit_width(groups)) - 3;
  return first_slots[std::min(index, first_slots.size() - 1)];
}

/// With the weights in force: when all are 0, all count alike.
std::vector<Contender> settled(std::vector<Contender> contenders) {
  if (std::ranges::all_of(contenders, [](const Contender& c) { return c.weight == 0; }))
    for (auto& contender : contenders) contender.weight = 1;
  return contenders;
}

}  // namespace

SelectionTable::SelectionTable(std::vector<Contender> contenders, std::size_t expected,
                               const SelectionTable* earlier)
    : expected_(expected), contenders_(std::move(contenders)) {
  if (const auto groups = groups_for(expected); groups > 0) {
    deal(groups, earlier);
  } else {
    first_ = std::make_shared<const MaglevTable>(contenders_, slots_for(expected));
  }
  first_slots_ = first_->slots();
}

void SelectionTable::deal(std::size_t groups, const SelectionTable* earlier) {
  groups_.resize(groups);
  for (auto& group : groups_) group.contenders.reserve(most_in_group);
  // By other bits than those that a Maglev table goes by first.
  const auto shift = 64 - (std::bit_width(groups) - 1);
  for (const auto& contender : settled(contenders_))
    groups_[contender.name_hash >> shift].contenders.push_back(contender);

  const bool comparable = earlier != nullptr && earlier->groups_.size() == groups;
  std::vector<Contender> first;
  first.reserve(groups);
  for (std::size_t i = 0; i < groups; ++i) {
    auto& group = groups_[i];
    std::uint64_t weight = 0;
    for (const auto& contender : group.contenders) weight += contender.weight;
    first.emplace_back(static_cast<std::uint16_t>(i), name_hash(std::to_string(i)), weight);
    if (weight == 0) continue;
    if (comparable && earlier->groups_[i].contenders == group.contenders)
      group.table = earlier->groups_[i].table;
    if (!group.table) group.table = std::make_shared<const MaglevTable>(group.contenders, group_slots);
  }
  first_ = std::make_shared<const MaglevTable>(first, first_slots_for(groups));
}

bool SelectionTable::is_for(std::span<const Contender> contenders, std::size_t expected) const {
  return expected == expected_ && std::ranges::equal(contenders, contenders_);
}

std::size_t SelectionTable::bytes() const {
  std::size_t total = sizeof *this + contenders_.size() * sizeof(Contender) + groups_.size() * sizeof(Group);
  for (const auto& group : groups_) total += group.contenders.size() * sizeof(Contender);
  for_each_part([&](const Part& part) { total += sizeof *part + part->slots().size_bytes(); });
  return total;
}

std::uint32_t SelectionTable::slots_for(std::size_t members) {
  static constexpr std::array<std::uint32_t, 3> primes{1021, 4093, 16381};
  // A table of one needs no choice.
  if (members <= 1) return 1;
  for (const std::uint32_t prime : primes)
    if (prime >= members * 100) return prime;
  return primes.back();
}

}  // namespace zonelb::policy
