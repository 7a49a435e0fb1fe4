#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "conntrack/bucket.hpp"
#include "conntrack/entry.hpp"
#include "conntrack/flow_key.hpp"
#include "conntrack/matching.hpp"
#include "conntrack/page_memory.hpp"
#include "conntrack/prefetch.hpp"

namespace zonelb::conntrack {

/// The connection table: shared by all workers, without a lock. A key has two candidate buckets of four
/// slots, so that a look-up ends after eight tags at most. Times are seconds on any clock that does not run
/// backwards.
///
/// Concurrency: a slot is owned by whoever moved its tag from `empty` (or a removed entry's `valid`) to
/// `busy`. A reader takes key and entry between two equal readings of the tag. Two workers that insert one
/// key at once meet in settle(): exactly one slot becomes valid, and both get its entry.
template <class Bucket>
class Table {
 public:
  static constexpr std::size_t slot_size = sizeof(Bucket) / slots_per_bucket;

  /// Room for at least `capacity` entries; `seed` makes the layout hard to guess for a flooder.
  Table(std::uint64_t capacity, std::uint64_t seed);

  /// A place in the table, and the entry that was read there.
  struct Slot {
    Bucket* bucket = nullptr;
    unsigned way = 0;
    PackedEntry packed;

    explicit operator bool() const { return bucket != nullptr; }
    [[nodiscard]] Entry entry() const { return packed.entry(); }
  };

  enum class Outcome : std::uint8_t { inserted, existed, full };

  struct Insertion {
    Outcome outcome = Outcome::full;
    /// Where the key now stands (not when full).
    Slot slot;
    /// The unconfirmed entry that had to go.
    std::optional<Entry> evicted;
  };

  [[nodiscard]] std::uint64_t hash(const FlowKey& key) const;
  void prefetch(std::uint64_t hash) const;

  /// The valid entry of `key`, or an empty Slot.
  [[nodiscard]] Slot find(const FlowKey& key, std::uint64_t hash) const;

  /// Makes an entry unless the key has one. In a full pair of buckets the oldest unconfirmed entry makes
  /// room.
  Insertion insert(const FlowKey& key, std::uint64_t hash, const Entry& entry, std::uint32_t now);

  /// Changes the entry in `slot` from what was read to `entry`. False: somebody else changed it first; `slot`
  /// then holds what stands there now (State::removed: nothing, insert again).
  static bool replace(Slot& slot, const Entry& entry);

  /// Notes a packet at `now`; a line shared by workers is written at most once a second.
  static void touch(const Slot& slot, std::uint32_t now) {
    auto& seen = slot.bucket->seen[slot.way];
    // relaxed: a time stamp orders nothing
    if (seen.load(std::memory_order_relaxed) != now) seen.store(now, std::memory_order_relaxed);
  }

  /// Looks at `count` buckets from `first` on (wrapping) and removes each entry for which `ended(protocol,
  /// entry, idle seconds)` is true, after which `removed(entry)` is called.
  template <class Ended, class Removed>
  void sweep(std::uint64_t first, std::uint64_t count, std::uint32_t now, Ended&& ended, Removed&& removed);

  /// Starts the memory of a sweep on its way.
  void prefetch_sweep(std::uint64_t first, std::uint64_t count) const;

  /// Calls `visit(key, entry, idle seconds)` for each valid entry: a report, not a consistent picture.
  template <class Visit>
  void for_each(std::uint32_t now, Visit&& visit) const;

  [[nodiscard]] std::uint64_t capacity() const { return buckets_.size() * slots_per_bucket; }
  [[nodiscard]] std::uint64_t bucket_count() const { return buckets_.size(); }
  [[nodiscard]] bool in_huge_pages() const { return memory_.huge(); }
  /// Bytes.
  [[nodiscard]] std::size_t memory_size() const { return memory_.size(); }

 private:
  using Status = Tag::Status;

  struct Place {
    Bucket* bucket = nullptr;
    unsigned way = 0;
  };

  [[nodiscard]] std::array<Bucket*, 2> candidates(std::uint64_t hash) const;
  static std::uint8_t protocol_of(Tag tag) { return static_cast<std::uint8_t>(tag.ports_protocol() >> 32); }
  static bool holds(const Bucket& bucket, unsigned way, const FlowKey& key);
  static Place free_place(const std::array<Bucket*, 2>& candidates);
  static bool in_motion(const std::array<Bucket*, 2>& candidates);
  static Place oldest_unconfirmed(const std::array<Bucket*, 2>& candidates, std::uint32_t now);
  static std::optional<Entry> remove(Bucket& bucket, unsigned way, PackedEntry seen_entry, Tag tag,
                                     Status next);
  Tag claim(const std::array<Bucket*, 2>& candidates, std::uint32_t now, Place& place,
            Insertion& result) const;
  static void write(const Place& place, Tag tag, const FlowKey& key, PackedEntry packed, std::uint32_t now);
  enum class Settled : std::uint8_t { won, lost };
  static Settled settle(const std::array<Bucket*, 2>& candidates, const Place& mine, Tag tag,
                        const FlowKey& key, bool patient);

  PageMemory memory_;
  std::span<Bucket> buckets_;
  std::array<std::uint64_t, 5> seeds_{};
};

using Table4 = Table<Bucket4>;
using Table6 = Table<Bucket6>;

}  // namespace zonelb::conntrack

#include "conntrack/table_lookup.ipp"
#include "conntrack/table_sweep.ipp"
