#pragma once

#include <atomic>
#include <cstdint>

#include "conntrack/flow_key.hpp"

namespace zonelb::conntrack {

inline constexpr unsigned slots_per_bucket = 4;

/// Ports, protocol, what the slot is doing and how often it was used, in one word: the part of a slot that is
/// claimed, published and freed by compare-and-swap.
class Tag {
 public:
  enum class Status : std::uint8_t {
    empty,
    /// Claimed by a writer; key and entry are being written.
    busy,
    /// Complete, but its writer has not yet ruled out another slot with the same key. Invisible to look-ups.
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
  [[nodiscard]] constexpr Tag with(Status status) const { return {ports_protocol(), status, version()}; }

  /// A tag shows a key when its bits under shown_mask are these: valid, with the key's ports and protocol.
  static constexpr std::uint64_t shown_mask = (1ULL << 42) - 1;
  static constexpr std::uint64_t shown(std::uint64_t key_ports_protocol) {
    return Tag(key_ports_protocol, Status::valid, 0).word();
  }
  [[nodiscard]] constexpr bool shows(std::uint64_t key_ports_protocol) const {
    return (word_ & shown_mask) == shown(key_ports_protocol);
  }

 private:
  static constexpr unsigned status_shift = 40;
  static constexpr unsigned version_shift = 42;
  static constexpr std::uint64_t key_mask = (1ULL << status_shift) - 1;
  static_assert(shown_mask == (1ULL << version_shift) - 1);

  std::uint64_t word_ = 0;
};

/// IPv4: keys of all four slots in the first cache line, what is remembered of them in the second; 32 bytes a
/// slot.
struct alignas(64) Bucket4 {
  static constexpr unsigned address_words = 1;
  std::atomic<std::uint64_t> tag[slots_per_bucket];
  std::atomic<std::uint64_t> address[slots_per_bucket][address_words];
  std::atomic<std::uint64_t> entry[slots_per_bucket];
  std::atomic<std::uint32_t> seen[slots_per_bucket];
};

/// IPv6: tags and entries in the first line, addresses in the next two; 64 bytes a slot.
struct alignas(64) Bucket6 {
  static constexpr unsigned address_words = 4;
  std::atomic<std::uint64_t> tag[slots_per_bucket];
  std::atomic<std::uint64_t> entry[slots_per_bucket];
  std::atomic<std::uint64_t> address[slots_per_bucket][address_words];
  std::atomic<std::uint32_t> seen[slots_per_bucket];
};

static_assert(sizeof(Bucket4) == 32 * slots_per_bucket);
static_assert(sizeof(Bucket6) == 64 * slots_per_bucket);

}  // namespace zonelb::conntrack
