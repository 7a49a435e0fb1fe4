#pragma once

namespace zonelb::conntrack {

template <class Bucket>
std::optional<Entry> Table<Bucket>::remove(Bucket& bucket, unsigned way, PackedEntry packed, Tag tag,
                                           Status next) {
  auto gone = packed.entry();
  gone.state = State::removed;
  auto expected = packed.word();
  // First the entry: if a packet has just confirmed it, this fails and it stays. acq_rel: the entry's holders
  // see it removed before its slot is used again.
  if (!bucket.entry[way].compare_exchange_strong(expected, packed.with(gone).word(),
                                                 std::memory_order_acq_rel, std::memory_order_relaxed))
    return std::nullopt;
  // From here on the slot is ours alone. release: the next owner's claim sees the removal.
  const std::uint64_t version = next == Status::busy ? tag.version() + 1 : tag.version();
  bucket.tag[way].store(Tag(0, next, version).word(), std::memory_order_release);
  return packed.entry();
}

template <class Bucket>
template <class Ended, class Removed>
void Table<Bucket>::sweep(std::uint64_t first, std::uint64_t count, std::uint32_t now, Ended&& ended,
                          Removed&& removed) {
  for (std::uint64_t i = 0; i < count; ++i) {
    Bucket& bucket = buckets_[(first + i) % buckets_.size()];
    for (unsigned way = 0; way < slots_per_bucket; ++way) {
      // acquire: the entry read next belongs to this tag or to a later one
      const Tag tag(bucket.tag[way].load(std::memory_order_acquire));
      if (tag.status() != Status::valid) continue;
      const PackedEntry packed(bucket.entry[way].load(std::memory_order_acquire));
      if (bucket.tag[way].load(std::memory_order_relaxed) != tag.word() || packed.state() == State::removed)
        continue;
      const auto seen = bucket.seen[way].load(std::memory_order_relaxed);
      const std::uint32_t idle = now > seen ? now - seen : 0;
      if (!ended(protocol_of(tag), packed.entry(), idle)) continue;
      if (const auto gone = remove(bucket, way, packed, tag, Status::empty)) removed(*gone);
    }
  }
}

template <class Bucket>
void Table<Bucket>::prefetch_sweep(std::uint64_t first, std::uint64_t count) const {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto* line = reinterpret_cast<const char*>(&buckets_[(first + i) % buckets_.size()]);
    prefetch_line(line);
    prefetch_line(line + 64);
  }
}

template <class Bucket>
template <class Visit>
void Table<Bucket>::for_each(std::uint32_t now, Visit&& visit) const {
  for (const Bucket& bucket : buckets_) {
    for (unsigned way = 0; way < slots_per_bucket; ++way) {
      const Tag tag(bucket.tag[way].load(std::memory_order_acquire));
      if (tag.status() != Status::valid) continue;
      FlowKey key{};
      key.ports_protocol = tag.ports_protocol();
      for (unsigned word = 0; word < Bucket::address_words; ++word)
        key.addresses[word] = bucket.address[way][word].load(std::memory_order_acquire);
      const PackedEntry packed(bucket.entry[way].load(std::memory_order_acquire));
      if (bucket.tag[way].load(std::memory_order_relaxed) != tag.word() || packed.state() == State::removed)
        continue;
      const auto seen = bucket.seen[way].load(std::memory_order_relaxed);
      visit(key, packed.entry(), now > seen ? now - seen : 0);
    }
  }
}

}  // namespace zonelb::conntrack
