#pragma once

#include <algorithm>

namespace zonelb::conntrack {

/// Clients come in rows: addresses or ports one after the other. Of such keys the products are rows too,
/// which for some seeds (one in twenty) meet in a part of the lines. What mix() folds in from the products'
/// upper halves is irregular in its low bits alone; an odd factor spreads these to the top.
template <class Line>
std::uint64_t Table<Line>::hash(const FlowKey& key) const {
  using net::mix;
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  if constexpr (Line::address_words == 1) {
    return odd * mix(key.addresses[0] ^ seeds_[0], key.ports_protocol ^ seeds_[1]);
  } else {
    const auto source = mix(key.addresses[0] ^ seeds_[0], key.addresses[1] ^ seeds_[1]);
    const auto destination = mix(key.addresses[2] ^ seeds_[2], key.addresses[3] ^ seeds_[3]);
    return odd * mix(source ^ key.ports_protocol, destination ^ seeds_[4]);
  }
}

template <class Line>
auto Table<Line>::home(std::uint64_t hash) const -> Home {
  return &lines_[((hash >> 32) * lines_.size()) >> 32];
}

template <class Line>
Line* Table<Line>::far(std::uint64_t hash, const Line* home) const {
  const auto chosen = ((hash & 0xffffffff) * lines_.size()) >> 32;
  if (!same_bucket(&lines_[chosen], home)) return &lines_[chosen];
  const auto next = chosen + lines_per_bucket;
  return &lines_[next < lines_.size() ? next : next - lines_.size()];
}

template <class Line>
[[gnu::always_inline]] inline auto Table<Line>::prefetch_rest(Home home, std::uint64_t hash) const -> Rest {
  // relaxed: find_rest() and insert() look again
  const auto word = home->elsewhere.load(std::memory_order_relaxed);
  Elsewhere there(word, hash);
  if (!there.any()) return {nullptr, true, word};
  Line* const line = candidate(hash, home, there.first());
  prefetch_line(line);
  there.drop_first();
  if (there.any()) [[unlikely]]
    prefetch_lines(there, home, hash);
  return {line, !there.any(), word};
}

template <class Line>
[[gnu::noinline]] void Table<Line>::prefetch_lines(Elsewhere there, Home home, std::uint64_t hash) const {
  for (; there.any(); there.drop_first()) prefetch_line(candidate(hash, home, there.first()));
}

template <class Line>
void Table<Line>::prefetch_near(Home home) {
  for (unsigned i = 1; i < lines_per_bucket; ++i) prefetch_to_write(sibling(home, i));
}

template <class Line>
void Table<Line>::prefetch_bucket(Line* first) {
  for (unsigned i = 0; i < lines_per_bucket; ++i) prefetch_to_write(sibling(first, i));
}

template <class Line>
void Table<Line>::prefetch_far(Home home, std::uint64_t hash, const Patience& patience) const {
  if (free_in_bucket(home) || (patience.exhausted() && has_evictable(home))) return;
  prefetch_bucket(far(hash, home));
}

/// Would a newcomer evict something in a full bucket? (A hint.)
template <class Line>
bool Table<Line>::has_evictable(Line* bucket) {
  for (unsigned i = 0; i < lines_per_bucket; ++i)
    // relaxed: a hint
    for (const auto& entry : sibling(bucket, i)->entry)
      if (PackedEntry(entry.load(std::memory_order_relaxed)).evictable()) return true;
  return false;
}

/// 0: the slot's addresses are the key's.
template <class Line>
std::uint64_t Table<Line>::address_difference(const Line& line, unsigned way, const FlowKey& key) {
  // acquire: pairs with write(); an address of a later use of the slot brings its `busy` tag with it, so that
  // the caller's second look at the tag tells.
  std::uint64_t difference = 0;
  for (unsigned i = 0; i < Line::address_words; ++i)
    difference |= line.address[way][i].load(std::memory_order_acquire) ^ key.addresses[i];
  return difference;
}

template <class Line>
bool Table<Line>::holds(const Line& line, unsigned way, const FlowKey& key) {
  return address_difference(line, way, key) == 0;
}

template <class Line>
[[gnu::always_inline]] inline auto Table<Line>::look(Line& line, unsigned way, const FlowKey& key) -> Slot {
  // acquire: what follows must not be read before the tag
  const Tag tag(line.tag[way].load(std::memory_order_acquire));
  if (!tag.shows(key.ports_protocol) || !holds(line, way, key)) return {};
  const PackedEntry packed(line.entry[way].load(std::memory_order_acquire));
  // relaxed: the loads before it acquire
  if (line.tag[way].load(std::memory_order_relaxed) != tag.word() || packed.state() == State::removed)
    return {};
  return {{&line, way}, packed};
}

/// Until all that is to be read has been read twice without a change between: when the home's word was read
/// the second time, a key that was in the table was in one of the slots that were looked at. Another round
/// means that another worker has changed one of these few slots.
template <class Line>
template <class Is>
bool Table<Line>::any_slot(Line* home, std::uint64_t hash, std::uint64_t booked, Is&& is) const {
  for (;;) {
    Glance glance;
    const auto in = [&](Line& line) {
      for (unsigned way = 0; way < Line::slots; ++way)
        if (is(line, way, glance.at(line.tag[way]))) return true;
      return false;
    };
    if (in(*home)) return true;
    // seq_cst: see Table
    const auto word = home->elsewhere.load(std::memory_order_seq_cst);
    for (Elsewhere there(word - booked, hash); there.any(); there.drop_first())
      if (in(*candidate(hash, home, there.first()))) return true;
    // acquire: the tags are read after it
    if (home->elsewhere.load(std::memory_order_acquire) == word && glance.unchanged()) return false;
  }
}

/// Which way it is is a coin's toss to the processor, hence no branch on it: the first way that does not hold
/// the key points to the second.
template <class Line>
[[gnu::always_inline]] inline auto Table<Line>::find_in_line(const FlowKey& key, Line* where) -> LineSlot {
  Line& line = *where;
  // acquire: what follows must not be read before the tag
  const auto difference = [&](unsigned way, Tag& tag) {
    tag = Tag(line.tag[way].load(std::memory_order_acquire));
    return tag.difference(key.ports_protocol) | address_difference(line, way, key);
  };
  Tag tag;
  const unsigned way = Line::slots == 2 ? static_cast<unsigned>(difference(0, tag) != 0) : 0;
  if (difference(way, tag) != 0) return {};
  const PackedEntry packed(line.entry[way].load(std::memory_order_acquire));
  // relaxed: the acquiring loads above keep this one behind them
  if (line.tag[way].load(std::memory_order_relaxed) != tag.word()) return {};
  return {&line, way, packed, true};
}

template <class Line>
std::uint32_t Table<Line>::probable_target(const FlowKey& key, std::uint64_t hash) const {
  const Line& line = *home(hash);
  // relaxed, both: a hint
  const Tag first(line.tag[0].load(std::memory_order_relaxed));
  const unsigned way = Line::slots == 2 && !first.is_like(key.ports_protocol) ? 1 : 0;
  return PackedEntry(line.entry[way].load(std::memory_order_relaxed)).target();
}

template <class Line>
auto Table<Line>::find(const FlowKey& key, std::uint64_t hash) const -> Slot {
  Slot slot;
  any_slot(home(hash), hash, 0, [&](Line& line, unsigned way, Tag tag) {
    return tag.shows(key.ports_protocol) && (slot = look(line, way, key));
  });
  return slot;
}

template <class Line>
auto Table<Line>::find_rest(const FlowKey& key, std::uint64_t hash, const Rest& rest) const -> Slot {
  for (unsigned way = 0; way < Line::slots; ++way)
    if (const Slot slot = look(*rest.line, way, key)) return slot;
  // relaxed: look() acquires. An entry that has left that line has changed its home's word.
  const bool same = home(hash)->elsewhere.load(std::memory_order_relaxed) == rest.word;
  return rest.only && same ? Slot{} : find(key, hash);
}

template <class Line>
bool Table<Line>::replace(Slot& slot, const Entry& entry) {
  auto& word = slot.place.entry();
  auto expected = slot.packed.word();
  const auto wanted = slot.packed.with(entry);
  // acq_rel: changes of one entry follow each other; on failure (acquire) we go on with what the other worker
  // made of it
  if (slot.packed.frozen()) {
    expected = word.load(std::memory_order_acquire);
  } else if (word.compare_exchange_strong(expected, wanted.word(), std::memory_order_acq_rel,
                                          std::memory_order_acquire)) {
    slot.packed = wanted;
    return true;
  }
  const PackedEntry now(expected);
  slot.packed = now.same_use(slot.packed) ? now : slot.packed.with({.state = State::removed});
  return false;
}

}  // namespace zonelb::conntrack
