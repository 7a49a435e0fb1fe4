#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>

#include "conntrack/entry.hpp"
#include "conntrack/flow_key.hpp"
#include "conntrack/glance.hpp"
#include "conntrack/line.hpp"
#include "conntrack/page_memory.hpp"
#include "conntrack/prefetch.hpp"
#include "net/mix.hpp"

namespace zonelb::conntrack {

/// How much work one worker still puts into making room in one table. When the table is really full, the
/// search for a free place is in vain each time; after some failures it is left out for a while, at most
/// until the next second.
class Patience {
 public:
  /// Is it worth a try? Asked for each newcomer that its home has no place for.
  [[nodiscard]] bool worth_it(std::uint32_t now) {
    if (now != second_) *this = Patience(now);
    if (pause_ == 0) return true;
    --pause_;
    return false;
  }
  /// Is a table so full that most newcomers are not worth a try?
  [[nodiscard]] bool exhausted() const { return pause_ > 0; }
  void succeeded() {
    if (failures_ > 0) --failures_;
  }
  void failed() {
    if (failures_ < most_failures) ++failures_;
    if (failures_ > free_failures) pause_ = 1U << failures_;
  }

  Patience() = default;

 private:
  explicit Patience(std::uint32_t now) : second_(now) {}

  static constexpr unsigned free_failures = 4;
  static constexpr unsigned most_failures = 12;
  std::uint32_t second_ = 0;
  unsigned failures_ = 0;
  unsigned pause_ = 0;
};

/// The connection table: shared by all workers, without a lock. A key has two candidate buckets of four slots
/// and, in each, a line that is tried first; the first line of all is its home, where nearly all keys are
/// found. When all eight slots are taken, entries move to their other bucket to make room. Times are seconds
/// on any clock that does not run backwards.
///
/// Concurrency: a slot is owned by whoever moved its tag from `empty` (or a removed entry's `valid`) to
/// `tentative` or `busy`; nobody else changes such a tag. A reader takes key and entry between two equal
/// readings of the tag.
/// Who inserts a key first announces it (a `tentative` tag with the key's ports, then, unless at home, a
/// booking in the home's `elsewhere`) and then looks at all other slots where the key may be (the home's
/// tags, then its `elsewhere` and the tags that this leads to). All of it is sequentially consistent, so of
/// two workers that insert one key at least one sees the other. It cannot know whether the other sees it,
/// too: it gives way, or, if it has the lower address, waits until the other does or becomes valid. So one
/// slot becomes valid, and both get its entry.
/// An entry that moves is frozen where it was, booked and valid where it goes, and only then removed where it
/// was: at each moment it is in a slot, at home or booked. Who looks for it in vain reads all that it has
/// read once more; if nothing has changed, the entry was nowhere. No line is written but those of the keys at
/// hand and of those that move for them.
template <class Line>
class Table {
 public:
  static constexpr unsigned lines_per_bucket = slots_per_bucket / Line::slots;
  static constexpr std::size_t slot_size = sizeof(Line) / Line::slots;

  /// Room for at least `capacity` entries; `seed` makes the layout hard to guess for a flooder.
  Table(std::uint64_t capacity, std::uint64_t seed);

  /// A place in the table, and the entry that was read there.
  struct Slot {
    conntrack::Place<Line> place;
    PackedEntry packed;

    explicit operator bool() const { return static_cast<bool>(place); }
    [[nodiscard]] Entry entry() const { return packed.entry(); }
  };

  /// A slot of a line, in parts that whoever looks for many keys keeps in registers.
  struct LineSlot {
    Line* line = nullptr;
    unsigned way = 0;
    PackedEntry packed;
    bool found = false;

    explicit operator bool() const { return found; }
    [[nodiscard]] Slot slot() const { return {{line, way}, packed}; }
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

  /// The valid entry of `key`, or an empty Slot: there was a moment without one.
  [[nodiscard]] Slot find(const FlowKey& key, std::uint64_t hash) const;

  // The same in two steps, for many keys at once: first all homes are sent for and looked at, then what else
  // is needed for the keys that were not there.
  using Home = Line*;
  [[nodiscard]] Home home(std::uint64_t hash) const;
  static void prefetch_home(Home home) { prefetch_line(home); }
  /// What is found in a line, at home or elsewhere, may be State::removed already.
  [[nodiscard]] static LineSlot find_in_line(const FlowKey& key, Line* line);
  /// Of the entry that its home most probably has for a key; any number when it has none. To send for memory.
  [[nodiscard]] std::uint32_t probable_target(const FlowKey& key, std::uint64_t hash) const;
  /// Where a key that is not at home may be, unless it has moved since.
  struct Rest {
    /// Null: most probably nowhere; an insertion finds out.
    Line* line;
    /// There and nowhere else?
    bool only;
    /// What said so: the home's `elsewhere`.
    std::uint64_t word;
  };
  /// Finds that out and sends for it.
  [[nodiscard]] Rest prefetch_rest(Home home, std::uint64_t hash) const;
  /// The valid entry of a key that was not at home, if it has not moved twice meanwhile; an insertion finds
  /// that out, too. `rest`: with a line.
  [[nodiscard]] Slot find_rest(const FlowKey& key, std::uint64_t hash, const Rest& rest) const;
  /// Has a home no place for one more key? (A hint.)
  [[nodiscard]] static bool is_full(Home home) { return free_ways(*home) == 0; }
  // In front of insert_elsewhere(), for keys that are nowhere and whose home is full, in two steps again:
  // sends for the rest of its bucket, and then for its other bucket, if the key needs it. `patience`:
  // insert()'s.
  static void prefetch_near(Home home);
  void prefetch_far(Home home, std::uint64_t hash, const Patience& patience = Patience()) const;
  /// In front of insert_anywhere() for a key whose buckets are full: sends for where entries of the first one
  /// may move.
  void prefetch_moves(Home home) const;
  /// Makes an entry unless the key has one; meant for keys that have just been looked for in vain. When no
  /// room can be made, the oldest unconfirmed entry near by goes.
  Insertion insert(const FlowKey& key, std::uint64_t hash, const Entry& entry, std::uint32_t now,
                   Patience& patience);
  // The same in three steps, of which most keys need one. At home: an empty Slot if the home is full, the key
  // may be in the table already or another worker is in the way.
  [[nodiscard]] Slot insert_at_home(const FlowKey& key, std::uint64_t hash, Home home, const Entry& entry,
                                    std::uint32_t now) const;
  /// In the first free slot that is not at home. `existed`: the key may be in the table already, or another
  /// worker is in the way. `slot`: when inserted.
  [[nodiscard]] Outcome insert_elsewhere(const FlowKey& key, std::uint64_t hash, Home home,
                                         const Entry& entry, std::uint32_t now, Slot& slot) const;
  /// In their place in a table that is known to be full, for a key that its home has no place for: evicts the
  /// oldest unconfirmed entry of its near bucket, or else of its far one. `existed`: it is not as simple as
  /// that, insert_anywhere() is to be asked. `evicted` then is what had to go all the same, if its state is
  /// changed.
  [[nodiscard]] Outcome insert_into_full(const FlowKey& key, std::uint64_t hash, Home home,
                                         const Entry& entry, std::uint32_t now, Entry& evicted) const;
  Insertion insert_anywhere(const FlowKey& key, std::uint64_t hash, const Entry& entry, std::uint32_t now,
                            Patience& patience);

  /// Changes the entry in `slot` from what was read to `entry`. False: somebody else changed or moves it;
  /// `slot` then holds what stands there now (State::removed: nothing, insert again).
  static bool replace(Slot& slot, const Entry& entry);

  /// Notes a packet at `now`; a line shared by workers is written at most once a second.
  static void touch(const Slot& slot, std::uint32_t now) { set_seen(slot.place.seen(), now); }
  static void touch(const LineSlot& slot, std::uint32_t now) { set_seen(slot.line->seen[slot.way], now); }

  /// Looks at `count` lines from `first` on (wrapping) and removes each entry for which `ended(protocol,
  /// entry, idle seconds)` is true, after which `removed(entry)` is called.
  template <class Ended, class Removed>
  void sweep(std::uint64_t first, std::uint64_t count, std::uint32_t now, Ended&& ended, Removed&& removed);

  /// Starts the memory of a sweep on its way (as far as the table's end).
  void prefetch_sweep(std::uint64_t first, std::uint64_t count) const;

  /// Calls `visit(key, entry, idle seconds)` for each entry; entries that come and go meanwhile may be
  /// missed.
  template <class Visit>
  void for_each(std::uint32_t now, Visit&& visit) const;

  [[nodiscard]] std::uint64_t capacity() const { return lines_.size() * Line::slots; }
  [[nodiscard]] std::uint64_t line_count() const { return lines_.size(); }
  [[nodiscard]] bool in_huge_pages() const { return memory_.huge(); }
  /// Bytes.
  [[nodiscard]] std::size_t memory_size() const { return memory_.size(); }

 private:
  using Status = Tag::Status;
  using Elsewhere = typename Line::Elsewhere;

  using Place = conntrack::Place<Line>;

  // A bucket, as a key sees it, goes by its line that is tried first: in one of the two that is its home.
  /// The other bucket of a key; `home` is its home.
  [[nodiscard]] Line* far(std::uint64_t hash, const Line* home) const;
  /// The position of a line in its bucket. (Buckets lie at multiples of their size, as the table begins with
  /// a page.)
  [[nodiscard]] static unsigned position(const Line* line) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(line) / sizeof(Line)) % lines_per_bucket;
  }
  /// The line with number `i` in a bucket.
  [[nodiscard]] static Line* sibling(Line* first, unsigned i) {
    const auto at = position(first);
    return first + (static_cast<int>(at ^ i) - static_cast<int>(at));
  }
  /// Of all lines where a key may lie the one with number `i`: first its home, then the rest of that bucket
  /// (near), then its other bucket (far).
  [[nodiscard]] Line* candidate(std::uint64_t hash, Line* home, unsigned i) const {
    return i < lines_per_bucket ? sibling(home, i) : sibling(far(hash, home), i - lines_per_bucket);
  }
  [[nodiscard]] static bool same_bucket(const Line* a, const Line* b) {
    constexpr auto bucket_size = lines_per_bucket * sizeof(Line);
    return (reinterpret_cast<std::uintptr_t>(a) ^ reinterpret_cast<std::uintptr_t>(b)) < bucket_size;
  }

  /// Books a place of a key in its home's `elsewhere`, to which it adds what is returned: after its slot is
  /// claimed, before the key can be seen there. Unbooks it: after the key is gone, before the slot can be
  /// claimed again. So a slot has one booking at most, as a mark of an Elsewhere asks.
  std::uint64_t book(Place place, std::uint64_t hash) const;
  void unbook(Place place, std::uint64_t hash) const;
  [[nodiscard]] std::uint64_t booking(Place place, const Line* home, std::uint64_t hash) const;

  /// What is to be inserted, and when.
  struct Newcomer {
    const FlowKey& key;
    std::uint64_t hash;
    const Entry& entry;
    std::uint32_t now;
  };
  /// What a newcomer finds in its buckets.
  struct Site {
    Place free;
    /// The key's own entry; then nothing else matters.
    Slot present;
    Place oldest_unconfirmed;
    /// Of that.
    std::uint32_t idle = 0;
    /// Is a slot about to become valid or empty? Then "full" may be over in a moment.
    bool in_motion = false;
    /// Another worker was in the way: worth another look.
    bool again = false;
  };
  /// Of a newcomer with another slot of its key.
  struct Meeting {
    bool lost = false;
    /// The other's entry, if it is there already; if not, where it will be.
    Slot slot;
    Place ahead;
  };

  static void set_seen(std::atomic<std::uint32_t>& seen, std::uint32_t now) {
    // relaxed: a time stamp orders nothing
    if (seen.load(std::memory_order_relaxed) != now) seen.store(now, std::memory_order_relaxed);
  }
  static std::uint8_t protocol_of(Tag tag) { return static_cast<std::uint8_t>(tag.ports_protocol() >> 32); }
  static Slot look(Line& line, unsigned way, const FlowKey& key);
  static std::uint64_t address_difference(const Line& line, unsigned way, const FlowKey& key);
  static bool holds(const Line& line, unsigned way, const FlowKey& key);
  static FlowKey key_in(const Line& line, unsigned way, Tag tag);
  static void prefetch_bucket(Line* first);
  void prefetch_lines(Elsewhere there, Home home, std::uint64_t hash) const;

  /// A bit for each empty slot.
  static unsigned free_ways(const Line& line);
  static Place free_place(Line* line);
  static Place free_in_bucket(Line* bucket);
  static bool has_evictable(Line* bucket);

  static Tag claim(Place place, Status status, std::uint64_t ports_protocol);
  static void give_back(Place place, Tag tag);
  /// Is `is(line, way, tag)` true of a slot where a key may be? False: there was a moment when it was not
  /// true of any. May ask for a slot more than once. `booked`: a booking that does not count.
  template <class Is>
  bool any_slot(Line* home, std::uint64_t hash, std::uint64_t booked, Is&& is) const;
  /// Is there no slot but `mine` that might be of the key that was announced there? `booked`: what `mine`
  /// adds to its home's word.
  [[nodiscard]] bool alone(Place mine, Line* home, std::uint64_t booked, std::uint64_t ports_protocol,
                           std::uint64_t hash) const;
  [[nodiscard]] bool alone_everywhere(Place mine, Line* home, std::uint64_t booked,
                                      std::uint64_t ports_protocol, std::uint64_t hash) const;
  bool settle(Place place, Tag tag, std::uint64_t booked, std::uint64_t hash, Line* home, const FlowKey& key,
              PackedEntry packed, std::uint32_t now) const;
  static void write(Place place, const FlowKey& key, PackedEntry packed, std::uint32_t now);
  static void publish(Place place, Tag tag, const FlowKey& key, PackedEntry packed, std::uint32_t now);

  // Results of insertions are small or written where they are wanted: a processor waits for what is copied in
  // words that are longer than those it was just written in.
  static void survey(Line* bucket, const Newcomer& newcomer, Site& site);
  void find_site(const Newcomer& newcomer, Patience& patience, bool& searched_in_vain, Site& site);
  bool enter(Place place, Tag tag, const Newcomer& newcomer, Insertion& result) const;
  static bool remove(Line& line, unsigned way, PackedEntry packed);
  Tag evict(Place place, const Newcomer& newcomer, PackedEntry& gone) const;
  Meeting meet(Place mine, const FlowKey& key, std::uint64_t hash, std::uint64_t booked) const;
  static bool wait_for(Place ahead);
  static bool is_tentative(Place place) {
    // relaxed: whoever acts on it looks again
    return Tag(place.tag().load(std::memory_order_relaxed)).status() == Status::tentative;
  }

  enum class Room : std::uint8_t { made, raced, none };
  /// An entry that could move, and the first line to be tried of its other bucket. (No initialisers: a search
  /// has many of these and looks at few.)
  struct Move {
    Line* from;
    Line* to;
    std::uint64_t hash;
    std::uint64_t tag;
    unsigned way;
  };
  Room make_room(Line* near, Line* far, Place& room);
  bool other_bucket(Line* line, unsigned way, Move& move) const;
  bool make(const Move& move, Place to);

  PageMemory memory_;
  std::span<Line> lines_;
  std::array<std::uint64_t, 5> seeds_{};
};

using Table4 = Table<Line4>;
using Table6 = Table<Line6>;

}  // namespace zonelb::conntrack

#include "conntrack/table_insert.ipp"
#include "conntrack/table_lookup.ipp"
#include "conntrack/table_sweep.ipp"
