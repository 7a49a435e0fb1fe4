#include "conntrack/table.hpp"

namespace zonelb::conntrack {

/// Entries that are looked at before a table counts as full. With four in five slots taken one in two buckets
/// or so is full: this many entries that could only move to a full bucket never are.
constexpr unsigned most_moves_looked_at = 64;

/// Makes a place free in one of two full buckets by moving entries to their other buckets: a breadth-first
/// search for the shortest chain of moves, done from its end so that no entry is ever out of the table.
/// `raced`: another worker has changed what was found, so it pays to look again.
template <class Line>
auto Table<Line>::make_room(Line* near, Line* far, Place& room) -> Room {
  struct Step {
    Move move;
    /// The step that would fill the place it leaves; none in the first two buckets.
    unsigned next;
  };
  constexpr unsigned none = most_moves_looked_at;
  std::array<Step, most_moves_looked_at> steps;
  unsigned count = 0;
  /// Finds out what could leave a bucket; true: `at` could go to the empty place `to`.
  unsigned at = none;
  Place to;
  const auto look_at = [&](Line* bucket, unsigned next) {
    const unsigned first = count;
    for (unsigned n = 0; n < slots_per_bucket && count < steps.size(); ++n) {
      Step& step = steps[count];
      if (!other_bucket(sibling(bucket, n / Line::slots), n % Line::slots, step.move)) continue;
      prefetch_bucket(step.move.to);
      step.next = next;
      ++count;
    }
    for (at = first; at < count; ++at)
      if ((to = free_in_bucket(steps[at].move.to))) return true;
    return false;
  };
  bool found = look_at(near, none) || look_at(far, none);
  for (unsigned i = 0; !found && i < count; ++i) found = look_at(steps[i].move.to, i);
  if (!found) return Room::none;
  for (; at != none; at = steps[at].next) {
    const Move& move = steps[at].move;
    if (!make(move, to)) return Room::raced;
    to = {move.from, move.way};
  }
  room = to;
  return Room::made;
}

/// Where else the entry in a slot may lie. False when it is coming, going, gone or already on the move.
template <class Line>
bool Table<Line>::other_bucket(Line* line, unsigned way, Move& move) const {
  // acquire: the key is of this tag or of a later one; make() looks again
  const Tag tag(line->tag[way].load(std::memory_order_acquire));
  if (tag.status() != Status::valid) return false;
  // relaxed: a hint. Who moves or removes it may have lost its core, so there must be a way around it.
  const PackedEntry packed(line->entry[way].load(std::memory_order_relaxed));
  if (packed.frozen() || packed.state() == State::removed) return false;
  const auto hash_of_it = hash(key_in(*line, way, tag));
  Line* const first = home(hash_of_it);
  move = {line, same_bucket(first, line) ? far(hash_of_it, first) : first, hash_of_it, tag.word(), way};
  return true;
}

/// Moves an entry to an empty place of its other bucket. False: one of the two has changed, nothing has been
/// done.
template <class Line>
bool Table<Line>::make(const Move& move, Place to) {
  const Tag busy = claim(to, Status::busy, 0);
  if (!busy) return false;
  const Tag tag(move.tag);
  auto& source_tag = move.from->tag[move.way];
  auto& source_entry = move.from->entry[move.way];
  const FlowKey key = key_in(*move.from, move.way, tag);
  // acquire: as in look()
  const PackedEntry packed(source_entry.load(std::memory_order_acquire));
  auto expected = packed.word();
  // relaxed: the loads before it acquire. The same tag: what was read since is of the same key.
  if (source_tag.load(std::memory_order_relaxed) != tag.word() || packed.state() == State::removed ||
      packed.frozen() ||
      // acq_rel: from here on the entry changes no more; the slot was not used again, as its version says
      !source_entry.compare_exchange_strong(expected, packed.freeze().word(), std::memory_order_acq_rel,
                                            std::memory_order_relaxed)) {
    give_back(to, busy);
    return false;
  }
  book(to, move.hash);
  write(to, key, {packed.entry(), busy.version()}, move.from->seen[move.way].load(std::memory_order_relaxed));
  // release: as in publish()
  to.tag().store(Tag(tag.ports_protocol(), Status::valid, busy.version()).word(), std::memory_order_release);
  auto gone = packed.entry();
  gone.state = State::removed;
  // release: who sees the entry gone sees it in its new place
  source_entry.store(packed.with(gone).word(), std::memory_order_release);
  const Place left(move.from, move.way);
  unbook(left, move.hash);
  give_back(left, tag);
  return true;
}

template <class Line>
void Table<Line>::prefetch_moves(Home home) const {
  for (unsigned n = 0; n < slots_per_bucket; ++n) {
    Move move;
    if (other_bucket(sibling(home, n / Line::slots), n % Line::slots, move)) prefetch_bucket(move.to);
  }
}

template void Table<Line4>::prefetch_moves(Line4*) const;
template void Table<Line6>::prefetch_moves(Line6*) const;
template auto Table<Line4>::make_room(Line4*, Line4*, Place&) -> Room;
template auto Table<Line6>::make_room(Line6*, Line6*, Place&) -> Room;

}  // namespace zonelb::conntrack
