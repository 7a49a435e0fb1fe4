#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "conntrack/table.hpp"
#include "dataplane/batch.hpp"

/// The tables that `zonelb-bench --table-only` compares, with one face: bursts of keys are composed, then
/// looked up or inserted.
namespace zonelb::bench {

inline constexpr unsigned table_burst = dataplane::Batch::max_size;

/// Our table, used as the packet path does (lib/dataplane/stage_match.hpp, stage_parse.cpp, stage_track.cpp).
template <class Table>
class OurTable {
 public:
  OurTable(std::uint64_t capacity, unsigned threads) : table_(capacity, 1), patience_(threads) {}

  struct Burst {
    std::array<conntrack::FlowKey, table_burst> keys;
    std::array<std::uint64_t, table_burst> hashes;
    std::array<typename Table::Home, table_burst> homes;
    /// Of those that are not at home.
    std::array<typename Table::Rest, table_burst> rest;
    std::array<std::uint16_t, table_burst> others;

    void set(unsigned i, const conntrack::FlowKey& key) { keys[i] = key; }
  };

  /// How many of the burst's first `count` keys are there.
  std::uint64_t look_up(Burst& burst, unsigned count) {
    std::uint64_t found = 0;
    const unsigned others = look_at_homes(burst, count, false, found);
    for (unsigned n = 0; n < others; ++n) {
      const auto i = burst.others[n];
      if (const auto slot = table_.find_rest(burst.keys[i], burst.hashes[i], burst.rest[i]))
        found += note(slot);
    }
    return found;
  }

  /// Inserts the burst's first `count` keys; how many are refused.
  std::uint64_t insert(Burst& burst, unsigned count, unsigned thread) {
    std::uint64_t found = 0, refused = 0;
    const unsigned others = look_at_homes(burst, count, true, found);
    unsigned fresh = 0;
    for (unsigned n = 0; n < others; ++n) {
      const auto i = burst.others[n];
      const auto& rest = burst.rest[i];
      if (rest.line != nullptr && table_.find_rest(burst.keys[i], burst.hashes[i], rest)) continue;
      if (Table::is_full(burst.homes[i])) table_.prefetch_far(burst.homes[i], burst.hashes[i]);
      burst.others[fresh++] = i;
    }
    unsigned crowded = 0;
    for (unsigned n = 0; n < fresh; ++n) {
      const auto i = burst.others[n];
      const auto& key = burst.keys[i];
      typename Table::Slot slot;
      if (!table_.insert_at_home(key, burst.hashes[i], burst.homes[i], entry(i), now_) &&
          table_.insert_elsewhere(key, burst.hashes[i], burst.homes[i], entry(i), now_, slot) !=
              Table::Outcome::inserted)
        burst.others[crowded++] = i;
    }
    for (unsigned n = 0; n < crowded; ++n) table_.prefetch_moves(burst.homes[burst.others[n]]);
    for (unsigned n = 0; n < crowded; ++n) {
      const auto i = burst.others[n];
      const auto insertion =
          table_.insert_anywhere(burst.keys[i], burst.hashes[i], entry(i), now_, patience_[thread].value);
      refused += insertion.outcome == Table::Outcome::full ? 1 : 0;
    }
    return refused;
  }

  void clear() {
    const auto every = [](std::uint8_t, const conntrack::Entry&, std::uint32_t) { return true; };
    table_.sweep(0, table_.line_count(), now_, every, [](const conntrack::Entry&) {});
    ++now_;
  }

  [[nodiscard]] std::size_t memory_size() const { return table_.memory_size(); }
  [[nodiscard]] bool in_huge_pages() const { return table_.in_huge_pages(); }

 private:
  struct alignas(64) OwnPatience {
    conntrack::Patience value;
  };

  /// Confirmed, so that nothing is evicted for another.
  static conntrack::Entry entry(std::uint16_t i) { return {i, 0, 0, conntrack::State::confirmed}; }

  /// Collects in burst.others who is not at home but may be elsewhere, or, when inserting, who is not at
  /// home.
  unsigned look_at_homes(Burst& burst, unsigned count, bool inserting, std::uint64_t& found) {
    for (unsigned i = 0; i < count; ++i) {
      burst.hashes[i] = table_.hash(burst.keys[i]);
      burst.homes[i] = table_.home(burst.hashes[i]);
      Table::prefetch_home(burst.homes[i]);
    }
    unsigned others = 0;
    for (unsigned i = 0; i < count; ++i) {
      if (const auto slot = Table::find_in_line(burst.keys[i], burst.homes[i])) {
        found += note(slot);
        continue;
      }
      burst.rest[i] = table_.prefetch_rest(burst.homes[i], burst.hashes[i]);
      if (burst.rest[i].line == nullptr) {
        if (!inserting) continue;
        if (Table::is_full(burst.homes[i])) Table::prefetch_near(burst.homes[i]);
      }
      burst.others[others++] = static_cast<std::uint16_t>(i);
    }
    return others;
  }

  template <class Slot>
  std::uint64_t note(const Slot& slot) const {
    Table::touch(slot, now_);
    return slot.packed.state() == conntrack::State::confirmed ? 1 : 0;
  }

  Table table_;
  std::vector<OwnPatience> patience_;
  std::uint32_t now_ = 1;
};

/// DPDK's hash table with look-ups that take no lock; with several writers these take one among themselves.
template <std::size_t KeyWords>
class RteHash {
 public:
  RteHash(std::uint64_t capacity, unsigned threads) {
    const auto before = allocated();
    rte_hash_parameters parameters{};
    parameters.name = "table-only";
    parameters.entries = static_cast<std::uint32_t>(capacity);
    parameters.key_len = sizeof(Key);
    parameters.hash_func = rte_hash_crc;
    parameters.socket_id = static_cast<int>(rte_socket_id());
    parameters.extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF;
    if (threads > 1) parameters.extra_flag |= RTE_HASH_EXTRA_FLAGS_MULTI_WRITER_ADD;
    hash_.reset(rte_hash_create(&parameters));
    if (!hash_) throw std::runtime_error("no memory for rte_hash");
    memory_size_ = allocated() - before;
  }

  /// Of a length that rte_hash has a comparison of its own for, and that a line holds with rte_hash's words.
  using Key = std::array<std::uint64_t, KeyWords>;

  struct Burst {
    std::array<Key, table_burst> keys{};
    std::array<const void*, table_burst> pointers;
    std::array<void*, table_burst> data;

    Burst() {
      for (unsigned i = 0; i < table_burst; ++i) pointers[i] = &keys[i];
    }
    void set(unsigned i, const conntrack::FlowKey& key) {
      keys[i][0] = key.addresses[0];
      if constexpr (KeyWords == 2) {
        keys[i][1] = key.ports_protocol;
      } else {
        for (unsigned word = 1; word < 4; ++word) keys[i][word] = key.addresses[word];
        keys[i][4] = key.ports_protocol;
      }
    }
  };

  std::uint64_t look_up(Burst& burst, unsigned count) {
    std::uint64_t mask = 0;
    rte_hash_lookup_bulk_data(hash_.get(), burst.pointers.data(), count, &mask, burst.data.data());
    std::uint64_t found = 0;
    // What was found is looked at, as it is in our table.
    for (unsigned i = 0; i < count; ++i) found += (mask >> i & 1) != 0 && burst.data[i] != nullptr ? 1U : 0U;
    return found;
  }

  std::uint64_t insert(Burst& burst, unsigned count, unsigned /*thread*/) {
    std::uint64_t mask = 0, refused = 0;
    rte_hash_lookup_bulk_data(hash_.get(), burst.pointers.data(), count, &mask, burst.data.data());
    for (unsigned i = 0; i < count; ++i) {
      if ((mask >> i & 1) != 0) continue;
      const int error = rte_hash_add_key_data(hash_.get(), &burst.keys[i], this);
      refused += error != 0 ? 1U : 0U;
    }
    return refused;
  }

  void clear() { rte_hash_reset(hash_.get()); }

  [[nodiscard]] std::size_t memory_size() const { return memory_size_; }
  [[nodiscard]] bool in_huge_pages() const { return rte_eal_has_hugepages() != 0; }

 private:
  struct Free {
    void operator()(rte_hash* hash) const { rte_hash_free(hash); }
  };

  static std::size_t allocated() {
    rte_malloc_socket_stats stats{};
    rte_malloc_get_socket_stats(static_cast<int>(rte_socket_id()), &stats);
    return stats.heap_allocsz_bytes;
  }

  std::unique_ptr<rte_hash, Free> hash_;
  std::size_t memory_size_ = 0;
};

}  // namespace zonelb::bench
