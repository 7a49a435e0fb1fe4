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
    /// Claimed by a writer that nobody has to reckon with: it moves an entry, or another took its place.
    busy,
    /// Claimed for a key with these ports and protocol. Who inserts the same key gives way to it, or turns it
    /// `busy`; if nobody does, it becomes valid.
    tentative,
    valid
  };

  constexpr Tag() = default;
  explicit constexpr Tag(std::uint64_t word) : word_(word) {}
  constexpr Tag(std::uint64_t ports_protocol, Status status, std::uint64_t version)
      : word_(ports_protocol | std::uint64_t{static_cast<std::uint8_t>(status)} << status_shift |
              version << version_shift) {}

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

/// Of the keys whose home is a line, those that live elsewhere, in one word: for each further line where a
/// key may be, a counter for each `Parts`th of the keys. A look-up goes only to lines whose counter is not
/// zero, and is mostly over after one. Nobody can choose keys of one home, so a counter has one or two; and
/// one more for each worker that is about to insert such a key at this very moment, of which there would have
/// to be a dozen for it to flow over.
template <unsigned Parts>
class Elsewhere {
 public:
  /// What concerns a key in the word of its home.
  constexpr Elsewhere(std::uint64_t word, std::uint64_t hash) : word_(word & counters_of(hash)) {}

  /// What a key adds to its home's word when it lives in the line with number `candidate` (0: at home).
  [[nodiscard]] static constexpr std::uint64_t booking(unsigned candidate, std::uint64_t hash) {
    return candidate == 0 ? 0 : part(hash) << (candidate * bits_per_candidate);
  }
  [[nodiscard]] constexpr bool any() const { return word_ != 0; }
  /// The number of the first line where the key may be; while there are any().
  [[nodiscard]] constexpr unsigned first() const {
    return static_cast<unsigned>(std::countr_zero(word_)) / bits_per_candidate;
  }
  constexpr void drop_first() { word_ &= ~(all_of_a_candidate << (first() * bits_per_candidate)); }

 private:
  static constexpr unsigned bits = 4;
  static constexpr unsigned bits_per_candidate = bits * Parts;
  static constexpr std::uint64_t all_of_a_candidate = (1ULL << bits_per_candidate) - 1;

  /// 1 in a key's counter for a line. The lowest bits of the hash: its lines depend on the others.
  static constexpr std::uint64_t part(std::uint64_t hash) { return 1ULL << (hash % Parts * bits); }
  static constexpr std::uint64_t counters_of(std::uint64_t hash) {
    constexpr std::uint64_t one_in_each_line = ~0ULL / all_of_a_candidate;
    constexpr std::uint64_t counter = (1ULL << bits) - 1;
    return one_in_each_line * counter * part(hash);
  }

  std::uint64_t word_;
};

/// A cache line of whole slots.
template <unsigned Slots, unsigned AddressWords>
struct alignas(64) CacheLine {
  static constexpr unsigned slots = Slots;
  static constexpr unsigned address_words = AddressWords;
  using Elsewhere = conntrack::Elsewhere<2 * slots>;
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
