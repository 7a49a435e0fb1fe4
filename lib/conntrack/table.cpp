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
  // seq_cst: see alone()
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
      // acquire: for the caller's look at moves_. Else relaxed: what is found is looked at again by whoever
      // makes use of it.
      const Tag tag(line.tag[way].load(std::memory_order_acquire));
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

/// Looks for another slot of the key in a line. Of two newcomers the one at the lower address stays.
template <class Line>
auto Table<Line>::meet_in(Line& line, Place mine, const FlowKey& key, bool patient) -> Meeting {
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
auto Table<Line>::meet(Place mine, const FlowKey& key, std::uint64_t hash, bool patient) const -> Meeting {
  Line* const near = home(hash);
  for (;;) {
    // The orders are those of alone().
    const auto moves = moves_.load(std::memory_order_acquire);
    for (unsigned i = 0; i < 2 * lines_per_bucket; ++i)
      if (const Meeting meeting = meet_in(*candidate(hash, near, i), mine, key, patient); meeting.lost)
        return meeting;
    if (moves == moves_.load(std::memory_order_relaxed)) return {};
  }
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
/// key. `full`: that one's entry is not to be seen yet.
template <class Line>
void Table<Line>::enter(Place place, Tag tag, const Newcomer& newcomer, bool patient,
                        Insertion& result) const {
  const auto& [key, hash, entry, now] = newcomer;
  const auto booked = book(place, hash);
  Meeting meeting;
  if (!alone(place, home(hash), booked, key.ports_protocol, hash)) meeting = meet(place, key, hash, patient);
  const PackedEntry packed(entry, tag.version());
  if (!meeting.lost && publish(place, tag, key, packed, now)) {
    result.outcome = Outcome::inserted;
    result.slot = {place, packed};
    return;
  }
  unbook(place, hash);
  give_back(place, tag);
  if (!meeting.slot) return;
  result.outcome = Outcome::existed;
  result.slot = meeting.slot;
}

template <class Line>
auto Table<Line>::insert_anywhere(const FlowKey& key, std::uint64_t hash, const Entry& entry,
                                  std::uint32_t now, Patience& patience) -> Insertion {
  const Newcomer newcomer{key, hash, entry, now};
  Insertion result;
  bool searched_in_vain = false;
  for (unsigned attempt = 0; attempt < max_attempts && result.outcome == Outcome::full; ++attempt) {
    // The orders are those of alone().
    const auto moves = moves_.load(std::memory_order_acquire);
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
      if (site.in_motion || moves != moves_.load(std::memory_order_relaxed)) continue;
      break;
    }
    PackedEntry gone;
    const Tag tag =
        site.free ? claim(place, Status::tentative, key.ports_protocol) : evict(place, newcomer, gone);
    if (!tag) continue;
    if (!site.free) result.evicted.emplace(gone.entry());
    enter(place, tag, newcomer, attempt < patient_attempts, result);
  }
  return result;
}

template class Table<Line4>;
template class Table<Line6>;

}  // namespace zonelb::conntrack
