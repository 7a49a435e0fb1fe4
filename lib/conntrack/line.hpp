#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "conntrack/flow_key.hpp"

namespace zonelb::conntrack {

/// Ports, protocol, what the slot is doing and how often it was used, in one word: the part of a slot that is
/// claimed, announced, published and freed. The version grows with each claim.
class Tag {
 public:
  enum class Status : std::uint8_t {
    empty,
    /// Claimed for an entry that moves there.
    busy,
    /// Claimed for a new key with these ports and protocol, unless its owner gives way to another.
    tentative,
    valid
  };

  constexpr Tag() = default;
  explicit constexpr Tag(std::uint64_t word) : word_(word) {}
  constexpr Tag(std::uint64_t ports_protocol, Status status, std::uint64_t version)
      : word_(ports_protocol | std::uint64_t{static_cast<std::uint8_t>(status)} << status_shift |
              version << version_shift) {}

  /// A claimed slot's, as its status is not 0; a tag of 0 stands for "none".
  explicit constexpr operator bool() const { return word_ != 0; }
  [[nodiscard]] constexpr std::uint64_t word() const { return word_; }
  [[nodiscard]] constexpr Status status() const { return static_cast<Status>((word_ >> status_shift) & 3); }
  [[nodiscard]] constexpr std::uint64_t version() const { return word_ >> version_shift; }
  [[nodiscard]] constexpr std::uint64_t ports_protocol() const { return word_ & key_mask; }
  /// Has it a key's ports and protocol? Of those that are not `empty` hardly one that is not this key's.
  [[nodiscard]] constexpr bool is_like(std::uint64_t key_ports_protocol) const {
    return ((word_ ^ key_ports_protocol) & key_mask) == 0;
  }
  [[nodiscard]] constexpr Tag with(Status status) const { return {ports_protocol(), status, version()}; }
  /// Of a slot that is given back.
  [[nodiscard]] constexpr Tag emptied() const { return {0, Status::empty, version()}; }
  /// Of a slot that is claimed for a key.
  [[nodiscard]] constexpr Tag next_use(Status status, std::uint64_t key_ports_protocol) const {
    return {key_ports_protocol, status, version() + 1};
  }

  /// 0: valid, with the key's ports and protocol.
  [[nodiscard]] constexpr std::uint64_t difference(std::uint64_t key_ports_protocol) const {
    return (word_ ^ Tag(key_ports_protocol, Status::valid, 0).word()) << (64 - version_shift);
  }
  [[nodiscard]] constexpr bool shows(std::uint64_t key_ports_protocol) const {
    return difference(key_ports_protocol) == 0;
  }

 private:
  static constexpr unsigned status_shift = 40;
  static constexpr unsigned version_shift = 42;
  static constexpr std::uint64_t key_mask = (1ULL << status_shift) - 1;

  std::uint64_t word_ = 0;
};

/// Slots of a bucket, which is one line or some.
inline constexpr unsigned slots_per_bucket = 4;

/// Of the keys whose home is a line, those that live elsewhere, in one word, so that a look-up nearly always
/// ends at home when its key is not in the table. For each further slot of the home's bucket (near) a mark of
/// the key that lives there, some bits of its hash; 0 if none does, or a key of another home. For each line
/// of other buckets (far), where keys of one home go several ways, a counter for each of some parts of the
/// keys. Nobody can choose keys of one home, so a counter that could go up to 15 has one or two; in full
/// tables of four million entries none had more than five.
template <unsigned Slots>
class Elsewhere {
 public:
  /// What concerns a key in the word of its home.
  constexpr Elsewhere(std::uint64_t word, std::uint64_t hash)
      : word_(alike(word, hash) | (word & counters_of(hash))) {}

  /// What a key adds to its home's word when it lives in slot `way` of the line with number `candidate` (0:
  /// at home).
  [[nodiscard]] static constexpr std::uint64_t booking(unsigned candidate, unsigned way, std::uint64_t hash) {
    if (candidate == 0) return 0;
    if (candidate < lines) return mark(hash) << (begin(candidate) + way * mark_bits);
    return part(hash) << begin(candidate);
  }
  [[nodiscard]] constexpr bool any() const { return word_ != 0; }
  /// The number of the first line where the key may be; while there are any().
  [[nodiscard]] constexpr unsigned first() const {
    const auto bit = static_cast<unsigned>(std::countr_zero(word_));
    return bit < near_bits ? 1 + bit / marks_bits : lines + (bit - near_bits) / counters_bits;
  }
  constexpr void drop_first() {
    const unsigned end = begin(first() + 1);
    word_ = end < 64 ? word_ >> end << end : 0;
  }

 private:
  static constexpr unsigned lines = slots_per_bucket / Slots;
  static constexpr unsigned mark_bits = Slots == 2 ? 8 : 5;
  /// Of a near line.
  static constexpr unsigned marks_bits = Slots * mark_bits;
  static constexpr unsigned near_bits = (lines - 1) * marks_bits;
  static constexpr unsigned counter_bits = 4;
  static constexpr unsigned parts = (64 - near_bits) / lines / counter_bits;
  /// Of a far line.
  static constexpr unsigned counters_bits = parts * counter_bits;
  static_assert(parts >= 3);

  /// Where what belongs to a candidate begins; near ones are first.
  static constexpr unsigned begin(unsigned candidate) {
    return candidate < lines ? (candidate - 1) * marks_bits : near_bits + (candidate - lines) * counters_bits;
  }
  /// `count` ones, `distance` bits apart.
  static constexpr std::uint64_t ones(unsigned count, unsigned distance) {
    std::uint64_t word = 0;
    for (unsigned i = 0; i < count; ++i) word |= 1ULL << (i * distance);
    return word;
  }
  static constexpr std::uint64_t every_mark = ones(slots_per_bucket - Slots, mark_bits);
  static constexpr std::uint64_t every_far_line = ones(lines, counters_bits) << near_bits;
  static constexpr std::uint64_t last_of_mark = 1ULL << (mark_bits - 1);

  // Marks and parts are of the lowest bits of the hash: a key's lines depend on the others, save in tables so
  // large that it does no harm.
  static constexpr std::uint64_t mark(std::uint64_t hash) {
    return last_of_mark | (hash & (last_of_mark - 1));
  }
  /// 1 in a key's counter for a line.
  static constexpr std::uint64_t part(std::uint64_t hash) {
    return 1ULL << ((hash % 256 * parts >> 8) * counter_bits);
  }
  static constexpr std::uint64_t counters_of(std::uint64_t hash) {
    constexpr std::uint64_t counter = (1ULL << counter_bits) - 1;
    return every_far_line * counter * part(hash);
  }
  /// The last bit of each mark that is the key's; now and then also of those above it, which does no harm.
  static constexpr std::uint64_t alike(std::uint64_t word, std::uint64_t hash) {
    const std::uint64_t difference = word ^ every_mark * mark(hash);
    return (difference - every_mark) & ~difference & every_mark * last_of_mark;
  }

  std::uint64_t word_;
};

/// A cache line of whole slots.
template <unsigned Slots, unsigned AddressWords>
struct alignas(64) CacheLine {
  static constexpr unsigned slots = Slots;
  static constexpr unsigned address_words = AddressWords;
  using Elsewhere = conntrack::Elsewhere<slots>;
  /// First, as Place counts on.
  std::atomic<std::uint64_t> tag[slots];
  std::atomic<std::uint64_t> address[slots][address_words];
  std::atomic<std::uint64_t> entry[slots];
  std::atomic<std::uint32_t> seen[slots];
  /// An Elsewhere.
  std::atomic<std::uint64_t> elsewhere;
};

/// IPv4: two slots of 32 bytes. IPv6: one of 64.
using Line4 = CacheLine<2, 1>;
using Line6 = CacheLine<1, 4>;

static_assert(sizeof(Line4) == 64 && sizeof(Line6) == 64);

/// A slot of a line, or none. One word, so that it is handed on in a register.
template <class Line>
class Place {
 public:
  Place() = default;
  Place(Line* line, unsigned way) : tag_(&line->tag[way]) {}

  explicit operator bool() const { return tag_ != nullptr; }
  [[nodiscard]] Line* line() const {
    return reinterpret_cast<Line*>(reinterpret_cast<std::byte*>(tag_) - number() % sizeof(Line));
  }
  [[nodiscard]] unsigned way() const {
    return Line::slots == 1 ? 0 : static_cast<unsigned>(number() % sizeof(Line) / sizeof *tag_);
  }
  [[nodiscard]] std::atomic<std::uint64_t>& tag() const { return *tag_; }
  [[nodiscard]] std::atomic<std::uint64_t>& entry() const { return line()->entry[way()]; }
  [[nodiscard]] std::atomic<std::uint32_t>& seen() const { return line()->seen[way()]; }

  friend bool operator==(const Place&, const Place&) = default;
  friend auto operator<=>(const Place&, const Place&) = default;

 private:
  [[nodiscard]] std::uintptr_t number() const { return reinterpret_cast<std::uintptr_t>(tag_); }

  std::atomic<std::uint64_t>* tag_ = nullptr;
};

}  // namespace zonelb::conntrack
