#include "policy/maglev.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>

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
    result.emplace_back(static_cast<std::uint16_t>(i), name_hash(names[i]), 1);
  return result;
}

std::map<std::uint16_t, std::size_t> slots_by_member(const MaglevTable& table) {
  std::map<std::uint16_t, std::size_t> counts;
  for (const auto member : table.slots()) ++counts[member];
  return counts;
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
    CHECK(std::abs(static_cast<double>(counts.at(i)) - 4093.0 * static_cast<double>(all[i].weight) / 8) <= 2);
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

TEST_CASE("extreme weights: everybody gets the slots due, within one, and the heaviest the small rest") {
  const auto names = numbered(150);
  auto all = contenders(names);
  all[17].weight = 1'000'000;
  all[18].weight = 500'000;
  const auto counts = slots_by_member(MaglevTable(all, 16381));
  CHECK(counts.size() == 2);
  CHECK(std::abs(static_cast<double>(counts.at(17)) - 2.0 * 16381 / 3) <= 1);
  for (auto& contender : all) contender.weight = contender.weight == 1 ? 100'000 : 100 * contender.weight;
  const auto milder = slots_by_member(MaglevTable(all, 16381));
  const double total = 148 * 1e5 + 1.5e8;
  CHECK(milder.size() == 150);
  for (const auto& contender : all) {
    const double due = 16381.0 * static_cast<double>(contender.weight) / total;
    CHECK(std::abs(static_cast<double>(milder.at(contender.member)) - due) <= std::max(1.0, due / 100));
  }
}

TEST_CASE("a table of one slot") {
  const std::vector<Contender> one{{7, name_hash("only"), 3}};
  CHECK(MaglevTable(one, 1).pick(~0ULL) == 7);
}

TEST_CASE("the index spreads over the whole table") {
  CHECK(MaglevTable::index(0, 1021) == 0);
  CHECK(MaglevTable::index(~0ULL, 1021) == 1020);
}
