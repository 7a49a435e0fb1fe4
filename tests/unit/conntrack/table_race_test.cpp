#include <array>
#include <atomic>
#include <barrier>
#include <random>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "conntrack/table.hpp"

using namespace zonelb::conntrack;

namespace {

constexpr unsigned threads = 4;

thread_local Patience patience;

/// In place of a target: the key got no entry, as it met another writer of the same key that had lost its
/// core. The slower the test runs, and the more beside it, the more of these.
constexpr std::uint32_t without = 1'000'000;

template <class Insertion>
std::uint32_t target_of(const Insertion& insertion) {
  return insertion.slot ? insertion.slot.entry().target : without;
}

FlowKey key(std::uint64_t number) {
  return {{number, 1, 2, 3}, number & 0xffff};
}

template <class Work>
void run_in_threads(Work work) {
  std::vector<std::thread> running;
  for (unsigned t = 0; t < threads; ++t) running.emplace_back(work, t);
  for (auto& thread : running) thread.join();
}

/// Is every entry found by its key, and once all are gone, does every look-up end at home?
template <class Table>
void check_bookings(Table& table, std::uint64_t keys) {
  std::uint64_t lost = 0, left = 0;
  table.for_each(0, [&](const FlowKey& found, const Entry&, std::uint32_t) {
    lost += table.find(found, table.hash(found)) ? 0 : 1;
  });
  table.sweep(
      0, table.line_count(), 0, [](std::uint8_t, const Entry&, std::uint32_t) { return true; },
      [](const Entry&) {});
  for (std::uint64_t i = 0; i < keys; ++i) {
    const auto hash = table.hash(key(i));
    left += table.prefetch_rest(table.home(hash), hash).line == nullptr ? 0 : 1;
  }
  CHECK(lost == 0);
  CHECK(left == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("writers that insert one key at once end with one entry, the same for all", "", Table4,
                   Table6) {
  constexpr std::uint64_t keys = 20000;
  TestType table(keys * 4, 1);
  std::vector<std::array<std::uint32_t, threads>> got(keys);
  run_in_threads([&](unsigned thread) {
    for (std::uint64_t i = 0; i < keys; ++i) {
      const auto insertion =
          table.insert(key(i), table.hash(key(i)), Entry{thread, 0, 0, State::confirmed}, 1, patience);
      got[i][thread] = target_of(insertion);
    }
  });
  std::uint64_t entries = 0;
  table.for_each(1, [&](const FlowKey&, const Entry&, std::uint32_t) { ++entries; });
  CHECK(entries == keys);
  std::uint64_t disagreements = 0;
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < keys; ++i) {
    for (unsigned t = 0; t < threads; ++t) {
      if (got[i][t] == without) {
        ++refused;
      } else if (got[i][t] != table.find(key(i), table.hash(key(i))).entry().target) {
        ++disagreements;
      }
    }
  }
  CHECK(disagreements == 0);
  CHECK(refused < keys / 2);
}

TEMPLATE_TEST_CASE("two writers in step end with one entry for each key", "", Table4, Table6) {
  constexpr std::uint64_t keys = 20'000;
  TestType table(keys * 2, 1);
  std::array<std::atomic<std::uint64_t>, 2> at{};
  std::array<std::vector<std::uint32_t>, 2> got;
  const auto write = [&](std::uint32_t thread) {
    got[thread].resize(keys);
    for (std::uint64_t i = 0; i < keys; ++i) {
      const FlowKey mine = key(i);
      const auto hash = table.hash(mine);
      at[thread].store(i, std::memory_order_release);
      for (unsigned turns = 0; at[1 - thread].load(std::memory_order_acquire) < i; ++turns)
        if (turns > 1000) std::this_thread::yield();
      const auto insertion = table.insert(mine, hash, Entry{thread, 0, 0, State::confirmed}, 1, patience);
      got[thread][i] = target_of(insertion);
    }
    at[thread].store(keys, std::memory_order_release);
  };
  std::thread other(write, 1U);
  write(0);
  other.join();
  std::uint64_t disagreements = 0, refused = 0;
  for (std::uint64_t i = 0; i < keys; ++i) {
    const bool both = got[0][i] != without && got[1][i] != without;
    refused += both ? 0 : 1;
    disagreements += both && got[0][i] != got[1][i] ? 1 : 0;
  }
  CHECK(disagreements == 0);
  CHECK(refused < keys / 2);
  std::uint64_t entries = 0;
  table.for_each(1, [&](const FlowKey&, const Entry&, std::uint32_t) { ++entries; });
  CHECK(entries == keys);
}

TEMPLATE_TEST_CASE("one hot key, inserted and removed by all, never has two owners", "", Table4, Table6) {
  constexpr int rounds = 1000;
  TestType table(64, 1);
  std::barrier gate(threads);
  std::array<std::atomic<std::uint32_t>, threads> got{};
  std::atomic<int> disagreements{0};
  run_in_threads([&](unsigned thread) {
    for (int round = 0; round < rounds; ++round) {
      const auto insertion =
          table.insert(key(1), table.hash(key(1)), Entry{thread, 0, 0, State::confirmed}, 1, patience);
      got[thread].store(target_of(insertion), std::memory_order_relaxed);
      gate.arrive_and_wait();
      if (thread == 0) {
        const auto slot = table.find(key(1), table.hash(key(1)));
        if (!slot) ++disagreements;
        for (const auto& target : got) {
          const auto one = target.load(std::memory_order_relaxed);
          if (one != without && one != slot.entry().target) ++disagreements;
        }
        table.sweep(
            0, table.line_count(), 1, [](std::uint8_t, const Entry&, std::uint32_t) { return true; },
            [](const Entry&) {});
      }
      gate.arrive_and_wait();
    }
  });
  CHECK(disagreements == 0);
}

TEMPLATE_TEST_CASE("find, insert, replace, sweep and eviction at once never show a foreign entry", "", Table4,
                   Table6) {
  constexpr std::uint64_t keys = 600;
  constexpr int steps = 30000;
  TestType table(256, 1);
  std::atomic<std::uint64_t> foreign{0};
  std::array<std::atomic<std::int64_t>, threads> balance{};
  run_in_threads([&](unsigned thread) {
    std::mt19937_64 random(thread + 1);
    std::int64_t mine = 0;
    for (int step = 0; step < steps; ++step) {
      const auto number = random() % keys;
      const auto hash = table.hash(key(number));
      // The entry's target names the key, so that a mix-up shows.
      const Entry entry{static_cast<std::uint32_t>(number), 0, 0,
                        random() % 2 == 0 ? State::syn : State::confirmed};
      auto slot = table.find(key(number), hash);
      if (slot && slot.entry().target != number) ++foreign;
      if (slot) {
        table.touch(slot, static_cast<std::uint32_t>(step));
        TestType::replace(slot, Entry{static_cast<std::uint32_t>(number), 1, 0, State::confirmed});
        if (slot.entry().state != State::removed && slot.entry().target != number) ++foreign;
      } else {
        const auto now = static_cast<std::uint32_t>(step);
        auto outcome = TestType::Outcome::existed;
        Entry evicted{.state = State::removed};
        if (random() % 2 == 0)
          outcome = table.insert_into_full(key(number), hash, table.home(hash), entry, now, evicted);
        if (evicted.state != State::removed) --mine;
        if (outcome == TestType::Outcome::existed) {
          const auto insertion = table.insert(key(number), hash, entry, now, patience);
          outcome = insertion.outcome;
          if (outcome != TestType::Outcome::full && insertion.slot.entry().target != number) ++foreign;
          if (insertion.evicted) --mine;
        }
        if (outcome == TestType::Outcome::inserted) ++mine;
      }
      table.sweep(
          random(), 2, static_cast<std::uint32_t>(step),
          [&](std::uint8_t, const Entry&, std::uint32_t) { return random() % 8 == 0; },
          [&](const Entry&) { --mine; });
    }
    balance[thread].store(mine, std::memory_order_relaxed);
  });
  std::int64_t entries = 0;
  table.for_each(0, [&](const FlowKey&, const Entry&, std::uint32_t) { ++entries; });
  std::int64_t expected = 0;
  for (const auto& part : balance) expected += part.load(std::memory_order_relaxed);
  CHECK(foreign == 0);
  CHECK(entries == expected);
  check_bookings(table, 100'000);
}

TEMPLATE_TEST_CASE("entries are found all the time while others come, move and go around them", "", Table4,
                   Table6) {
  constexpr int steps = 30'000;
  // Few lines, so that many keys have the same home.
  const std::uint64_t slots = GENERATE(8U, 16U, 32U);
  const std::uint64_t kept = slots * 3 / 8;
  TestType table(slots, 1);
  for (std::uint64_t i = 0; i < kept; ++i)
    table.insert(key(i), table.hash(key(i)), Entry{1, 0, 0, State::confirmed}, 1, patience);
  std::atomic<std::uint64_t> missed{0}, lost{0};
  run_in_threads([&](unsigned thread) {
    std::mt19937_64 random(thread + 1);
    for (int step = 0; step < steps; ++step) {
      const auto number = random();
      const auto guest = key(kept + number % 1000);
      const auto state = number >> 32 & 1 ? State::syn : State::confirmed;
      Patience fresh;
      table.insert(guest, table.hash(guest), Entry{2, 0, 0, state}, 1, fresh);
      const auto one = key(random() % kept);
      if (!table.find(one, table.hash(one))) ++missed;
      const Entry another{3, 0, 0, State::confirmed};
      if (table.insert(one, table.hash(one), another, 1, fresh).outcome != TestType::Outcome::existed) ++lost;
      if (step % 8 != 0) continue;
      table.sweep(
          random(), 2, 1, [](std::uint8_t, const Entry& entry, std::uint32_t) { return entry.target == 2; },
          [](const Entry&) {});
    }
  });
  CHECK(missed == 0);
  CHECK(lost == 0);
  check_bookings(table, 10'000);
}

TEMPLATE_TEST_CASE("entries that are moved to make room are never lost and never doubled", "", Table4,
                   Table6) {
  constexpr std::uint64_t slots = 512;
  constexpr std::uint64_t kept = slots * 6 / 10;
  constexpr int steps = 4000;
  TestType table(slots, 1);
  for (std::uint64_t i = 0; i < kept; ++i)
    table.insert(key(i), table.hash(key(i)), Entry{static_cast<std::uint32_t>(i), 0, 0, State::confirmed}, 1,
                 patience);
  std::atomic<std::uint64_t> wrong{0}, refused{0}, doubled{0};
  run_in_threads([&](unsigned thread) {
    std::mt19937_64 random(thread + 1);
    for (int step = 0; step < steps; ++step) {
      // Others come and go around them, up to a nearly full table.
      const auto guest = kept + random() % (slots * 45 / 100);
      table.insert(key(guest), table.hash(key(guest)),
                   Entry{static_cast<std::uint32_t>(guest), 0, 0, State::confirmed}, 1, patience);
      const auto number = random() % kept;
      const auto insertion = table.insert(key(number), table.hash(key(number)),
                                          Entry{1'000'000, 0, 0, State::confirmed}, 1, patience);
      if (insertion.outcome == TestType::Outcome::full) ++refused;
      if (insertion.outcome == TestType::Outcome::inserted) ++doubled;
      if (insertion.outcome == TestType::Outcome::existed && insertion.slot.entry().target != number) ++wrong;
      table.sweep(
          random(), 2, 1,
          [&](std::uint8_t, const Entry& entry, std::uint32_t) { return entry.target >= kept; },
          [](const Entry&) {});
    }
  });
  CHECK(refused == 0);
  CHECK(doubled == 0);
  CHECK(wrong == 0);
  std::vector<unsigned> times(kept + slots);
  table.for_each(1, [&](const FlowKey& found, const Entry& entry, std::uint32_t) {
    ++times[found.addresses[0]];
    if (entry.target != found.addresses[0]) ++wrong;
  });
  CHECK(wrong == 0);
  for (std::uint64_t i = 0; i < kept; ++i) CHECK(times[i] == 1);
  for (std::uint64_t i = kept; i < times.size(); ++i) CHECK(times[i] <= 1);
  check_bookings(table, 100'000);
}

TEMPLATE_TEST_CASE("writers that make room at once refuse nothing below four in five", "", Table4, Table6) {
  constexpr int rounds = 20;
  std::uint64_t refused = 0;
  for (int round = 0; round < rounds; ++round) {
    TestType table(4096, static_cast<std::uint64_t>(round));
    const auto each = table.capacity() * 4 / 5 / threads;
    std::array<std::atomic<std::uint64_t>, threads> full{};
    run_in_threads([&](unsigned thread) {
      Patience own;
      for (std::uint64_t i = 0; i < each; ++i) {
        const auto mine = key(i * threads + thread);
        const auto insertion =
            table.insert(mine, table.hash(mine), Entry{thread, 0, 0, State::confirmed}, 1, own);
        if (insertion.outcome == TestType::Outcome::full)
          full[thread].fetch_add(1, std::memory_order_relaxed);
      }
    });
    for (const auto& count : full) refused += count.load(std::memory_order_relaxed);
  }
  CHECK(refused == 0);
}

namespace {

/// A table with two free places, in which only key 1 can move: all others look as if a worker had lost its
/// core on moving them.
template <class Table>
class OneMover {
 public:
  explicit OneMover(std::uint64_t seed) : table(slots, seed) {
    for (std::uint64_t i = 0; i < slots - 2; ++i) {
      const auto insertion = insert(i, confirmed);
      if (i == 1 || insertion.outcome != Table::Outcome::inserted) continue;
      const auto& slot = insertion.slot;
      slot.place.entry().store(slot.packed.freeze().word(), std::memory_order_release);
    }
  }

  auto insert(std::uint64_t number, const Entry& entry) {
    Patience fresh;
    return table.insert(key(number), table.hash(key(number)), entry, 1, fresh);
  }
  /// Some come and go; key 1 moves if only that makes room for one.
  void visit(std::uint64_t first) {
    for (std::uint64_t i = first; i < first + 3; ++i)
      insert(slots + i % 100, Entry{guest, 0, 0, State::confirmed});
    table.sweep(
        0, table.line_count(), 1,
        [](std::uint8_t, const Entry& entry, std::uint32_t) { return entry.target == guest; },
        [](const Entry&) {});
  }
  /// Does key 1 move often?
  bool moves() {
    unsigned moves = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const auto before = table.find(key(1), table.hash(key(1))).place.line();
      visit(i * 7);
      moves += table.find(key(1), table.hash(key(1))).place.line() != before ? 1 : 0;
    }
    return moves > 200;
  }

  static constexpr std::uint64_t slots = 12;
  static constexpr Entry confirmed{1, 0, 0, State::confirmed};
  static constexpr std::uint32_t guest = 2;
  Table table;
};

}  // namespace

TEMPLATE_TEST_CASE("a key that moves all the time is not inserted a second time", "", Table4, Table6) {
  std::uint64_t seed = 0;
  while (!OneMover<TestType>(seed).moves()) ++seed;
  OneMover<TestType> mover(seed);
  std::atomic<std::uint64_t> doubled{0}, refused{0};
  std::atomic<bool> done{false};
  run_in_threads([&](unsigned thread) {
    if (thread == 0) {
      for (std::uint64_t i = 0; i < 50'000; ++i) mover.visit(i * 7);
      done.store(true, std::memory_order_relaxed);
    }
    while (!done.load(std::memory_order_relaxed)) {
      const auto outcome = mover.insert(1, mover.confirmed).outcome;
      if (outcome == TestType::Outcome::inserted) ++doubled;
      if (outcome == TestType::Outcome::full) ++refused;
    }
  });
  CHECK(doubled == 0);
  CHECK(refused == 0);
}
