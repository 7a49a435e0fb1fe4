#include "conntrack/table.hpp"

#include <memory>
#include <random>
#include <stdexcept>
#include <utility>

namespace zonelb::conntrack {
namespace {

/// Lost races in a row after which a connection goes without an entry rather than hold up a burst.
constexpr unsigned max_attempts = 64;
/// Looks at another worker's slot, which it may be about to fill or to give back: some microseconds. It may
/// not be running at all.
constexpr unsigned max_looks = 128;

template <class Line>
std::uint64_t lines_for(std::uint64_t capacity) {
  using T = Table<Line>;
  const auto buckets = std::max<std::uint64_t>(2, (capacity + slots_per_bucket - 1) / slots_per_bucket);
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

/// What an entry at `place` adds to its home's word.
template <class Line>
std::uint64_t Table<Line>::booking(Place place, const Line* home, std::uint64_t hash) const {
  const Line* const line = place.line();
  if (line == home) return 0;
  const bool near = same_bucket(line, home);
  const auto number = position(line) ^ position(near ? home : far(hash, home));
  return Elsewhere::booking(near ? number : lines_per_bucket + number, place.way(), hash);
}

template <class Line>
std::uint64_t Table<Line>::book(Place place, std::uint64_t hash) const {
  Line* const first = home(hash);
  const auto booked = booking(place, first, hash);
  // seq_cst: see Table
  if (booked != 0) first->elsewhere.fetch_add(booked, std::memory_order_seq_cst);
  return booked;
}

template <class Line>
void Table<Line>::unbook(Place place, std::uint64_t hash) const {
  Line* const first = home(hash);
  const auto booked = booking(place, first, hash);
  // release: who no longer sees the booking no longer sees the entry
  if (booked != 0) first->elsewhere.fetch_sub(booked, std::memory_order_release);
}

/// Adds to `site`, until it has a free place or the key's own entry.
template <class Line>
void Table<Line>::survey(Line* bucket, const Newcomer& newcomer, Site& site) {
  const auto& [key, hash, entry, now] = newcomer;
  for (unsigned i = 0; i < lines_per_bucket; ++i) {
    Line& line = *sibling(bucket, i);
    for (unsigned way = 0; way < Line::slots; ++way) {
      // relaxed, all: what is found is looked at again by whoever makes use of it
      const Tag tag(line.tag[way].load(std::memory_order_relaxed));
      if (tag.status() != Status::valid) [[unlikely]] {
        if (tag.status() == Status::empty) return void(site.free = {&line, way});
        site.in_motion = true;
        continue;
      }
      if (tag.shows(key.ports_protocol)) [[unlikely]]
        if ((site.present = look(line, way, key))) return;
      const PackedEntry packed(line.entry[way].load(std::memory_order_relaxed));
      if (!packed.evictable()) {
        site.in_motion |= packed.state() == State::removed;
        continue;
      }
      const auto seen = line.seen[way].load(std::memory_order_relaxed);
      const std::uint32_t idle = now > seen ? now - seen : 0;
      if (site.oldest_unconfirmed && idle <= site.idle) continue;
      site.oldest_unconfirmed = {&line, way};
      site.idle = idle;
    }
  }
}

/// Makes an unconfirmed entry's slot ours; the tag it then has. None: it is not to be had.
template <class Line>
Tag Table<Line>::evict(Place place, const Newcomer& newcomer, PackedEntry& gone) const {
  auto& word = place.tag();
  // acquire: the entry below belongs to this tag or to a later one, which the second look at the tag tells
  const Tag tag(word.load(std::memory_order_acquire));
  const PackedEntry packed(place.entry().load(std::memory_order_acquire));
  if (word.load(std::memory_order_relaxed) != tag.word() || tag.status() != Status::valid ||
      !packed.evictable() || !remove(*place.line(), place.way(), packed))
    return {};
  gone = packed;
  unbook(place, hash(key_in(*place.line(), place.way(), tag)));
  const Tag mine = tag.next_use(Status::tentative, newcomer.key.ports_protocol);
  // seq_cst: as in claim()
  word.store(mine.word(), std::memory_order_seq_cst);
  return mine;
}

/// Looks for another slot of the key. Of two newcomers the one at the lower address stays.
template <class Line>
auto Table<Line>::meet(Place mine, const FlowKey& key, std::uint64_t hash, std::uint64_t booked) const
    -> Meeting {
  Meeting meeting;
  for (unsigned looks = 0; looks < max_looks; ++looks) {
    meeting.ahead = {};
    meeting.lost = any_slot(home(hash), hash, booked, [&](Line& line, unsigned way, Tag tag) {
      const Place place{&line, way};
      if (place == mine || !tag.is_like(key.ports_protocol)) return false;
      if (tag.status() == Status::valid) return static_cast<bool>(meeting.slot = look(line, way, key));
      // Its address is not to be had yet. It is the same key, or one of 2^16 or so that only looks like it.
      if (tag.status() == Status::tentative && (!meeting.ahead || place < meeting.ahead))
        meeting.ahead = place;
      return false;
    });
    if (meeting.lost || !meeting.ahead) return meeting;
    if (!is_tentative(meeting.ahead)) continue;
    if (meeting.ahead < mine) break;
    pause();
  }
  meeting.lost = true;
  return meeting;
}

/// Has another worker's newcomer a place for itself or given way? Not for long, and then false.
template <class Line>
bool Table<Line>::wait_for(Place ahead) {
  for (unsigned looks = 0; looks < max_looks; ++looks) {
    if (!is_tentative(ahead)) return true;
    pause();
  }
  return false;
}

/// A free place for a newcomer, made if need be, or what else there is.
template <class Line>
void Table<Line>::find_site(const Newcomer& newcomer, Patience& patience, bool& searched_in_vain,
                            Site& site) {
  Line* const near = home(newcomer.hash);
  Line* const other = far(newcomer.hash, near);
  if (!patience.worth_it(newcomer.now)) {
    // In a table that is known to be full nobody looks far as long as there is something to evict near.
    survey(near, newcomer, site);
    if (!site.free && !site.present && !site.oldest_unconfirmed) survey(other, newcomer, site);
    return;
  }
  if ((site.free = free_in_bucket(near)) || (site.free = free_in_bucket(other))) return;
  const Room room = make_room(near, other, site.free);
  if (room == Room::made) patience.succeeded();
  if (room == Room::none) patience.failed();
  if (site.free) return;
  // Slots in other workers' hands hide the ways behind them for a moment, so that one search may be in
  // vain.
  site.again = room == Room::raced || !std::exchange(searched_in_vain, true);
  survey(near, newcomer, site);
  if (!site.free && !site.present) survey(other, newcomer, site);
}

/// Publishes a newcomer in a place that it has taken, or gives the place back because another worker has the
/// key. `full`: that one's entry is not to be seen yet. False: nor will it be soon.
template <class Line>
bool Table<Line>::enter(Place place, Tag tag, const Newcomer& newcomer, Insertion& result) const {
  const auto& [key, hash, entry, now] = newcomer;
  const auto booked = book(place, hash);
  Meeting meeting;
  if (!alone(place, home(hash), booked, key.ports_protocol, hash)) meeting = meet(place, key, hash, booked);
  if (!meeting.lost) {
    const PackedEntry packed(entry, tag.version());
    publish(place, tag, key, packed, now);
    result.outcome = Outcome::inserted;
    result.slot = {place, packed};
    return true;
  }
  unbook(place, hash);
  give_back(place, tag);
  if (!meeting.slot) return wait_for(meeting.ahead);
  result.outcome = Outcome::existed;
  result.slot = meeting.slot;
  return true;
}

template <class Line>
auto Table<Line>::insert_anywhere(const FlowKey& key, std::uint64_t hash, const Entry& entry,
                                  std::uint32_t now, Patience& patience) -> Insertion {
  const Newcomer newcomer{key, hash, entry, now};
  Insertion result;
  bool searched_in_vain = false;
  for (unsigned attempt = 0; attempt < max_attempts && result.outcome == Outcome::full; ++attempt) {
    Site site;
    find_site(newcomer, patience, searched_in_vain, site);
    if (site.present) {
      result.outcome = Outcome::existed;
      result.slot = site.present;
      break;
    }
    if (site.again) continue;
    // One connection evicts one other at most.
    const Place place = site.free ? site.free : result.evicted ? Place{} : site.oldest_unconfirmed;
    if (!place) {
      if (site.in_motion) continue;
      // An entry that moves while we look around may have been missed.
      if ((result.slot = find(key, hash))) result.outcome = Outcome::existed;
      break;
    }
    PackedEntry gone;
    const Tag tag =
        site.free ? claim(place, Status::tentative, key.ports_protocol) : evict(place, newcomer, gone);
    if (!tag) continue;
    if (!site.free) result.evicted.emplace(gone.entry());
    if (!enter(place, tag, newcomer, result)) break;
  }
  return result;
}

template <class Line>
auto Table<Line>::insert_into_full(const FlowKey& key, std::uint64_t hash, Home home, const Entry& entry,
                                   std::uint32_t now, Entry& evicted) const -> Outcome {
  Place oldest;
  unsigned candidate_of_it = 0;
  std::uint32_t longest = 0;
  // acquire, here and in the loop: so that the second look at the word comes last
  const auto booked_before = home->elsewhere.load(std::memory_order_acquire);
  for (unsigned i = 0; i < 2 * lines_per_bucket; ++i) {
    if (i == lines_per_bucket && oldest) break;
    Line& line = *candidate(hash, home, i);
    for (unsigned way = 0; way < Line::slots; ++way) {
      const Tag tag(line.tag[way].load(std::memory_order_acquire));
      if (tag.status() != Status::valid || tag.is_like(key.ports_protocol)) [[unlikely]]
        return Outcome::existed;
      // relaxed, here and below: evict() looks again
      const PackedEntry packed(line.entry[way].load(std::memory_order_relaxed));
      if (!packed.evictable()) {
        if (packed.state() == State::removed) [[unlikely]]
          return Outcome::existed;
        continue;
      }
      const auto seen = line.seen[way].load(std::memory_order_relaxed);
      const std::uint32_t idle = now > seen ? now - seen : 0;
      if (oldest && idle <= longest) continue;
      oldest = {&line, way};
      candidate_of_it = i;
      longest = idle;
    }
  }
  if (!oldest) {
    // Has the key's own entry come from the far bucket after the near one was looked at? Then its booking
    // went.
    const bool same = home->elsewhere.load(std::memory_order_relaxed) == booked_before;
    return same ? Outcome::full : Outcome::existed;
  }
  PackedEntry gone;
  const Tag tag = evict(oldest, {key, hash, entry, now}, gone);
  if (!tag) return Outcome::existed;
  evicted = gone.entry();
  const auto booked = Elsewhere::booking(candidate_of_it, oldest.way(), hash);
  const bool settled = settle(oldest, tag, booked, hash, home, key, {entry, tag.version()}, now);
  return settled ? Outcome::inserted : Outcome::existed;
}

template class Table<Line4>;
template class Table<Line6>;

}  // namespace zonelb::conntrack
