#include "conntrack/table.hpp"

#include <memory>
#include <random>
#include <stdexcept>
#include <utility>

namespace zonelb::conntrack {
namespace {

/// Lost races in a row after which a connection goes without an entry rather than hold up a burst.
constexpr unsigned max_attempts = 64;
/// Lost races after which we no longer wait for the other worker, which may not be running at all.
constexpr unsigned patient_attempts = 8;

template <class Line>
std::uint64_t lines_for(std::uint64_t capacity) {
  using T = Table<Line>;
  const auto buckets = std::max<std::uint64_t>(2, (capacity + T::slots_per_bucket - 1) / T::slots_per_bucket);
  if (buckets > 0xffffffff / T::lines_per_bucket)
    throw std::length_error("a connection table of more lines than 2^32");
  return buckets * T::lines_per_bucket;
}

}  // namespace

template <class Line>
Table<Line>::Table(std::uint64_t capacity, std::uint64_t seed)
    : memory_(lines_for<Line>(capacity) * sizeof(Line)) {
  const auto count = lines_for<Line>(capacity);
  auto* first = static_cast<Line*>(memory_.data());
  std::uninitialized_value_construct_n(first, count);
  lines_ = {first, count};
  std::mt19937_64 random(seed);
  for (auto& word : seeds_) word = random();
}

/// What an entry in `line` adds to its home's word.
template <class Line>
std::uint64_t Table<Line>::booking(const Line* line, const Line* home, std::uint64_t hash) const {
  if (line == home) return 0;
  const bool near = same_bucket(line, home);
  const auto number = position(line) ^ position(near ? home : far(hash, home));
  return Elsewhere<Line::slots>::booking(near ? number : lines_per_bucket + number, hash);
}

template <class Line>
void Table<Line>::book(const Line* line, std::uint64_t hash) const {
  Line* const first = home(hash);
  const auto booked = booking(line, first, hash);
  // seq_cst: see alone()
  if (booked != 0) first->elsewhere.fetch_add(booked, std::memory_order_seq_cst);
}

template <class Line>
void Table<Line>::unbook(const Line* line, std::uint64_t hash) const {
  Line* const first = home(hash);
  const auto booked = booking(line, first, hash);
  // release: who no longer sees the booking no longer sees the entry
  if (booked != 0) first->elsewhere.fetch_sub(booked, std::memory_order_release);
}

template <class Line>
auto Table<Line>::survey(std::span<Line* const> lines, const FlowKey& key, std::uint32_t now) -> Survey {
  Place oldest;
  std::uint32_t longest_idle = 0;
  bool in_motion = false;
  for (Line* line : lines) {
    for (unsigned way = 0; way < Line::slots; ++way) {
      // acquire: for the caller's look at moves_. Else relaxed: what is found is looked at again by whoever
      // makes use of it.
      const Tag tag(line->tag[way].load(std::memory_order_acquire));
      const PackedEntry packed(line->entry[way].load(std::memory_order_relaxed));
      in_motion |= tag.status() != Status::valid || packed.state() == State::removed;
      if (tag.shows(key.ports_protocol)) [[unlikely]]
        if (const Slot slot = look(*line, way, key)) return {slot, {}, false};
      if (tag.status() != Status::valid || !packed.evictable()) continue;
      const auto seen = line->seen[way].load(std::memory_order_relaxed);
      const std::uint32_t idle = now > seen ? now - seen : 0;
      if (oldest && idle <= longest_idle) continue;
      oldest = {line, way};
      longest_idle = idle;
    }
  }
  return {{}, oldest, in_motion};
}

/// Makes an unconfirmed entry's slot ours; the tag it then has. Nothing: it is not to be had. The caller
/// unbooks the place of who was there.
template <class Line>
std::optional<Tag> Table<Line>::evict(const Place& place, const Newcomer& newcomer,
                                      std::optional<Gone>& gone) const {
  auto& word = place.line->tag[place.way];
  // acquire: the entry below belongs to this tag or to a later one, which the second look at the tag tells
  const Tag tag(word.load(std::memory_order_acquire));
  const PackedEntry packed(place.line->entry[place.way].load(std::memory_order_acquire));
  if (word.load(std::memory_order_relaxed) != tag.word()) return std::nullopt;
  if (tag.status() != Status::valid || !packed.evictable()) return std::nullopt;
  gone = remove(*place.line, place.way, packed, tag);
  if (!gone) return std::nullopt;
  prefetch_line(home(gone->hash));
  book(place.line, newcomer.hash);
  const Tag mine = tag.next_use(Status::tentative, newcomer.key.ports_protocol);
  // seq_cst: as in claim()
  word.store(mine.word(), std::memory_order_seq_cst);
  return mine;
}

/// Looks for another slot of the key in a line. Of two newcomers the one at the lower address stays.
template <class Line>
auto Table<Line>::meet_in(Line& line, const Place& mine, const FlowKey& key, bool patient) -> Meeting {
  for (unsigned way = 0; way < Line::slots; ++way) {
    const Place place{&line, way};
    if (place == mine) continue;
    auto& word = line.tag[way];
    // seq_cst: see alone()
    Tag other(word.load(std::memory_order_seq_cst));
    while (other.is_like(key.ports_protocol)) {
      if (other.status() == Status::valid) {
        if (const Slot slot = look(line, way, key)) return {true, slot};
        break;
      }
      if (other.status() != Status::tentative) break;
      // Its address is not to be had yet. It is the same key, or one of 2^16 or so that only looks like it.
      if (place < mine && patient) return {true, {}};
      auto current = other.word();
      // relaxed: on success there is nothing to hand on, its owner keeps the slot; on failure look() acquires
      if (word.compare_exchange_strong(current, other.with(Status::busy).word(), std::memory_order_relaxed,
                                       std::memory_order_relaxed))
        break;
      other = Tag(current);
    }
  }
  return {};
}

template <class Line>
auto Table<Line>::meet(const Candidates& lines, const Place& mine, const FlowKey& key, bool patient) const
    -> Meeting {
  for (;;) {
    // The orders are those of alone().
    const auto moves = moves_.load(std::memory_order_acquire);
    for (Line* line : lines)
      if (const Meeting meeting = meet_in(*line, mine, key, patient); meeting.lost) return meeting;
    if (moves == moves_.load(std::memory_order_relaxed)) return {};
  }
}

template <class Line>
auto Table<Line>::insert_anywhere(const Newcomer& newcomer, Patience& patience) -> Insertion {
  const auto& [key, hash, entry, now] = newcomer;
  const auto lines = candidates(hash);
  Insertion result;
  bool searched_in_vain = false;
  for (unsigned attempt = 0; attempt < max_attempts; ++attempt) {
    // The orders are those of alone().
    const auto moves = moves_.load(std::memory_order_acquire);
    Place place = free_in_bucket(lines[0]);
    // In a table that is known to be full nobody looks far as long as there is something to evict near.
    const bool search = !place && patience.worth_it(now);
    Survey around;
    if (!place && !search) around = survey(std::span(lines).first(lines_per_bucket), key, now);
    bool again = false;
    if (!place && !around.present && !around.oldest_unconfirmed) {
      place = free_in_bucket(lines[lines_per_bucket]);
      if (!place && search) {
        const Room room = make_room(lines, place);
        if (room == Room::made) patience.succeeded();
        if (room == Room::none) patience.failed();
        // Slots in other workers' hands hide the ways behind them for a moment, so that one search may be in
        // vain.
        again = room == Room::raced || (room == Room::none && !std::exchange(searched_in_vain, true));
      }
      if (!place) {
        const bool near_in_motion = around.in_motion;
        around = survey(std::span(lines).subspan(search ? 0 : lines_per_bucket), key, now);
        around.in_motion |= near_in_motion;
      }
    }
    std::optional<Tag> tag;
    std::optional<Gone> gone;
    if (place) {
      book(place.line, hash);
      tag = claim(place, Status::tentative, key.ports_protocol);
      if (!tag) unbook(place.line, hash);
    } else if (around.present) {
      result.outcome = Outcome::existed;
      result.slot = around.present;
      return result;
    } else if (!again) {
      place = around.oldest_unconfirmed;
      // One connection evicts one other at most.
      if (place && !result.evicted)
        tag = evict(place, newcomer, gone);
      else if (!around.in_motion && moves == moves_.load(std::memory_order_relaxed))
        return result;
    }
    if (!tag) continue;
    Meeting meeting;
    if (!alone(place, key.ports_protocol, hash))
      meeting = meet(lines, place, key, attempt < patient_attempts);
    const PackedEntry packed(entry, tag->version());
    const bool entered = !meeting.lost && publish(place, *tag, key, packed, now);
    if (!entered) {
      give_back(place, *tag);
      unbook(place.line, hash);
    }
    if (gone) {
      result.evicted = gone->entry;
      // Last, as the memory may be still on its way.
      unbook(place.line, gone->hash);
    }
    if (entered || meeting.slot) {
      result.outcome = entered ? Outcome::inserted : Outcome::existed;
      result.slot = entered ? Slot{place.line, place.way, packed} : meeting.slot;
      return result;
    }
  }
  return result;
}

template class Table<Line4>;
template class Table<Line6>;

}  // namespace zonelb::conntrack
