#include <algorithm>

#include "catch.hpp"
#include "conntrack/table.hpp"
#include "table_entries.hpp"

using namespace zonelb::conntrack;

TEMPLATE_TEST_CASE("a full table refuses rather than touch confirmed entries", "", Table4, Table6) {
  TestType table(400, 1);
  fill(table, confirmed, 4000);
  const auto before = count(table);
  CHECK(before == table.capacity());
  const auto refused = table.insert(key(5000), table.hash(key(5000)), confirmed, 2, patience);
  CHECK(refused.outcome == TestType::Outcome::full);
  CHECK_FALSE(refused.evicted.has_value());
  CHECK(count(table) == before);
}

TEMPLATE_TEST_CASE("a full table gives up its oldest unconfirmed entry", "", Table4, Table6) {
  TestType table(8, 1);
  for (std::uint64_t i = 0; count(table) < 8; ++i) {
    const Entry entry{static_cast<std::uint32_t>(count(table)), 0, 0,
                      count(table) % 2 == 0 ? State::syn : State::confirmed};
    table.insert(key(i), table.hash(key(i)), entry, static_cast<std::uint32_t>(100 - count(table)), patience);
  }
  const auto inserted = table.insert(key(1000), table.hash(key(1000)), confirmed, 200, patience);
  REQUIRE(inserted.outcome == TestType::Outcome::inserted);
  REQUIRE(inserted.evicted.has_value());
  CHECK(inserted.evicted->target == 6);
  CHECK(count(table) == 8);
}

namespace {

/// A full table of eight slots and a key that is not in it.
template <class Table>
struct FullTable {
  explicit FullTable(State state) {
    for (std::uint64_t i = 1; count(table) < table.capacity(); ++i) {
      Patience fresh;
      table.insert(key(i), table.hash(key(i)), Entry{static_cast<std::uint32_t>(i), 0, 0, state},
                   static_cast<std::uint32_t>(i), fresh);
      newcomer = key(i + 1);
    }
  }
  auto insert(const FlowKey& one) {
    return table.insert_into_full(one, table.hash(one), table.home(table.hash(one)), confirmed, 100, evicted);
  }

  Table table{8, 1};
  FlowKey newcomer;
  Entry evicted{.state = State::removed};
};

}  // namespace

TEMPLATE_TEST_CASE("a newcomer to a full table takes the place of its oldest unconfirmed neighbour", "",
                   Table4, Table6) {
  using Outcome = typename TestType::Outcome;
  FullTable<TestType> full(State::syn);
  std::uint32_t oldest = ~0U;
  auto* const home = full.table.home(full.table.hash(full.newcomer));
  full.table.for_each(0, [&](const FlowKey& one, const Entry& entry, std::uint32_t) {
    const auto distance = full.table.find(one, full.table.hash(one)).place.line() - home;
    const auto bucket = static_cast<std::ptrdiff_t>(TestType::lines_per_bucket);
    const auto start = (reinterpret_cast<std::uintptr_t>(home) / sizeof *home) % TestType::lines_per_bucket;
    const auto at = distance + static_cast<std::ptrdiff_t>(start);
    if (at >= 0 && at < bucket) oldest = std::min(oldest, entry.target);
  });
  REQUIRE(full.insert(full.newcomer) == Outcome::inserted);
  CHECK(full.evicted == Entry{oldest, 0, 0, State::syn});
  CHECK(full.table.find(full.newcomer, full.table.hash(full.newcomer)).entry() == confirmed);
  CHECK_FALSE(full.table.find(key(oldest), full.table.hash(key(oldest))));
  CHECK(count(full.table) == full.table.capacity());
}

TEMPLATE_TEST_CASE("a newcomer to a full table of confirmed entries leaves all in place", "", Table4,
                   Table6) {
  using Outcome = typename TestType::Outcome;
  FullTable<TestType> full(State::confirmed);
  CHECK(full.insert(full.newcomer) == Outcome::full);
  CHECK(full.evicted.state == State::removed);
  CHECK_FALSE(full.table.find(full.newcomer, full.table.hash(full.newcomer)));
  // A key that is there, and one whose bucket has a place that is free or about to be.
  CHECK(full.insert(key(1)) == Outcome::existed);
  const auto slot = full.table.find(key(1), full.table.hash(key(1)));
  slot.place.entry().store(slot.packed.with({.state = State::removed}).word());
  const auto moved = [&] { return full.insert(full.newcomer) == Outcome::existed; };
  CHECK(moved());
  slot.place.tag().store(Tag(slot.place.tag().load()).emptied().word());
  CHECK(moved());
  CHECK(full.evicted.state == State::removed);
  CHECK(count(full.table) == full.table.capacity() - 1);
}

TEMPLATE_TEST_CASE("a table known to be full lets unconfirmed entries go, wherever they are", "", Table4,
                   Table6) {
  TestType table(8, 1);
  Patience exhausted;
  for (std::uint64_t i = 0; i < 8; ++i)
    table.insert(key(i), table.hash(key(i)), i == 0 ? Entry{7, 0, 0, State::syn} : confirmed, 1, exhausted);
  REQUIRE(count(table) == 8);
  while (exhausted.worth_it(1)) exhausted.failed();
  const auto inserted = table.insert(key(9), table.hash(key(9)), confirmed, 1, exhausted);
  CHECK(inserted.outcome == TestType::Outcome::inserted);
  REQUIRE(inserted.evicted.has_value());
  CHECK(inserted.evicted->target == 7);
  CHECK(table.find(key(9), table.hash(key(9))));
  CHECK(table.insert(key(10), table.hash(key(10)), confirmed, 1, exhausted).outcome ==
        TestType::Outcome::full);
}

TEST_CASE("patience with a full table runs out, and comes back in the next second") {
  Patience fresh;
  const auto tries_in = [&](std::uint32_t second) {
    unsigned tries = 0;
    for (int i = 0; i < 10'000; ++i) {
      if (!fresh.worth_it(second)) continue;
      ++tries;
      fresh.failed();
    }
    return tries;
  };
  const auto tries = tries_in(1);
  CHECK(tries > 8);
  CHECK(tries < 20);
  CHECK(tries_in(2) == tries);
  while (!fresh.worth_it(2)) {
  }
  for (int i = 0; i < 12; ++i) fresh.succeeded();
  for (int i = 0; i < 4; ++i) {
    CHECK(fresh.worth_it(2));
    fresh.failed();
  }
}
