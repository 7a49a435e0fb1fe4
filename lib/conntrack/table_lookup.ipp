#pragma once

#include <algorithm>
#include <bit>

namespace zonelb::conntrack {
namespace detail {

/// Folds the 128-bit product: each bit of the result depends on all bits of both factors.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace detail

template <class Bucket>
std::uint64_t Table<Bucket>::hash(const FlowKey& key) const {
  using detail::mix;
  if constexpr (Bucket::address_words == 1) {
    return mix(key.addresses[0] ^ seeds_[0], key.ports_protocol ^ seeds_[1]);
  } else {
    const auto source = mix(key.addresses[0] ^ seeds_[0], key.addresses[1] ^ seeds_[1]);
    const auto destination = mix(key.addresses[2] ^ seeds_[2], key.addresses[3] ^ seeds_[3]);
    return mix(source ^ key.ports_protocol, destination ^ seeds_[4]);
  }
}

template <class Bucket>
std::array<Bucket*, 2> Table<Bucket>::candidates(std::uint64_t hash) const {
  const auto count = buckets_.size();
  const auto first = ((hash >> 32) * count) >> 32;
  auto second = ((hash & 0xffffffff) * count) >> 32;
  if (second == first) second = first + 1 == count ? 0 : first + 1;
  return {&buckets_[first], &buckets_[second]};
}

template <class Bucket>
void Table<Bucket>::prefetch(std::uint64_t hash) const {
  const auto [first, second] = candidates(hash);
  prefetch_line(first);
  prefetch_line(reinterpret_cast<const char*>(first) + 64);
  prefetch_line(second);
  prefetch_line(reinterpret_cast<const char*>(second) + 64);
}

template <class Bucket>
bool Table<Bucket>::holds(const Bucket& bucket, unsigned way, const FlowKey& key) {
  // acquire: pairs with write(); an address of a later use of the slot brings its `busy` tag with it, so that
  // the caller's second look at the tag tells.
  for (unsigned i = 0; i < Bucket::address_words; ++i)
    if (bucket.address[way][i].load(std::memory_order_acquire) != key.addresses[i]) return false;
  return true;
}

template <class Bucket>
auto Table<Bucket>::find(const FlowKey& key, std::uint64_t hash) const -> Slot {
  const auto both = candidates(hash);
  // Both buckets are looked at without a branch: where a key lies is a coin's toss to the processor.
  unsigned ways = matching_ways(*both[0], key) | matching_ways(*both[1], key) << slots_per_bucket;
  for (; ways != 0; ways &= ways - 1) {
    const auto first = static_cast<unsigned>(std::countr_zero(ways));
    Bucket* bucket = both[first / slots_per_bucket];
    const unsigned way = first % slots_per_bucket;
    // acquire: what follows must not be read before the tag
    const Tag tag(bucket->tag[way].load(std::memory_order_acquire));
    if (!tag.shows(key.ports_protocol) || !holds(*bucket, way, key)) continue;
    const PackedEntry packed(bucket->entry[way].load(std::memory_order_acquire));
    // relaxed: the acquiring loads above keep this one behind them
    if (bucket->tag[way].load(std::memory_order_relaxed) != tag.word()) continue;
    if (packed.state() != State::removed) return {bucket, way, packed};
  }
  return {};
}

template <class Bucket>
bool Table<Bucket>::replace(Slot& slot, const Entry& entry) {
  auto expected = slot.packed.word();
  const auto wanted = slot.packed.with(entry);
  // acq_rel: changes of one entry follow each other; on failure we go on with what the other worker made of
  // it
  const bool replaced = slot.bucket->entry[slot.way].compare_exchange_strong(
      expected, wanted.word(), std::memory_order_acq_rel, std::memory_order_acquire);
  if (replaced) {
    slot.packed = wanted;
    return true;
  }
  const bool other_connection =
      PackedEntry(expected).with(Entry{}).word() != slot.packed.with(Entry{}).word();
  slot.packed = other_connection ? slot.packed.with({.state = State::removed}) : PackedEntry(expected);
  return false;
}

}  // namespace zonelb::conntrack
