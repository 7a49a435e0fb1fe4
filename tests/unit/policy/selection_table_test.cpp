#include "policy/selection_table.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include <fmt/format.h>

#include "catch.hpp"

using namespace zonelb::policy;

namespace {

std::vector<Contender> contenders(std::size_t count) {
  std::vector<Contender> result;
  for (std::size_t i = 0; i < count; ++i)
    result.emplace_back(static_cast<std::uint16_t>(i), name_hash(fmt::format("backend-{}", i)), 1);
  return result;
}

std::vector<Contender> without(std::vector<Contender> all, std::size_t gone) {
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(gone));
  return all;
}

/// Hashes that lie evenly, but in no step with either level's slots.
std::vector<std::uint64_t> hashes(std::size_t count) {
  std::mt19937_64 random(11);
  std::vector<std::uint64_t> result(count);
  for (auto& hash : result) hash = random();
  return result;
}

std::vector<std::uint16_t> picks(const SelectionTable& table, const std::vector<std::uint64_t>& hashes) {
  std::vector<std::uint16_t> result;
  result.reserve(hashes.size());
  for (const auto hash : hashes) result.push_back(table.pick(hash));
  return result;
}

/// Share of the hashes that met another member, though the one they met before is still there.
double collateral(std::size_t members, std::size_t gone) {
  const auto all = contenders(members);
  const auto some = hashes(100'000);
  const auto before = picks(SelectionTable(all, members, nullptr), some);
  const auto after = picks(SelectionTable(without(all, gone), members, nullptr), some);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < some.size(); ++i)
    if (before[i] != all[gone].member && before[i] != after[i]) ++moved;
  return static_cast<double>(moved) / static_cast<double>(some.size());
}

std::set<const void*> parts(const SelectionTable& table) {
  std::set<const void*> result;
  table.for_each_part([&](const auto& part) { result.insert(part.get()); });
  return result;
}

}  // namespace

TEST_CASE("a backend's loss moves few connections of the others, for each size") {
  for (const std::size_t members : {3, 10, 40, 160, 161, 650, 2500, 10'000}) {
    double worst = 0;
    for (std::size_t gone = 0; gone < std::min<std::size_t>(members, 5); ++gone)
      worst = std::max(worst, collateral(members, gone * members / 5));
    WARN(fmt::format("{} backends: the worst loss moves {:.2f} % of the others' connections", members,
                     worst * 100));
    CHECK(worst < 0.05);
  }
}

TEST_CASE("everybody is chosen as often as weights say, in one table or in groups") {
  for (const std::size_t members : {7, 150, 400, 3000}) {
    auto all = contenders(members);
    double total = 0;
    for (auto& contender : all) total += static_cast<double>(contender.weight = 1 + contender.member % 3);
    const std::size_t draws = 4'000'000;
    std::vector<std::size_t> counts(members);
    for (const auto member : picks(SelectionTable(all, members, nullptr), hashes(draws))) ++counts[member];
    for (const auto& contender : all) {
      const double due = static_cast<double>(draws) * static_cast<double>(contender.weight) / total;
      // The table's own error, and five standard deviations of the draws.
      CHECK(std::abs(static_cast<double>(counts[contender.member]) - due) < 0.04 * due + 5 * std::sqrt(due));
    }
  }
}

TEST_CASE("a large set's weights of zero: nobody's share, unless all have it") {
  auto all = contenders(1000);
  for (auto& contender : all) contender.weight = contender.member < 3 ? 1 : 0;
  std::set<std::uint16_t> chosen;
  for (const auto member : picks(SelectionTable(all, 1000, nullptr), hashes(10'000))) chosen.insert(member);
  CHECK(chosen == std::set<std::uint16_t>{0, 1, 2});
  for (auto& contender : all) contender.weight = 0;
  chosen.clear();
  for (const auto member : picks(SelectionTable(all, 1000, nullptr), hashes(100'000))) chosen.insert(member);
  CHECK(chosen.size() == 1000);
}

TEST_CASE("a flip in a large set makes the first table and one group's anew, the rest is shared") {
  const auto all = contenders(10'000);
  const SelectionTable before(all, 10'000, nullptr);
  const SelectionTable after(without(all, 1234), 10'000, &before);
  const auto kept = parts(before);
  const auto now = parts(after);
  CHECK(now.size() > 100);
  CHECK(std::ranges::count_if(now, [&](const void* part) { return !kept.contains(part); }) == 2);
}

TEST_CASE("what a table was made from does not show: only names and weights count") {
  const auto all = contenders(2000);
  const auto some = hashes(20'000);
  const SelectionTable whole(all, 2000, nullptr);
  const SelectionTable less(without(all, 77), 2000, &whole);
  const SelectionTable back(all, 2000, &less);
  CHECK(picks(less, some) == picks(SelectionTable(without(all, 77), 2000, nullptr), some));
  CHECK(picks(back, some) == picks(whole, some));
  auto heavier = all;
  heavier[5].weight = 9;
  CHECK(picks(SelectionTable(heavier, 2000, &whole), some) ==
        picks(SelectionTable(heavier, 2000, nullptr), some));
}

TEST_CASE("a table knows what it is for") {
  const auto all = contenders(200);
  const SelectionTable table(all, 200, nullptr);
  CHECK(table.is_for(all, 200));
  CHECK_FALSE(table.is_for(all, 201));
  CHECK_FALSE(table.is_for(without(all, 0), 200));
  auto heavier = all;
  heavier[0].weight = 2;
  CHECK_FALSE(table.is_for(heavier, 200));
}

TEST_CASE("memory follows the number of backends") {
  CHECK(SelectionTable(contenders(1), 1, nullptr).bytes() < 256);
  for (const std::size_t members : {10, 160, 161, 1000, 10'000}) {
    const auto bytes = SelectionTable(contenders(members), members, nullptr).bytes();
    CHECK(bytes > members * 200);
    CHECK(bytes < members * 600);
  }
}
