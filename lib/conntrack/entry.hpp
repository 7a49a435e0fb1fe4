#pragma once

#include <cstdint>

namespace zonelb::conntrack {

/// How far a connection has got, seen from the client's side alone (semantics.md section 4).
enum class State : std::uint8_t {
  /// Nothing but SYN segments so far.
  syn,
  /// One packet so far, not a SYN.
  single,
  confirmed,
  /// The client sent FIN.
  fin,
  /// The client sent RST.
  rst,
  /// Taken out of the table; whoever still holds it must look again.
  removed
};

/// Such entries are the first to go when the table is full.
constexpr bool is_unconfirmed(State state) {
  return state == State::syn || state == State::single;
}

/// What the table remembers of a connection, besides its key: 64 bits, so that it changes in one step.
struct Entry {
  static constexpr unsigned target_bits = 20;
  static constexpr unsigned zone_bits = 10;
  static constexpr std::uint32_t max_targets = 1U << target_bits;
  static constexpr std::uint32_t max_zones = 1U << zone_bits;

  /// The backend as a member of a service: an index into the snapshot's targets.
  std::uint32_t target = 0;
  /// The target's epoch when the connection was placed: another epoch now means that the connection was
  /// ended.
  std::uint16_t epoch = 0;
  /// Zone of the client, for the counters.
  std::uint16_t client_zone = 0;
  State state = State::single;

  friend constexpr bool operator==(const Entry&, const Entry&) = default;
};

/// An Entry and a few bits of its slot's version in one word: a stale holder's compare-and-swap fails even
/// when the slot now holds another connection to the same target. A frozen entry is being moved to another
/// slot: it may be read, and changed again in a moment.
class PackedEntry {
 public:
  constexpr PackedEntry() = default;
  explicit constexpr PackedEntry(std::uint64_t word) : word_(word) {}
  constexpr PackedEntry(const Entry& entry, std::uint64_t slot_version)
      : word_(std::uint64_t{entry.target} | std::uint64_t{entry.client_zone} << zone_shift |
              std::uint64_t{entry.epoch} << epoch_shift |
              std::uint64_t{static_cast<std::uint8_t>(entry.state)} << state_shift |
              slot_version << version_shift) {}

  [[nodiscard]] constexpr std::uint64_t word() const { return word_; }
  [[nodiscard]] constexpr Entry entry() const {
    return {target(), static_cast<std::uint16_t>(word_ >> epoch_shift),
            static_cast<std::uint16_t>(client_zone()), state()};
  }
  [[nodiscard]] constexpr std::uint32_t target() const {
    return static_cast<std::uint32_t>(word_ & (Entry::max_targets - 1));
  }
  [[nodiscard]] constexpr std::uint32_t client_zone() const {
    return static_cast<std::uint32_t>(word_ >> zone_shift) & (Entry::max_zones - 1);
  }
  [[nodiscard]] constexpr State state() const { return static_cast<State>((word_ >> state_shift) & 7); }
  /// Of a confirmed connection of this epoch?
  [[nodiscard]] constexpr bool is_confirmed_in(std::uint16_t epoch) const {
    constexpr std::uint64_t state_and_epoch = (1U << (frozen_shift - epoch_shift)) - 1;
    constexpr auto confirmed = std::uint64_t{static_cast<std::uint8_t>(State::confirmed)}
                               << (state_shift - epoch_shift);
    return (word_ >> epoch_shift & state_and_epoch) == (confirmed | epoch);
  }
  /// Unconfirmed and not frozen?
  [[nodiscard]] constexpr bool evictable() const {
    static_assert(State::syn < State::confirmed && State::single < State::confirmed);
    constexpr std::uint64_t state_and_frozen = (1U << (version_shift - state_shift)) - 1;
    return (word_ >> state_shift & state_and_frozen) < static_cast<std::uint64_t>(State::confirmed);
  }
  [[nodiscard]] constexpr bool frozen() const { return (word_ >> frozen_shift & 1) != 0; }
  [[nodiscard]] constexpr PackedEntry freeze() const { return PackedEntry(word_ | 1ULL << frozen_shift); }
  /// Are both of one connection, whatever has become of it between them?
  [[nodiscard]] constexpr bool same_use(PackedEntry other) const {
    return (word_ ^ other.word_) >> version_shift == 0;
  }
  /// The same slot's word with another entry in it.
  [[nodiscard]] constexpr PackedEntry with(const Entry& entry) const {
    return {entry, word_ >> version_shift};
  }

 private:
  static constexpr unsigned zone_shift = Entry::target_bits;
  static constexpr unsigned epoch_shift = zone_shift + Entry::zone_bits;
  static constexpr unsigned state_shift = epoch_shift + 16;
  static constexpr unsigned frozen_shift = state_shift + 3;
  static constexpr unsigned version_shift = frozen_shift + 1;

  std::uint64_t word_ = 0;
};

namespace tcp_flag {
inline constexpr std::uint8_t fin = 0x01;
inline constexpr std::uint8_t syn = 0x02;
inline constexpr std::uint8_t rst = 0x04;
inline constexpr std::uint8_t ack = 0x10;
}  // namespace tcp_flag

/// A segment that opens a connection: SYN without ACK.
constexpr bool opens_connection(std::uint8_t tcp_flags) {
  return (tcp_flags & (tcp_flag::syn | tcp_flag::ack)) == tcp_flag::syn;
}

/// State of a new entry made by a packet with these flags (0 for protocols other than TCP).
constexpr State first_state(std::uint8_t tcp_flags) {
  if (opens_connection(tcp_flags)) return State::syn;
  if ((tcp_flags & tcp_flag::rst) != 0) return State::rst;
  if ((tcp_flags & tcp_flag::fin) != 0) return State::fin;
  return State::single;
}

/// Does a packet with these flags make a confirmed connection anything else? A SYN may.
constexpr bool changes_confirmed(std::uint8_t tcp_flags) {
  return (tcp_flags & (tcp_flag::fin | tcp_flag::rst | tcp_flag::syn)) != 0;
}

/// State after one more packet.
constexpr State next_state(State state, std::uint8_t tcp_flags) {
  if ((tcp_flags & tcp_flag::rst) != 0 || state == State::rst) return State::rst;
  if ((tcp_flags & tcp_flag::fin) != 0 || state == State::fin) return State::fin;
  if (state == State::syn && opens_connection(tcp_flags)) return State::syn;
  return State::confirmed;
}

/// Seconds without a packet after which an entry ends; `idle_timeout` is the service's.
constexpr std::uint32_t timeout_seconds(State state, std::uint32_t idle_timeout) {
  if (state == State::rst) return 10;
  if (state == State::fin) return 60;
  return idle_timeout;
}

}  // namespace zonelb::conntrack
