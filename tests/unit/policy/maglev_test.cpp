#include "policy/maglev.hpp"

#include <array>
#include <cmath>
#include <map>
#include <random>

#include <fmt/format.h>

#include "catch.hpp"

using namespace zonelb::policy;

namespace {

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("backend-{}", i));
  return names;
}

std::vector<Contender> contenders(const std::vector<std::string>& names) {
  std::vector<Contender> result;
  for (std::size_t i = 0; i < names.size(); ++i)
    result.push_back({static_cast<std::uint16_t>(i), names[i], 1});
  return result;
}

std::map<std::uint16_t, std::size_t> slots_by_member(const MaglevTable& table) {
  std::map<std::uint16_t, std::size_t> counts;
  for (const auto member : table.slots()) ++counts[member];
  return counts;
}

/// Share of slots that change hands among members that stay when `gone` leaves.
double collateral(const std::vector<Contender>& all, std::size_t gone, std::uint32_t size) {
  const MaglevTable before(all, size);
  auto fewer = all;
  fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(gone));
  const MaglevTable after(fewer, size);
  std::size_t moved = 0;
  for (std::uint32_t i = 0; i < size; ++i)
    if (before.slots()[i] != all[gone].member && before.slots()[i] != after.slots()[i]) ++moved;
  return static_cast<double>(moved) / size;
}

}  // namespace

TEST_CASE("equal weights share the slots within one") {
  const auto names = numbered(7);
  const auto counts = slots_by_member(MaglevTable(contenders(names), 1021));
  REQUIRE(counts.size() == 7);
  for (const auto& [member, count] : counts) CHECK((count == 1021 / 7 || count == 1021 / 7 + 1));
}

TEST_CASE("slots follow weights; weight 0 gets none while another has more") {
  const auto names = numbered(4);
  auto all = contenders(names);
  all[0].weight = 1;
  all[1].weight = 2;
  all[2].weight = 5;
  all[3].weight = 0;
  const auto counts = slots_by_member(MaglevTable(all, 4093));
  CHECK(counts.count(3) == 0);
  for (std::uint16_t i = 0; i < 3; ++i)
    CHECK(std::abs(static_cast<double>(counts.at(i)) - 4093.0 * all[i].weight / 8) <= 2);
}

TEST_CASE("all weights zero: equal shares") {
  const auto names = numbered(3);
  auto all = contenders(names);
  for (auto& contender : all) contender.weight = 0;
  const auto counts = slots_by_member(MaglevTable(all, 1021));
  for (const auto& [member, count] : counts) CHECK((count == 340 || count == 341));
}

TEST_CASE("the order of contenders does not matter") {
  const auto names = numbered(23);
  auto all = contenders(names);
  const MaglevTable before(all, 4093);
  std::shuffle(all.begin(), all.end(), std::mt19937(7));
  const MaglevTable after(all, 4093);
  CHECK(std::ranges::equal(before.slots(), after.slots()));
}

TEST_CASE("a backend's loss moves few slots of the others, for each table size") {
  for (const std::size_t members : {3, 10, 40, 160, 650}) {
    const auto names = numbered(members);
    const auto all = contenders(names);
    const auto size = MaglevTable::size_for(members);
    double worst = 0;
    for (std::size_t gone = 0; gone < std::min<std::size_t>(members, 10); ++gone)
      worst = std::max(worst, collateral(all, gone, size));
    WARN(fmt::format("{} backends, table of {}: the worst loss moves {:.2f} % of the other slots", members,
                     size, worst * 100));
    CHECK(worst < 0.05);
  }
}

TEST_CASE("the index spreads over the whole table") {
  CHECK(MaglevTable::index(0, 1021) == 0);
  CHECK(MaglevTable::index(~0ULL, 1021) == 1020);
}
