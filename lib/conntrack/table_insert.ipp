#pragma once

namespace zonelb::conntrack {

template <class Line>
unsigned Table<Line>::free_ways(const Line& line) {
  unsigned ways = 0;
  for (unsigned way = 0; way < Line::slots; ++way)
    // relaxed: claim() checks again by compare-and-swap
    ways |= unsigned{Tag(line.tag[way].load(std::memory_order_relaxed)).status() == Status::empty} << way;
  return ways;
}

template <class Line>
auto Table<Line>::free_place(Line* line) -> Place {
  const unsigned ways = free_ways(*line);
  return ways == 0 ? Place{} : Place{line, static_cast<unsigned>(std::countr_zero(ways))};
}

template <class Line>
auto Table<Line>::free_in_bucket(Line* bucket) -> Place {
  for (unsigned i = 0; i < lines_per_bucket; ++i)
    if (const Place place = free_place(sibling(bucket, i))) return place;
  return {};
}

/// Makes an empty slot ours; the tag it then has. None: somebody was faster.
template <class Line>
Tag Table<Line>::claim(Place place, Status status, std::uint64_t ports_protocol) {
  auto& word = place.tag();
  auto current = word.load(std::memory_order_relaxed);
  if (Tag(current).status() != Status::empty) return {};
  const Tag mine = Tag(current).next_use(status, ports_protocol);
  // seq_cst: see Table; it also puts the previous owner's last writes before ours
  if (!word.compare_exchange_strong(current, mine.word(), std::memory_order_seq_cst,
                                    std::memory_order_relaxed))
    return {};
  return mine;
}

/// any_slot() for the many keys of which nothing is elsewhere. Nothing needs to be read twice then but the
/// home's tags, as a key that was in the table when the home's word was read was at home.
template <class Line>
[[gnu::always_inline]] inline bool Table<Line>::alone(Place mine, Line* home, std::uint64_t booked,
                                                      std::uint64_t ports_protocol,
                                                      std::uint64_t hash) const {
  std::array<std::uint64_t, Line::slots> tags;
  bool like = false, changed = false;
  for (unsigned way = 0; way < Line::slots; ++way) {
    // seq_cst: see Table
    tags[way] = home->tag[way].load(std::memory_order_seq_cst);
    like |= &home->tag[way] != &mine.tag() && Tag(tags[way]).is_like(ports_protocol);
  }
  if (like) [[unlikely]]
    return false;
  const auto others = home->elsewhere.load(std::memory_order_seq_cst) - booked;
  if (others != 0 && Elsewhere(others, hash).any()) [[unlikely]]
    return alone_everywhere(mine, home, booked, ports_protocol, hash);
  for (unsigned way = 0; way < Line::slots; ++way)
    // relaxed: the loads before it acquire
    changed |= home->tag[way].load(std::memory_order_relaxed) != tags[way];
  return !changed;
}

template <class Line>
[[gnu::noinline]] bool Table<Line>::alone_everywhere(Place mine, Line* home, std::uint64_t booked,
                                                     std::uint64_t ports_protocol, std::uint64_t hash) const {
  return !any_slot(home, hash, booked, [&](const Line& line, unsigned way, Tag tag) {
    return &line.tag[way] != &mine.tag() && tag.is_like(ports_protocol);
  });
}

template <class Line>
void Table<Line>::write(Place place, const FlowKey& key, PackedEntry packed, std::uint32_t now) {
  // release: whoever reads one of these words also sees the claim that came before (see holds())
  for (unsigned i = 0; i < Line::address_words; ++i)
    place.line()->address[place.way()][i].store(key.addresses[i], std::memory_order_release);
  place.entry().store(packed.word(), std::memory_order_release);
  place.seen().store(now, std::memory_order_relaxed);
}

template <class Line>
void Table<Line>::publish(Place place, Tag tag, const FlowKey& key, PackedEntry packed, std::uint32_t now) {
  write(place, key, packed, now);
  // release: who sees the tag valid sees the rest
  place.tag().store(tag.with(Status::valid).word(), std::memory_order_release);
}

/// Announces a key in a place that was claimed for it, and makes it valid if it is alone; if not, the place
/// is given back.
template <class Line>
[[gnu::always_inline]] inline bool Table<Line>::settle(Place place, Tag tag, std::uint64_t booked,
                                                       std::uint64_t hash, Line* home, const FlowKey& key,
                                                       PackedEntry packed, std::uint32_t now) const {
  // seq_cst: see Table
  if (booked != 0) home->elsewhere.fetch_add(booked, std::memory_order_seq_cst);
  if (alone(place, home, booked, key.ports_protocol, hash)) [[likely]] {
    publish(place, tag, key, packed, now);
    return true;
  }
  // release: as in unbook()
  if (booked != 0) home->elsewhere.fetch_sub(booked, std::memory_order_release);
  give_back(place, tag);
  return false;
}

template <class Line>
[[gnu::always_inline]] inline auto Table<Line>::insert_at_home(const FlowKey& key, std::uint64_t hash,
                                                               Home home, const Entry& entry,
                                                               std::uint32_t now) const -> Slot {
  const Place place = free_place(home);
  if (!place) return {};
  const Tag tag = claim(place, Status::tentative, key.ports_protocol);
  if (!tag) [[unlikely]]
    return {};
  const PackedEntry packed(entry, tag.version());
  if (!settle(place, tag, 0, hash, home, key, packed, now)) [[unlikely]]
    return {};
  return {place, packed};
}

template <class Line>
[[gnu::noinline]] auto Table<Line>::insert_elsewhere(const FlowKey& key, std::uint64_t hash, Home home,
                                                     const Entry& entry, std::uint32_t now, Slot& slot) const
    -> Outcome {
  for (unsigned i = 1; i < 2 * lines_per_bucket; ++i) {
    const Place place = free_place(candidate(hash, home, i));
    if (!place) continue;
    const Tag tag = claim(place, Status::tentative, key.ports_protocol);
    if (!tag) return Outcome::existed;
    const PackedEntry packed(entry, tag.version());
    const auto booked = Elsewhere::booking(i, place.way(), hash);
    if (!settle(place, tag, booked, hash, home, key, packed, now)) [[unlikely]]
      return Outcome::existed;
    slot = {place, packed};
    return Outcome::inserted;
  }
  return Outcome::full;
}

template <class Line>
auto Table<Line>::insert(const FlowKey& key, std::uint64_t hash, const Entry& entry, std::uint32_t now,
                         Patience& patience) -> Insertion {
  if (const Slot slot = insert_at_home(key, hash, home(hash), entry, now))
    return {Outcome::inserted, slot, std::nullopt};
  if (Slot slot;
      is_full(home(hash)) && insert_elsewhere(key, hash, home(hash), entry, now, slot) == Outcome::inserted)
    return {Outcome::inserted, slot, std::nullopt};
  return insert_anywhere(key, hash, entry, now, patience);
}

}  // namespace zonelb::conntrack
