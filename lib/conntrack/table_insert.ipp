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
  // seq_cst: see alone(); it also puts the previous owner's last writes before ours
  if (!word.compare_exchange_strong(current, mine.word(), std::memory_order_seq_cst,
                                    std::memory_order_relaxed))
    return {};
  return mine;
}

template <class Line>
bool Table<Line>::others_like(const Line& line, Place mine, std::uint64_t ports_protocol) {
  bool found = false;
  for (unsigned way = 0; way < Line::slots; ++way)
    // seq_cst: see alone()
    if (&line.tag[way] != &mine.tag())
      found |= Tag(line.tag[way].load(std::memory_order_seq_cst)).is_like(ports_protocol);
  return found;
}

template <class Line>
bool Table<Line>::others_elsewhere(Elsewhere there, Place mine, std::uint64_t ports_protocol,
                                   std::uint64_t hash) const {
  Line* const first = home(hash);
  for (; there.any(); there.drop_first())
    if (others_like(*candidate(hash, first, there.first()), mine, ports_protocol)) return true;
  return false;
}

/// seq_cst, here and where it says so: announcing and looking, see Table.
template <class Line>
[[gnu::always_inline]] inline bool Table<Line>::alone(Place mine, const Line* home, std::uint64_t booked,
                                                      std::uint64_t ports_protocol,
                                                      std::uint64_t hash) const {
  // acquire: a move that is counted already is seen below in its new place, booking and all
  const auto moves = moves_.load(std::memory_order_acquire);
  if (others_like(*home, mine, ports_protocol)) return false;
  const auto others = home->elsewhere.load(std::memory_order_seq_cst) - booked;
  if (others != 0 && others_elsewhere({others, hash}, mine, ports_protocol, hash)) return false;
  // relaxed: the loads before it acquire. Who missed an entry because it has left its old place sees it
  // counted.
  return moves == moves_.load(std::memory_order_relaxed);
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
bool Table<Line>::publish(Place place, Tag tag, const FlowKey& key, PackedEntry packed, std::uint32_t now) {
  write(place, key, packed, now);
  auto expected = tag.word();
  // release: who sees the tag valid sees the rest. Failure means that another has turned it `busy`.
  return place.tag().compare_exchange_strong(expected, tag.with(Status::valid).word(),
                                             std::memory_order_release, std::memory_order_relaxed);
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
  if (alone(place, home, 0, key.ports_protocol, hash) && publish(place, tag, key, packed, now)) [[likely]]
    return {place, packed};
  give_back(place, tag);
  return {};
}

template <class Line>
auto Table<Line>::insert(const FlowKey& key, std::uint64_t hash, const Entry& entry, std::uint32_t now,
                         Patience& patience) -> Insertion {
  if (const Slot slot = insert_at_home(key, hash, home(hash), entry, now))
    return {Outcome::inserted, slot, std::nullopt};
  return insert_anywhere(key, hash, entry, now, patience);
}

}  // namespace zonelb::conntrack
