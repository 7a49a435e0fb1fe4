#include "policy/maglev.hpp"

#include <algorithm>

namespace zonelb::policy {
namespace {

constexpr std::uint16_t unclaimed = 0xffff;

/// A contender's own order of preference over the slots, and how far it has got.
class Claimant {
 public:
  Claimant(const Contender& contender, std::uint32_t size)
      : member_(contender.member),
        next_(static_cast<std::uint32_t>(contender.name_hash) % size),
        skip_(size > 1 ? static_cast<std::uint32_t>(contender.name_hash >> 32) % (size - 1) + 1 : 0) {}

  void claim(std::span<std::uint16_t> slots) {
    const auto size = static_cast<std::uint32_t>(slots.size());
    while (slots[next_] != unclaimed) advance(size);
    slots[next_] = member_;
    advance(size);
  }

 private:
  void advance(std::uint32_t size) {
    next_ += skip_;
    if (next_ >= size) next_ -= size;
  }

  std::uint16_t member_;
  std::uint32_t next_;
  std::uint32_t skip_;
};

/// Those that get slots, in an order that their names alone decide.
std::vector<Contender> in_order(std::span<const Contender> contenders) {
  std::vector<Contender> result(contenders.begin(), contenders.end());
  if (std::erase_if(result, [](const Contender& c) { return c.weight == 0; }) == contenders.size()) {
    result.assign(contenders.begin(), contenders.end());
    for (auto& contender : result) contender.weight = 1;
  }
  std::ranges::sort(result, {}, [](const Contender& c) { return std::pair(c.name_hash, c.member); });
  return result;
}

/// Whose turn it is, slot by slot. In each round the heaviest has one turn; another one has its k-th turn in
/// the round by which k - 1/2 turns are due to its weight. Found by sorting all turns into their rounds:
/// going through rounds in which hardly anybody has a turn would take too long.
std::vector<std::uint16_t> turns(std::span<const Contender> contenders, std::uint32_t size) {
  const std::uint64_t heaviest = std::ranges::max(contenders, {}, &Contender::weight).weight;
  const auto turns_of = [heaviest](const Contender& contender, std::uint64_t rounds) {
    return (2 * contender.weight * rounds + heaviest) / (2 * heaviest);
  };
  const auto turns_in = [&](std::uint64_t rounds) {
    std::uint64_t total = 0;
    for (const auto& contender : contenders) total += turns_of(contender, rounds);
    return total;
  };
  // As many rounds as fill the table: the heaviest alone needs `size`.
  std::uint64_t too_few = 0;
  std::uint64_t rounds = size;
  while (too_few + 1 < rounds) {
    const auto middle = (too_few + rounds) / 2;
    (turns_in(middle) < size ? too_few : rounds) = middle;
  }

  const auto each_turn = [&](auto&& visit) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const auto weight = contenders[i].weight;
      const auto count = turns_of(contenders[i], rounds);
      // Round (2k - 1) × heaviest / (2 × weight), rounded up: stepped through without dividing.
      auto round = heaviest / (2 * weight);
      auto rest = heaviest % (2 * weight);
      const auto step = heaviest / weight;
      const auto step_rest = 2 * (heaviest % weight);
      for (std::uint64_t k = 0; k < count; ++k) {
        visit(rest == 0 ? round - 1 : round, static_cast<std::uint16_t>(i));
        round += step;
        rest += step_rest;
        if (rest < 2 * weight) continue;
        rest -= 2 * weight;
        ++round;
      }
    }
  };
  std::vector<std::uint32_t> begin(rounds + 1);
  each_turn([&](std::uint64_t round, std::uint16_t) { ++begin[round + 1]; });
  for (std::size_t round = 0; round < rounds; ++round) begin[round + 1] += begin[round];
  std::vector<std::uint16_t> order(begin.back());
  each_turn([&](std::uint64_t round, std::uint16_t contender) { order[begin[round]++] = contender; });
  order.resize(size);
  return order;
}

}  // namespace

MaglevTable::MaglevTable(std::span<const Contender> contenders, std::uint32_t size)
    : slots_(size, unclaimed) {
  const auto claiming = in_order(contenders);
  std::vector<Claimant> claimants;
  claimants.reserve(claiming.size());
  for (const auto& contender : claiming) claimants.emplace_back(contender, size);
  for (const auto turn : turns(claiming, size)) claimants[turn].claim(slots_);
}

}  // namespace zonelb::policy
