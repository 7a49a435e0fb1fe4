#pragma once

#include <atomic>
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

/// How many entries whose home is a line live elsewhere, in one word: in the same bucket, and in their other
/// one. A look-up that finds both zero is over after one line.
class Elsewhere {
 public:
  enum class Where : std::uint32_t { home = 0, near = 1, far = 1U << 16 };

  explicit constexpr Elsewhere(std::uint32_t word) : word_(word) {}
  /// What is left without one booking.
  [[nodiscard]] constexpr Elsewhere without(Where booked) const {
    return Elsewhere(word_ - static_cast<std::uint32_t>(booked));
  }
  [[nodiscard]] constexpr bool any() const { return word_ != 0; }
  [[nodiscard]] constexpr bool near() const { return (word_ & 0xffff) != 0; }
  [[nodiscard]] constexpr bool far() const { return word_ >> 16 != 0; }

 private:
  std::uint32_t word_;
};

/// A cache line of whole slots.
template <unsigned Slots, unsigned AddressWords>
struct alignas(64) CacheLine {
  static constexpr unsigned slots = Slots;
  static constexpr unsigned address_words = AddressWords;
  std::atomic<std::uint64_t> tag[slots];
  std::atomic<std::uint64_t> address[slots][address_words];
  std::atomic<std::uint64_t> entry[slots];
  std::atomic<std::uint32_t> seen[slots];
  /// An Elsewhere.
  std::atomic<std::uint32_t> elsewhere;
};

/// IPv4: two slots of 32 bytes. IPv6: one of 64.
using Line4 = CacheLine<2, 1>;
using Line6 = CacheLine<1, 4>;

static_assert(sizeof(Line4) == 64 && sizeof(Line6) == 64);

}  // namespace zonelb::conntrack
