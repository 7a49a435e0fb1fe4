#pragma once

namespace zonelb::conntrack {

template <class Line>
FlowKey Table<Line>::key_in(const Line& line, unsigned way, Tag tag) {
  FlowKey key{};
  key.ports_protocol = tag.ports_protocol();
  // acquire: see holds()
  for (unsigned word = 0; word < Line::address_words; ++word)
    key.addresses[word] = line.address[way][word].load(std::memory_order_acquire);
  return key;
}

/// Makes an entry's slot ours alone, if it still holds what was read. The caller unbooks the place and gives
/// the tag its next value.
template <class Line>
bool Table<Line>::remove(Line& line, unsigned way, PackedEntry packed) {
  auto gone = packed.entry();
  gone.state = State::removed;
  auto expected = packed.word();
  // Whoever froze an entry is about to remove it. First the entry: if a packet has just confirmed it, this
  // fails and it stays. acq_rel: the entry's holders see it removed before its slot is used again.
  return !packed.frozen() &&
         line.entry[way].compare_exchange_strong(expected, packed.with(gone).word(),
                                                 std::memory_order_acq_rel, std::memory_order_relaxed);
}

template <class Line>
template <class Ended, class Removed>
void Table<Line>::sweep(std::uint64_t first, std::uint64_t count, std::uint32_t now, Ended&& ended,
                        Removed&& removed) {
  for (auto at = first % lines_.size(); count > 0; --count, at = at + 1 < lines_.size() ? at + 1 : 0) {
    Line& line = lines_[at];
    for (unsigned way = 0; way < Line::slots; ++way) {
      // acquire: the entry read next belongs to this tag or to a later one
      const Tag tag(line.tag[way].load(std::memory_order_acquire));
      if (tag.status() != Status::valid) continue;
      const PackedEntry packed(line.entry[way].load(std::memory_order_acquire));
      if (line.tag[way].load(std::memory_order_relaxed) != tag.word() || packed.state() == State::removed)
        continue;
      const auto seen = line.seen[way].load(std::memory_order_relaxed);
      const std::uint32_t idle = now > seen ? now - seen : 0;
      if (!ended(protocol_of(tag), packed.entry(), idle)) continue;
      if (!remove(line, way, packed)) continue;
      unbook({&line, way}, hash(key_in(line, way, tag)));
      give_back({&line, way}, tag);
      removed(packed.entry());
    }
  }
}

template <class Line>
void Table<Line>::give_back(Place place, Tag tag) {
  // release: the slot's next owner comes after us
  place.tag().store(tag.emptied().word(), std::memory_order_release);
}

template <class Line>
void Table<Line>::prefetch_sweep(std::uint64_t first, std::uint64_t count) const {
  const auto end = std::min<std::uint64_t>(first + count, lines_.size());
  for (auto at = first; at < end; ++at) prefetch_line(&lines_[at]);
}

template <class Line>
template <class Visit>
void Table<Line>::for_each(std::uint32_t now, Visit&& visit) const {
  for (const Line& line : lines_) {
    for (unsigned way = 0; way < Line::slots; ++way) {
      const Tag tag(line.tag[way].load(std::memory_order_acquire));
      if (tag.status() != Status::valid) continue;
      const FlowKey key = key_in(line, way, tag);
      const PackedEntry packed(line.entry[way].load(std::memory_order_acquire));
      if (line.tag[way].load(std::memory_order_relaxed) != tag.word() || packed.state() == State::removed)
        continue;
      const auto seen = line.seen[way].load(std::memory_order_relaxed);
      visit(key, packed.entry(), now > seen ? now - seen : 0);
    }
  }
}

}  // namespace zonelb::conntrack
