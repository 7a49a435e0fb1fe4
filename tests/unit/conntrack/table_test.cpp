#include "conntrack/table.hpp"

#include <set>
#include <type_traits>
#include <vector>

#include "catch.hpp"
#include "table_entries.hpp"

using namespace zonelb::conntrack;

namespace {

/// Of TCP to 10.0.0.80, or 2001:db8::50, from a client of 10.0.0.0/8 or 2001:db8:2::/96.
template <class T>
FlowKey flow_from(zonelb::net::be32 client, zonelb::net::be16 port, zonelb::net::be16 vip_port) {
  const zonelb::net::be32 vip = 0x0a000050;
  const std::uint64_t ports = port.raw() | std::uint64_t{vip_port.raw()} << 16 | std::uint64_t{6} << 32;
  if constexpr (std::is_same_v<T, Table4>)
    return {{client.raw() | std::uint64_t{vip.raw()} << 32, 0, 0, 0}, ports};
  constexpr std::uint64_t prefix = 0xb80d0120, network = prefix | std::uint64_t{0x0200} << 32;
  return {{network, std::uint64_t{client.raw()} << 32, prefix, std::uint64_t{0x50} << 56}, ports};
}

template <class T>
bool ends_at_home(const T& table, std::uint64_t number) {
  const auto hash = table.hash(key(number));
  return table.prefetch_rest(table.home(hash), hash).line == nullptr;
}

}  // namespace

TEMPLATE_TEST_CASE("what is inserted is found, what is not is not", "", Table4, Table6) {
  TestType table(10000, 1);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Entry entry{static_cast<std::uint32_t>(i), 7, 3, State::syn};
    const auto inserted = table.insert(key(i), table.hash(key(i)), entry, 1, patience);
    REQUIRE(inserted.outcome == TestType::Outcome::inserted);
    REQUIRE(inserted.slot.entry() == entry);
  }
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const auto slot = table.find(key(i), table.hash(key(i)));
    REQUIRE(slot);
    REQUIRE(slot.entry().target == i);
  }
  for (std::uint64_t i = 5000; i < 10000; ++i) REQUIRE_FALSE(table.find(key(i), table.hash(key(i))));
  CHECK(count(table) == 5000);
}

TEMPLATE_TEST_CASE("each part of the key counts", "", Table4, Table6) {
  TestType table(1000, 1);
  const auto original = key(42);
  table.insert(original, table.hash(original), confirmed, 1, patience);
  const unsigned words = std::is_same_v<TestType, Table4> ? 1 : 4;
  for (unsigned word = 0; word < words; ++word) {
    auto other = original;
    other.addresses[word] ^= 1ULL << 63;
    CHECK_FALSE(table.find(other, table.hash(original)));
  }
  for (const unsigned bit : {0U, 16U, 32U}) {
    auto other = original;
    other.ports_protocol ^= 1ULL << bit;
    CHECK_FALSE(table.find(other, table.hash(original)));
  }
}

TEMPLATE_TEST_CASE("a second insert gets the first one's entry", "", Table4, Table6) {
  TestType table(1000, 1);
  table.insert(key(1), table.hash(key(1)), confirmed, 1, patience);
  const auto second = table.insert(key(1), table.hash(key(1)), Entry{9, 9, 9, State::syn}, 2, patience);
  CHECK(second.outcome == TestType::Outcome::existed);
  CHECK(second.slot.entry() == confirmed);
  CHECK(count(table) == 1);
}

TEMPLATE_TEST_CASE("a sweep removes what has ended, once", "", Table4, Table6) {
  TestType table(1000, 1);
  for (std::uint64_t i = 0; i < 100; ++i)
    table.insert(key(i), table.hash(key(i)), Entry{static_cast<std::uint32_t>(i), 0, 0, State::confirmed}, 10,
                 patience);
  table.touch(table.find(key(50), table.hash(key(50))), 100);

  std::vector<std::uint32_t> removed;
  const auto sweep = [&] {
    table.sweep(
        7, table.line_count(), 100, [](std::uint8_t, const Entry&, std::uint32_t idle) { return idle >= 90; },
        [&](const Entry& entry) { removed.push_back(entry.target); });
  };
  sweep();
  sweep();
  CHECK(removed.size() == 99);
  CHECK(count(table) == 1);
  CHECK(table.find(key(50), table.hash(key(50))));
}

TEMPLATE_TEST_CASE("replacing loses against a change in between and tells what stands there", "", Table4,
                   Table6) {
  TestType table(1000, 1);
  auto mine = table.insert(key(1), table.hash(key(1)), Entry{1, 0, 0, State::syn}, 1, patience).slot;
  auto theirs = mine;
  REQUIRE(TestType::replace(theirs, Entry{2, 0, 0, State::confirmed}));
  CHECK_FALSE(TestType::replace(mine, Entry{3, 0, 0, State::confirmed}));
  CHECK(mine.entry() == Entry{2, 0, 0, State::confirmed});
  CHECK(TestType::replace(mine, Entry{3, 0, 0, State::confirmed}));
  CHECK(table.find(key(1), table.hash(key(1))).entry().target == 3);
}

TEMPLATE_TEST_CASE("a holder of a slot that was used again cannot change its new owner", "", Table4, Table6) {
  TestType table(8, 1);
  auto stale = table.insert(key(1), table.hash(key(1)), confirmed, 1, patience).slot;
  table.sweep(
      0, table.line_count(), 1, [](std::uint8_t, const Entry&, std::uint32_t) { return true; },
      [](const Entry&) {});
  auto again = stale;
  CHECK_FALSE(TestType::replace(again, Entry{5, 0, 0, State::confirmed}));
  CHECK(again.entry().state == State::removed);

  std::uint64_t owner = 2;
  for (; count(table) == 0 || !table.find(key(owner), table.hash(key(owner))) ||
         table.find(key(owner), table.hash(key(owner))).place.line() != stale.place.line() ||
         table.find(key(owner), table.hash(key(owner))).place.way() != stale.place.way();
       ++owner)
    table.insert(key(owner + 1), table.hash(key(owner + 1)), confirmed, 1, patience);
  CHECK_FALSE(TestType::replace(stale, Entry{5, 0, 0, State::confirmed}));
  CHECK(stale.entry().state == State::removed);
  CHECK(table.find(key(owner), table.hash(key(owner))).entry() == confirmed);
}

TEMPLATE_TEST_CASE("a table takes four in five of what it has room for, and finds it all again", "", Table4,
                   Table6) {
  TestType table(200'000, 1);
  Patience fresh;
  const auto four_in_five = table.capacity() * 4 / 5;
  for (std::uint64_t i = 0; i < four_in_five; ++i) {
    const Entry entry{static_cast<std::uint32_t>(i), 0, 0, State::confirmed};
    REQUIRE(table.insert(key(i), table.hash(key(i)), entry, 1, fresh).outcome == TestType::Outcome::inserted);
  }
  CHECK(count(table) == four_in_five);
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < four_in_five; ++i) {
    const auto slot = table.find(key(i), table.hash(key(i)));
    found += slot && slot.entry().target == i ? 1 : 0;
  }
  CHECK(found == four_in_five);
}

TEMPLATE_TEST_CASE("a table takes four in five of connections in a row, whatever its seed", "", Table4,
                   Table6) {
  struct Row {
    const char* of;
    std::uint32_t client_step;
    std::uint16_t port_step, vip_port_step;
  };
  const auto row = GENERATE(
      Row{"clients, their port the same", 1, 0, 0}, Row{"networks of clients", 256, 0, 0},
      Row{"ports of one client", 0, 1, 0}, Row{"every other port", 0, 2, 0},
      Row{"clients that take one port after the other", 1, 1, 0}, Row{"ports that a scan tries", 0, 0, 1});
  INFO(row.of);
  std::uint64_t not_made = 0, evicted = 0;
  for (std::uint64_t seed = 1; seed <= 64; ++seed) {
    TestType table(8192, seed);
    Patience fresh;
    const auto four_in_five = static_cast<std::uint32_t>(table.capacity() * 4 / 5);
    for (std::uint32_t i = 0; i < four_in_five; ++i) {
      const auto flow = flow_from<TestType>(0x0a030001 + i * row.client_step,
                                            static_cast<std::uint16_t>(1024 + i * row.port_step),
                                            static_cast<std::uint16_t>(80 + i * row.vip_port_step));
      const auto insertion = table.insert(flow, table.hash(flow), {1, 2, 3, State::syn}, 1, fresh);
      not_made += insertion.outcome != TestType::Outcome::inserted ? 1 : 0;
      evicted += insertion.evicted ? 1 : 0;
    }
  }
  CHECK(not_made == 0);
  CHECK(evicted == 0);
}

TEMPLATE_TEST_CASE("after all entries have gone, a look-up ends at a key's home", "", Table4, Table6) {
  TestType table(4000, 1);
  fill(table, confirmed, 4000);
  const auto elsewhere = [&] {
    std::uint64_t homes = 0;
    for (std::uint64_t i = 0; i < 4000; ++i) homes += ends_at_home(table, i) ? 0 : 1;
    return homes;
  };
  CHECK(elsewhere() > 0);
  table.sweep(
      0, table.line_count(), 1, [](std::uint8_t, const Entry&, std::uint32_t) { return true; },
      [](const Entry&) {});
  CHECK(count(table) == 0);
  CHECK(elsewhere() == 0);
}

TEMPLATE_TEST_CASE("a key is at home, or its home says that it may be elsewhere", "", Table4, Table6) {
  TestType table(10'000, 1);
  Patience fresh;
  for (std::uint64_t i = 0; i < 7000; ++i) table.insert(key(i), table.hash(key(i)), confirmed, 1, fresh);
  std::uint64_t at_home = 0;
  for (std::uint64_t i = 0; i < 7000; ++i) {
    const auto hash = table.hash(key(i));
    const auto here = table.find_in_line(key(i), table.home(hash));
    const bool elsewhere = !ends_at_home(table, i) && table.find(key(i), hash);
    REQUIRE((here || elsewhere));
    at_home += here ? 1 : 0;
  }
  CHECK(at_home > 4000);
}

TEMPLATE_TEST_CASE("a key that has moved since its home was asked is found", "", Table4, Table6) {
  constexpr std::uint64_t early = 7000, all = 8500;
  TestType table(10'000, 1);
  fill(table, confirmed, early);
  std::vector<typename TestType::Rest> rests;
  for (std::uint64_t i = 0; i < early; ++i) {
    const auto hash = table.hash(key(i));
    rests.push_back(table.prefetch_rest(table.home(hash), hash));
  }
  fill(table, confirmed, all);
  std::uint64_t moved = 0, misled = 0;
  for (std::uint64_t i = 0; i < early; ++i) {
    const auto hash = table.hash(key(i));
    if (rests[i].line == nullptr || TestType::find_in_line(key(i), table.home(hash))) continue;
    const auto slot = table.find_rest(key(i), hash, rests[i]);
    REQUIRE(slot);
    moved += slot.place.line() != rests[i].line ? 1 : 0;
  }
  CHECK(moved > 10);
  for (std::uint64_t i = 20'000; i < 30'000; ++i) {
    const auto hash = table.hash(key(i));
    const auto rest = table.prefetch_rest(table.home(hash), hash);
    if (rest.line == nullptr) continue;
    CHECK_FALSE(table.find_rest(key(i), hash, rest));
    ++misled;
  }
  CHECK(misled > 10);
}

TEMPLATE_TEST_CASE("a home takes keys that are new until it is full", "", Table4, Table6) {
  TestType table(1000, 1);
  const auto hash = table.hash(key(1));
  auto* const home = table.home(hash);
  std::uint64_t next = 1;
  while (!TestType::is_full(home)) {
    while (table.home(table.hash(key(next))) != home) ++next;
    const auto hash_of_it = table.hash(key(next));
    REQUIRE(table.insert_at_home(key(next), hash_of_it, home, confirmed, 1));
    CHECK(TestType::find_in_line(key(next), home));
    CHECK_FALSE(table.insert_at_home(key(next), hash_of_it, home, confirmed, 1));
    ++next;
  }
  const auto entries = count(table);
  CHECK(entries == table.capacity() / table.line_count());
  while (table.home(table.hash(key(next))) != home) ++next;
  CHECK_FALSE(table.insert_at_home(key(next), table.hash(key(next)), home, confirmed, 1));
  CHECK(count(table) == entries);
  CHECK(table.insert(key(next), table.hash(key(next)), confirmed, 1, patience).outcome ==
        TestType::Outcome::inserted);
}

TEMPLATE_TEST_CASE("a key whose home is full goes elsewhere while anything is free there", "", Table4,
                   Table6) {
  TestType table(8, 1);
  const auto hash = table.hash(key(1));
  auto* const home = table.home(hash);
  std::uint64_t elsewhere = 0;
  for (std::uint64_t i = 1; elsewhere < 8; ++i) {
    const auto hash_of_it = table.hash(key(i));
    if (table.home(hash_of_it) != home) continue;
    if (table.insert_at_home(key(i), hash_of_it, home, confirmed, 1)) continue;
    const auto before = count(table);
    using Outcome = typename TestType::Outcome;
    typename TestType::Slot slot;
    const auto outcome = table.insert_elsewhere(key(i), hash_of_it, home, confirmed, 1, slot);
    REQUIRE(outcome == (before < table.capacity() ? Outcome::inserted : Outcome::full));
    ++elsewhere;
    if (!slot) continue;
    CHECK(slot.place.line() != home);
    CHECK(table.find(key(i), hash_of_it));
    const auto again = table.insert_elsewhere(key(i), hash_of_it, home, confirmed, 1, slot);
    CHECK(again == (before + 1 < table.capacity() ? Outcome::existed : Outcome::full));
    CHECK(count(table) == before + 1);
  }
  CHECK(count(table) == table.capacity());
  table.sweep(
      0, table.line_count(), 1, [](std::uint8_t, const Entry&, std::uint32_t) { return true; },
      [](const Entry&) {});
  CHECK(table.prefetch_rest(home, hash).line == nullptr);
}

TEMPLATE_TEST_CASE("a look-up in vain mostly ends at home, in a table that is nearly full too", "", Table4,
                   Table6) {
  TestType table(10'000, 1);
  fill(table, confirmed, 9000);
  std::uint64_t ended = 0;
  for (std::uint64_t i = 20'000; i < 30'000; ++i) ended += ends_at_home(table, i) ? 1 : 0;
  CHECK(ended > 9000);
}

TEMPLATE_TEST_CASE("a table makes room around entries whose workers have lost their cores", "", Table4,
                   Table6) {
  TestType table(20'000, 1);
  Patience fresh;
  const auto four_in_five = table.capacity() * 4 / 5;
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < four_in_five; ++i) {
    const auto insertion = table.insert(key(i), table.hash(key(i)), confirmed, 1, fresh);
    if (insertion.outcome != TestType::Outcome::inserted) ++refused;
    // One in eight was about to be moved, one in eight to be removed.
    const auto& slot = insertion.slot;
    if (!slot || i % 8 > 1) continue;
    auto gone = confirmed;
    gone.state = State::removed;
    const auto left = i % 8 == 0 ? slot.packed.freeze() : slot.packed.with(gone);
    slot.place.entry().store(left.word(), std::memory_order_relaxed);
  }
  CHECK(refused == 0);
}

TEST_CASE("a newcomer does not wait for ever for another that has lost its core") {
  for (const unsigned stuck : {0U, 1U}) {
    Table4 table(1000, 1);
    auto& line = *table.insert(key(1), table.hash(key(1)), confirmed, 1, patience).slot.place.line();
    table.sweep(
        0, table.line_count(), 1, [](std::uint8_t, const Entry&, std::uint32_t) { return true; },
        [](const Entry&) {});
    const Tag announced(key(1).ports_protocol, Tag::Status::tentative, 7);
    line.tag[stuck].store(announced.word(), std::memory_order_relaxed);
    const auto insert = [&] {
      return table.insert(key(1), table.hash(key(1)), confirmed, 1, patience).outcome;
    };
    CHECK(insert() == Table4::Outcome::full);
    CHECK(count(table) == 0);
    CHECK(line.tag[stuck].load(std::memory_order_relaxed) == announced.word());
    line.tag[stuck].store(announced.emptied().word(), std::memory_order_relaxed);
    CHECK(insert() == Table4::Outcome::inserted);
  }
}
