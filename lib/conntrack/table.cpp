#include "conntrack/table.hpp"

#include <memory>
#include <random>
#include <stdexcept>

namespace zonelb::conntrack {
namespace {

/// Lost races in a row after which a connection goes without an entry rather than hold up a burst.
constexpr unsigned max_attempts = 64;
/// Lost races after which we no longer wait for the other worker, which may not be running at all.
constexpr unsigned patient_attempts = 8;

std::uint64_t buckets_for(std::uint64_t capacity) {
  const auto buckets = std::max<std::uint64_t>(2, (capacity + slots_per_bucket - 1) / slots_per_bucket);
  if (buckets > 0xffffffff) throw std::length_error("a connection table of more than 2^34 entries");
  return buckets;
}

}  // namespace

template <class Bucket>
Table<Bucket>::Table(std::uint64_t capacity, std::uint64_t seed)
    : memory_(buckets_for(capacity) * sizeof(Bucket)) {
  const auto count = buckets_for(capacity);
  auto* first = static_cast<Bucket*>(memory_.data());
  std::uninitialized_value_construct_n(first, count);
  buckets_ = {first, count};
  std::mt19937_64 random(seed);
  for (auto& word : seeds_) word = random();
}

template <class Bucket>
auto Table<Bucket>::free_place(const std::array<Bucket*, 2>& candidates) -> Place {
  std::array<unsigned, 2> free{};
  std::array<Place, 2> place{};
  for (unsigned c = 0; c < 2; ++c) {
    for (unsigned way = 0; way < slots_per_bucket; ++way) {
      // relaxed: claim() checks again by compare-and-swap
      if (Tag(candidates[c]->tag[way].load(std::memory_order_relaxed)).status() != Status::empty) continue;
      if (free[c]++ == 0) place[c] = {candidates[c], way};
    }
  }
  return free[1] > free[0] ? place[1] : place[0];
}

/// Is a slot about to become valid or empty? Then "full" may be over in a moment.
template <class Bucket>
bool Table<Bucket>::in_motion(const std::array<Bucket*, 2>& candidates) {
  for (const Bucket* bucket : candidates) {
    for (unsigned way = 0; way < slots_per_bucket; ++way) {
      const auto status = Tag(bucket->tag[way].load(std::memory_order_relaxed)).status();
      if (status != Status::valid) return true;
    }
  }
  return false;
}

template <class Bucket>
auto Table<Bucket>::oldest_unconfirmed(const std::array<Bucket*, 2>& candidates, std::uint32_t now) -> Place {
  Place oldest;
  std::uint32_t longest_idle = 0;
  for (Bucket* bucket : candidates) {
    for (unsigned way = 0; way < slots_per_bucket; ++way) {
      // relaxed: a wrong guess fails in remove()
      if (Tag(bucket->tag[way].load(std::memory_order_relaxed)).status() != Status::valid) continue;
      if (!is_unconfirmed(PackedEntry(bucket->entry[way].load(std::memory_order_relaxed)).state())) continue;
      const auto seen = bucket->seen[way].load(std::memory_order_relaxed);
      const std::uint32_t idle = now > seen ? now - seen : 0;
      if (oldest.bucket != nullptr && idle <= longest_idle) continue;
      oldest = {bucket, way};
      longest_idle = idle;
    }
  }
  return oldest;
}

/// Gets a slot into `busy` for us. A default Tag: none to be had now; `place` tells whether it pays to try
/// again.
template <class Bucket>
Tag Table<Bucket>::claim(const std::array<Bucket*, 2>& candidates, std::uint32_t now, Place& place,
                         Insertion& result) const {
  place = free_place(candidates);
  if (place.bucket != nullptr) {
    auto& word = place.bucket->tag[place.way];
    auto current = word.load(std::memory_order_relaxed);
    const Tag busy(0, Status::busy, Tag(current).version() + 1);
    if (Tag(current).status() != Status::empty) return {};
    // acquire: the previous owner's last writes come before ours
    return word.compare_exchange_strong(current, busy.word(), std::memory_order_acquire,
                                        std::memory_order_relaxed)
               ? busy
               : Tag();
  }
  // One connection evicts one other at most.
  place = result.evicted ? Place{} : oldest_unconfirmed(candidates, now);
  if (place.bucket == nullptr) return {};
  // acquire: the entry below belongs to this tag or to a later one, which the second look at the tag tells
  const Tag tag(place.bucket->tag[place.way].load(std::memory_order_acquire));
  const PackedEntry packed(place.bucket->entry[place.way].load(std::memory_order_acquire));
  if (place.bucket->tag[place.way].load(std::memory_order_relaxed) != tag.word()) return {};
  if (tag.status() != Status::valid || !is_unconfirmed(packed.state())) return {};
  const auto evicted = remove(*place.bucket, place.way, packed, tag, Status::busy);
  if (!evicted) return {};
  result.evicted = evicted;
  return {0, Status::busy, tag.version() + 1};
}

template <class Bucket>
void Table<Bucket>::write(const Place& place, Tag tag, const FlowKey& key, PackedEntry packed,
                          std::uint32_t now) {
  // release: whoever reads one of these words also sees the `busy` tag that came before (see holds())
  for (unsigned i = 0; i < Bucket::address_words; ++i)
    place.bucket->address[place.way][i].store(key.addresses[i], std::memory_order_release);
  place.bucket->entry[place.way].store(packed.word(), std::memory_order_release);
  place.bucket->seen[place.way].store(now, std::memory_order_relaxed);
  // seq_cst: of two workers that publish the same key, at least one sees the other's slot when it then looks
  // for it
  place.bucket->tag[place.way].store(tag.word(), std::memory_order_seq_cst);
}

/// Makes our tentative slot the only valid one of its key, or gives it up for another that is or will be.
/// Of two tentative slots the one at the lower address wins: it turns the other one empty before confirming
/// itself.
template <class Bucket>
auto Table<Bucket>::settle(const std::array<Bucket*, 2>& candidates, const Place& mine, Tag tag,
                           const FlowKey& key, bool patient) -> Settled {
  const auto give_up = [&] {
    auto expected = tag.word();
    // release: the slot's next owner comes after us. Failure means that a winner has emptied it already.
    mine.bucket->tag[mine.way].compare_exchange_strong(expected, tag.with(Status::empty).word(),
                                                       std::memory_order_release, std::memory_order_relaxed);
    return Settled::lost;
  };
  for (Bucket* bucket : candidates) {
    for (unsigned way = 0; way < slots_per_bucket; ++way) {
      auto& word = bucket->tag[way];
      if (bucket == mine.bucket && way == mine.way) continue;
      // seq_cst: pairs with the publishing store in write()
      Tag other(word.load(std::memory_order_seq_cst));
      const bool complete = other.status() == Status::tentative || other.status() == Status::valid;
      if (!complete || other.ports_protocol() != key.ports_protocol || !holds(*bucket, way, key)) continue;
      if (PackedEntry(bucket->entry[way].load(std::memory_order_acquire)).state() == State::removed) continue;
      auto current = other.word();
      const bool other_is_first = std::pair(bucket, way) < std::pair(mine.bucket, mine.way);
      if (other.status() == Status::valid || (other_is_first && patient)) return give_up();
      // acq_rel: success hands the slot on; failure tells what its owner made of it
      if (word.compare_exchange_strong(current, other.with(Status::empty).word(), std::memory_order_acq_rel,
                                       std::memory_order_acquire))
        continue;
      if (current == other.with(Status::valid).word()) return give_up();
    }
  }
  auto expected = tag.word();
  // acq_rel: failure means that a winner has emptied our slot, whose entry we then take
  return mine.bucket->tag[mine.way].compare_exchange_strong(
             expected, tag.with(Status::valid).word(), std::memory_order_acq_rel, std::memory_order_acquire)
             ? Settled::won
             : Settled::lost;
}

template <class Bucket>
auto Table<Bucket>::insert(const FlowKey& key, std::uint64_t hash, const Entry& entry, std::uint32_t now)
    -> Insertion {
  const auto both = candidates(hash);
  Insertion result;
  for (unsigned attempt = 0; attempt < max_attempts; ++attempt) {
    if (const Slot slot = find(key, hash)) {
      result.outcome = Outcome::existed;
      result.slot = slot;
      return result;
    }
    Place place;
    const Tag busy = claim(both, now, place, result);
    if (place.bucket == nullptr || busy.status() != Status::busy) {
      if (place.bucket == nullptr && !in_motion(both)) return result;
      continue;
    }
    const PackedEntry packed(entry, busy.version());
    const Tag tentative(key.ports_protocol, Status::tentative, busy.version());
    write(place, tentative, key, packed, now);
    if (settle(both, place, tentative, key, attempt < patient_attempts) == Settled::lost) continue;
    result.outcome = Outcome::inserted;
    result.slot = {place.bucket, place.way, packed};
    return result;
  }
  return result;
}

template class Table<Bucket4>;
template class Table<Bucket6>;

}  // namespace zonelb::conntrack
