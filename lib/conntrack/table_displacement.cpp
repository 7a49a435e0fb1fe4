#include "conntrack/table.hpp"

namespace zonelb::conntrack {

/// Buckets that are looked at for a free place before a table counts as full. With four in five slots taken
/// one in two buckets or so is full: this many in a row never are.
constexpr unsigned most_buckets_searched = 64;

template <class Line>
auto Table<Line>::bucket(const Line* line) const -> std::array<Line*, lines_per_bucket> {
  std::array<Line*, lines_per_bucket> lines;
  const auto first = index(line) & ~std::uint64_t{lines_per_bucket - 1};
  for (unsigned i = 0; i < lines_per_bucket; ++i) lines[i] = &lines_[first + i];
  return lines;
}

/// Makes a place free in one of two full buckets by moving entries to their other buckets: a breadth-first
/// search for the shortest chain of moves, done from its end so that no entry is ever out of the table.
/// `raced`: another worker has changed what was found, so it pays to look again.
template <class Line>
auto Table<Line>::make_room(const Candidates& lines) -> Room {
  struct Step {
    std::array<Line*, lines_per_bucket> bucket;
    /// The entry that would come here, and the step whose bucket it would leave.
    Place entry;
    unsigned from;
  };
  std::array<Step, most_buckets_searched> steps;
  unsigned count = 0;
  steps[count++] = {bucket(lines[0]), {}, 0};
  steps[count++] = {bucket(lines[lines_per_bucket]), {}, 0};
  for (unsigned i = 0; i < count; ++i) {
    if (Place to = free_place(steps[i].bucket)) {
      for (unsigned at = i; steps[at].entry; at = steps[at].from) {
        if (!move(steps[at].entry, to)) return Room::raced;
        to = steps[at].entry;
      }
      return Room::made;
    }
    for (Line* line : steps[i].bucket) {
      for (unsigned way = 0; way < Line::slots && count < steps.size(); ++way) {
        const Line* other = other_bucket(*line, way);
        if (other == nullptr) continue;
        steps[count] = {bucket(other), {line, way}, i};
        for (const Line* next : steps[count].bucket) prefetch_line(next);
        ++count;
      }
    }
  }
  return Room::none;
}

/// Where else the entry in a slot may lie; null when it is coming, going, gone or already on the move.
template <class Line>
const Line* Table<Line>::other_bucket(const Line& line, unsigned way) const {
  // acquire: the key is of this tag or of a later one; move() looks again
  const Tag tag(line.tag[way].load(std::memory_order_acquire));
  if (tag.status() != Status::valid) return nullptr;
  // relaxed: a hint. Who moves it may have lost its core, so there must be a way around it.
  if (PackedEntry(line.entry[way].load(std::memory_order_relaxed)).frozen()) return nullptr;
  const auto hash_of_it = hash(key_in(line, way, tag));
  const Line* first = home(hash_of_it);
  return same_bucket(first, &line) ? far(hash_of_it, first) : first;
}

/// Moves an entry to an empty place of its other bucket. False: one of the two has changed, nothing has been
/// done.
template <class Line>
bool Table<Line>::move(const Place& from, const Place& to) {
  const Tag busy = claim(to);
  if (busy.status() != Status::busy) return false;
  auto& target_tag = to.line->tag[to.way];
  const auto give_up = [&] {
    // release: the slot's next owner comes after us
    target_tag.store(busy.with(Status::empty).word(), std::memory_order_release);
    return false;
  };
  auto& source_tag = from.line->tag[from.way];
  auto& source_entry = from.line->entry[from.way];
  // acquire: as in look()
  const Tag tag(source_tag.load(std::memory_order_acquire));
  const FlowKey key = key_in(*from.line, from.way, tag);
  const PackedEntry packed(source_entry.load(std::memory_order_acquire));
  if (tag.status() != Status::valid || source_tag.load(std::memory_order_relaxed) != tag.word() ||
      packed.state() == State::removed || packed.frozen())
    return give_up();
  const auto hash_of_it = hash(key);
  const Line* first = home(hash_of_it);
  if (!same_bucket(to.line, first) && !same_bucket(to.line, far(hash_of_it, first))) return give_up();
  auto expected = packed.word();
  // acq_rel: from here on the entry changes no more; the slot was not used again, as its version says
  if (!source_entry.compare_exchange_strong(expected, packed.freeze().word(), std::memory_order_acq_rel,
                                            std::memory_order_relaxed))
    return give_up();

  book(to.line, hash_of_it);
  write(to, {tag.ports_protocol(), Status::valid, busy.version()}, key, {packed.entry(), busy.version()},
        from.line->seen[from.way].load(std::memory_order_relaxed));
  // seq_cst: see settle()
  moves_.fetch_add(1, std::memory_order_seq_cst);
  auto gone = packed.entry();
  gone.state = State::removed;
  // release: who sees the entry gone sees it in its new place
  source_entry.store(packed.with(gone).word(), std::memory_order_release);
  source_tag.store(Tag(0, Status::empty, tag.version()).word(), std::memory_order_release);
  unbook(from.line, hash_of_it);
  return true;
}

template auto Table<Line4>::make_room(const Candidates&) -> Room;
template auto Table<Line6>::make_room(const Candidates&) -> Room;

}  // namespace zonelb::conntrack
