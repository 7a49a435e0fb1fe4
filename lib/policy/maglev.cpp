#include "policy/maglev.hpp"

#include <algorithm>
#include <array>
#include <xxhash.h>

namespace zonelb::policy {
namespace {

constexpr std::uint16_t unclaimed = 0xffff;

/// A contender's own order of preference over the slots, and how far it has got.
struct Claimant {
  std::uint16_t member;
  std::uint32_t next;
  std::uint32_t skip;
  std::uint64_t weight;
  std::uint64_t credit = 0;

  Claimant(const Contender& contender, std::uint64_t effective_weight, std::uint32_t size)
      : member(contender.member), weight(effective_weight) {
    const auto hash = XXH3_64bits(contender.name.data(), contender.name.size());
    next = static_cast<std::uint32_t>(hash) % size;
    skip = static_cast<std::uint32_t>(hash >> 32) % (size - 1) + 1;
  }

  void claim(std::vector<std::uint16_t>& slots) {
    const auto size = static_cast<std::uint32_t>(slots.size());
    while (slots[next] != unclaimed) advance(size);
    slots[next] = member;
    advance(size);
  }

 private:
  void advance(std::uint32_t size) {
    next += skip;
    if (next >= size) next -= size;
  }
};

std::vector<Claimant> claimants(std::span<const Contender> contenders, std::uint32_t size) {
  std::vector<Contender> by_name(contenders.begin(), contenders.end());
  std::ranges::sort(by_name, {}, &Contender::name);
  const bool all_zero = std::ranges::all_of(by_name, [](const Contender& c) { return c.weight == 0; });
  std::vector<Claimant> result;
  result.reserve(by_name.size());
  for (const Contender& contender : by_name)
    if (all_zero || contender.weight > 0)
      result.emplace_back(contender, all_zero ? 1 : contender.weight, size);
  return result;
}

}  // namespace

MaglevTable::MaglevTable(std::span<const Contender> contenders, std::uint32_t size)
    : slots_(size, unclaimed) {
  auto claiming = claimants(contenders, size);
  const std::uint64_t heaviest = std::ranges::max_element(claiming, {}, &Claimant::weight)->weight;
  // In each round the heaviest claims one slot and every other one as many as its credit has grown to.
  for (std::uint32_t claimed = 0; claimed < size;) {
    for (Claimant& claimant : claiming) {
      claimant.credit += claimant.weight;
      if (claimant.credit < heaviest) continue;
      claimant.credit -= heaviest;
      claimant.claim(slots_);
      if (++claimed == size) break;
    }
  }
}

std::uint32_t MaglevTable::size_for(std::size_t members) {
  static constexpr std::array<std::uint32_t, 7> primes{1021, 4093, 16381, 65521, 262139, 1048573, 8388593};
  for (const std::uint32_t prime : primes)
    if (prime >= members * 100) return prime;
  return primes.back();
}

}  // namespace zonelb::policy
