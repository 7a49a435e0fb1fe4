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

template <class Line>
auto Table<Line>::free_place(std::span<Line* const> lines) -> Place {
  for (Line* line : lines)
    for (unsigned way = 0; way < Line::slots; ++way)
      // relaxed: claim() checks again by compare-and-swap
      if (Tag(line->tag[way].load(std::memory_order_relaxed)).status() == Status::empty) return {line, way};
  return {};
}

/// Is a slot about to become valid or empty? Then "full" may be over in a moment.
template <class Line>
bool Table<Line>::in_motion(const Candidates& lines) {
  for (const Line* line : lines)
    for (unsigned way = 0; way < Line::slots; ++way)
      if (Tag(line->tag[way].load(std::memory_order_relaxed)).status() != Status::valid) return true;
  return false;
}

template <class Line>
auto Table<Line>::oldest_unconfirmed(const Candidates& lines, std::uint32_t now) -> Place {
  Place oldest;
  std::uint32_t longest_idle = 0;
  for (Line* line : lines) {
    for (unsigned way = 0; way < Line::slots; ++way) {
      // relaxed: a wrong guess fails in remove()
      if (Tag(line->tag[way].load(std::memory_order_relaxed)).status() != Status::valid) continue;
      if (!is_unconfirmed(PackedEntry(line->entry[way].load(std::memory_order_relaxed)).state())) continue;
      const auto seen = line->seen[way].load(std::memory_order_relaxed);
      const std::uint32_t idle = now > seen ? now - seen : 0;
      if (oldest && idle <= longest_idle) continue;
      oldest = {line, way};
      longest_idle = idle;
    }
  }
  return oldest;
}

template <class Line>
auto Table<Line>::where(const Line* line, const Line* home) const -> Where {
  if (line == home) return Where::home;
  return same_bucket(line, home) ? Where::near : Where::far;
}

template <class Line>
void Table<Line>::book(const Line* line, std::uint64_t hash) const {
  Line* of = home(hash);
  const auto booked = static_cast<std::uint32_t>(where(line, of));
  // seq_cst: see settle()
  if (booked != 0) of->elsewhere.fetch_add(booked, std::memory_order_seq_cst);
}

template <class Line>
void Table<Line>::unbook(const Line* line, std::uint64_t hash) const {
  Line* of = home(hash);
  const auto booked = static_cast<std::uint32_t>(where(line, of));
  // release: who no longer sees the booking no longer sees the entry
  if (booked != 0) of->elsewhere.fetch_sub(booked, std::memory_order_release);
}

/// Gets an empty slot into `busy` for us. A default Tag: somebody was faster.
template <class Line>
Tag Table<Line>::claim(const Place& place) {
  auto& word = place.line->tag[place.way];
  auto current = word.load(std::memory_order_relaxed);
  const Tag busy(0, Status::busy, Tag(current).version() + 1);
  if (Tag(current).status() != Status::empty) return {};
  // acquire: the previous owner's last writes come before ours
  return word.compare_exchange_strong(current, busy.word(), std::memory_order_acquire,
                                      std::memory_order_relaxed)
             ? busy
             : Tag();
}

/// Gets the slot of an unconfirmed entry into `busy` for us. A default Tag: none to be had now; `place` tells
/// whether it pays to try again.
template <class Line>
Tag Table<Line>::evict(const Candidates& lines, std::uint32_t now, Place& place, Insertion& result) const {
  // One connection evicts one other at most.
  place = result.evicted ? Place{} : oldest_unconfirmed(lines, now);
  if (!place) return {};
  // acquire: the entry below belongs to this tag or to a later one, which the second look at the tag tells
  const Tag tag(place.line->tag[place.way].load(std::memory_order_acquire));
  const PackedEntry packed(place.line->entry[place.way].load(std::memory_order_acquire));
  if (place.line->tag[place.way].load(std::memory_order_relaxed) != tag.word()) return {};
  if (tag.status() != Status::valid || !is_unconfirmed(packed.state())) return {};
  const auto evicted = remove(*place.line, place.way, packed, tag, Status::busy);
  if (!evicted) return {};
  result.evicted = evicted;
  return {0, Status::busy, tag.version() + 1};
}

template <class Line>
void Table<Line>::write(const Place& place, Tag tag, const FlowKey& key, PackedEntry packed,
                        std::uint32_t now) {
  // release: whoever reads one of these words also sees the `busy` tag that came before (see holds())
  for (unsigned i = 0; i < Line::address_words; ++i)
    place.line->address[place.way][i].store(key.addresses[i], std::memory_order_release);
  place.line->entry[place.way].store(packed.word(), std::memory_order_release);
  place.line->seen[place.way].store(now, std::memory_order_relaxed);
  // seq_cst: of two workers that publish the same key, at least one sees the other's slot when it then looks
  // for it
  place.line->tag[place.way].store(tag.word(), std::memory_order_seq_cst);
}

/// Looks for other slots of the key in a line. Of two tentative slots the one at the lower address wins: it
/// turns the other one empty before confirming itself.
template <class Line>
auto Table<Line>::meet(Line& line, const Place& mine, const FlowKey& key, bool patient) -> Meeting {
  for (unsigned way = 0; way < Line::slots; ++way) {
    if (Place{&line, way} == mine) continue;
    auto& word = line.tag[way];
    // seq_cst: pairs with the publishing store in write()
    const Tag other(word.load(std::memory_order_seq_cst));
    const bool complete = other.status() == Status::tentative || other.status() == Status::valid;
    if (!complete || other.ports_protocol() != key.ports_protocol || !holds(line, way, key)) continue;
    if (PackedEntry(line.entry[way].load(std::memory_order_acquire)).state() == State::removed) continue;
    const bool other_is_first = Place{&line, way} < mine;
    if (other.status() == Status::valid || (other_is_first && patient)) return Meeting::lost;
    auto current = other.word();
    // acq_rel: success hands the slot on; failure tells what its owner made of it
    if (!word.compare_exchange_strong(current, other.with(Status::empty).word(), std::memory_order_acq_rel,
                                      std::memory_order_acquire) &&
        current == other.with(Status::valid).word())
      return Meeting::lost;
  }
  return Meeting::none;
}

/// Makes our tentative slot the only valid one of its key, or gives it up for another that is or will be.
template <class Line>
auto Table<Line>::settle(const Candidates& lines, const Place& mine, Tag tag, const FlowKey& key,
                         bool patient) const -> Settled {
  std::uint64_t moves = 0;
  do {
    // seq_cst: an entry that moves past us while we look is counted before it leaves its old place
    moves = moves_.load(std::memory_order_seq_cst);
    for (Line* line : lines) {
      if (meet(*line, mine, key, patient) == Meeting::lost) {
        auto expected = tag.word();
        // release: the slot's next owner comes after us. Failure means that a winner has emptied it already.
        mine.line->tag[mine.way].compare_exchange_strong(
            expected, tag.with(Status::empty).word(), std::memory_order_release, std::memory_order_relaxed);
        return Settled::lost;
      }
      // seq_cst: another worker books its place before it publishes; when we see no booking, it has not
      // published yet and will find us at home.
      if (line == lines[0] && mine.line == line &&
          !Elsewhere(line->elsewhere.load(std::memory_order_seq_cst)).any())
        break;
    }
  } while (moves != moves_.load(std::memory_order_seq_cst));
  auto expected = tag.word();
  // acq_rel: failure means that a winner has emptied our slot, whose entry we then take
  return mine.line->tag[mine.way].compare_exchange_strong(
             expected, tag.with(Status::valid).word(), std::memory_order_acq_rel, std::memory_order_acquire)
             ? Settled::won
             : Settled::lost;
}

template <class Line>
auto Table<Line>::insert(const FlowKey& key, std::uint64_t hash, const Entry& entry, std::uint32_t now,
                         Patience& patience) -> Insertion {
  const auto lines = candidates(hash);
  Insertion result;
  bool searched_in_vain = false;
  for (unsigned attempt = 0; attempt < max_attempts; ++attempt) {
    Place place = free_place(lines);
    // Who inserts has just looked. That the key may have come since, settle() finds out.
    const bool looked = attempt == 0 && place;
    if (const Slot slot = looked ? Slot{} : find(key, hash)) {
      result.outcome = Outcome::existed;
      result.slot = slot;
      return result;
    }
    Tag busy;
    if (place) {
      busy = claim(place);
    } else if (patience.worth_it(now)) {
      const Room room = make_room(lines);
      if (room == Room::made) patience.succeeded();
      if (room == Room::none) patience.failed();
      // Slots in other workers' hands hide the ways behind them for a moment, so that one search may be in
      // vain.
      if (room != Room::none || !std::exchange(searched_in_vain, true)) continue;
    }
    if (!place) busy = evict(lines, now, place, result);
    if (!place && !in_motion(lines)) return result;
    if (busy.status() != Status::busy) continue;
    const PackedEntry packed(entry, busy.version());
    const Tag tentative(key.ports_protocol, Status::tentative, busy.version());
    book(place.line, hash);
    write(place, tentative, key, packed, now);
    if (settle(lines, place, tentative, key, attempt < patient_attempts) == Settled::lost) {
      unbook(place.line, hash);
      continue;
    }
    result.outcome = Outcome::inserted;
    result.slot = {place.line, place.way, packed};
    return result;
  }
  return result;
}

template class Table<Line4>;
template class Table<Line6>;

}  // namespace zonelb::conntrack
