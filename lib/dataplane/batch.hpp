#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include <rte_mbuf.h>

#include "conntrack/table.hpp"
#include "dataplane/counters.hpp"
#include "dataplane/messages.hpp"
#include "dataplane/snapshot.hpp"
#include "dataplane/transmit.hpp"
#include "packet/parse.hpp"

namespace zonelb::dataplane {

/// Positions in a batch that the next stage works on.
class Selection {
 public:
  void add(std::uint16_t position) { positions_[count_++] = position; }
  [[nodiscard]] std::span<const std::uint16_t> positions() const { return {positions_.data(), count_}; }
  void clear() { count_ = 0; }
  /// Those of the positions below `size` for which `keep(position)` is true.
  template <class Keep>
  void choose(std::uint16_t size, Keep&& keep) {
    std::uint16_t kept = 0;
    for (std::uint16_t i = 0; i < size; ++i) kept = put(i, kept, keep);
    count_ = kept;
  }
  /// The same of another selection's.
  template <class Keep>
  void choose(const Selection& from, Keep&& keep) {
    std::uint16_t kept = 0;
    for (const std::uint16_t i : from.positions()) kept = put(i, kept, keep);
    count_ = kept;
  }
  /// Takes in the positions of another selection, so that packets keep the order in which they came.
  void merge(const Selection& other) {
    const auto a = positions();
    const auto b = other.positions();
    std::array<std::uint16_t, 64> both;
    const auto end = std::merge(a.begin(), a.end(), b.begin(), b.end(), both.begin());
    count_ =
        static_cast<std::uint16_t>(std::copy(both.begin(), end, positions_.begin()) - positions_.begin());
  }

 private:
  /// Without a branch on what `keep` says: a position that is not kept is written over by the next one.
  template <class Keep>
  std::uint16_t put(std::uint16_t position, std::uint16_t at, Keep& keep) {
    positions_[at] = position;
    return static_cast<std::uint16_t>(at + keep(position));
  }

  std::uint16_t count_ = 0;
  // Not bytes, which the compiler would think could be anything's. Without initialisers: most selections are
  // short, and a batch has several.
  std::array<std::uint16_t, 64> positions_;
};

/// Sets the length of a frame in one buffer.
inline void set_length(rte_mbuf* frame, std::uint32_t length) {
  frame->data_len = static_cast<std::uint16_t>(length);
  frame->pkt_len = length;
}

/// Where the plan sends a new connection, or why it goes nowhere; then nothing else is set.
struct Placement {
  conntrack::Entry entry;
  const Target* target = nullptr;
  /// To be counted up when it goes there.
  Counter* choice = nullptr;
  std::optional<packet::DropReason> refusal;
};

/// Packets of one receive burst and what each stage has found out about them.
struct Batch {
  static constexpr std::uint16_t max_size = 64;

  std::uint16_t size = 0;
  std::array<rte_mbuf*, max_size> frame;
  /// Where the frame began when it was received.
  std::array<std::uint8_t*, max_size> bytes;
  std::array<packet::Parsed, max_size> parsed;
  /// For flows: position of the rule in the layout, hash of the key, and its home in the table of its family.
  std::array<std::uint32_t, max_size> rule;
  std::array<std::uint64_t, max_size> hash;
  std::array<void*, max_size> home;
  /// For new connections.
  std::array<Placement, max_size> placement;

  /// Who is still on the way, by family.
  Selection flows4;
  Selection flows6;
};

/// What a worker's stages share.
struct Context {
  conntrack::Table4& table4;
  conntrack::Table6& table6;
  WorkerCounters& counters;
  NeighbourReports& reports;
  Transmit& out;

  conntrack::Patience patience4 = {};
  conntrack::Patience patience6 = {};

  /// Of the batch in hand.
  const Snapshot* snapshot = nullptr;
  CounterBlock::PerWorker* block = nullptr;
  std::uint16_t port = 0;
  std::uint32_t now = 0;
  /// Identification of outer IPv4 headers.
  std::uint16_t ip_id = 0;
  /// ICMP errors that may still be sent in this second (RFC 1812 4.3.2.8).
  std::uint32_t icmp_allowance = 0;

  [[nodiscard]] const PortView& in() const { return snapshot->layout->ports[port]; }

  /// Out of line, as what follows it inline would slow down the packets that are not dropped.
  [[gnu::noinline, gnu::cold]] void drop(rte_mbuf* frame, packet::DropReason reason) {
    counters.drops[static_cast<std::size_t>(reason)].add(1);
    rte_pktmbuf_free(frame);
  }
  void count_local(LocalKind kind) { counters.local[static_cast<std::size_t>(kind)].add(1); }
};

}  // namespace zonelb::dataplane
