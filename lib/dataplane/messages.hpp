#pragma once

#include <cstdint>

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "net/address.hpp"

namespace zonelb::dataplane {

/// What a worker heard of a neighbour, for the main core to remember.
struct alignas(4) NeighbourReport {
  net::IpAddress address;
  /// Meaningless in a report that only confirms.
  net::Mac mac;
  std::uint16_t port = 0;
  /// An answer to a question of ours.
  bool solicited = false;
  /// Whether it may replace a MAC address that we know (RFC 4861 7.2.5; always with ARP).
  bool overrides = true;
  /// The neighbour is there, at the MAC address that we know; its answer named none (RFC 4861 7.2.4 lets it).
  bool only_confirms = false;
};
static_assert(sizeof(NeighbourReport) % 4 == 0);

/// Reports from all workers to the main core.
class NeighbourReports {
 public:
  explicit NeighbourReports(rte_ring* ring) : ring_(ring) {}
  /// False: the main core is behind; the report is lost, and the sender will be asked again.
  bool send(const NeighbourReport& report) {
    return rte_ring_mp_enqueue_elem(ring_, const_cast<NeighbourReport*>(&report), sizeof report) == 0;
  }
  bool receive(NeighbourReport& report) {
    return rte_ring_sc_dequeue_elem(ring_, &report, sizeof report) == 0;
  }

 private:
  rte_ring* ring_;
};

}  // namespace zonelb::dataplane
