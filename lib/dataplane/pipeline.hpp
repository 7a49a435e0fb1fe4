#pragma once

#include "dataplane/batch.hpp"

namespace zonelb::dataplane {

/// The way of a packet through a worker. Each stage works on the whole batch, so that memory it will need can
/// be fetched while other packets are looked at. Every packet ends in exactly one of: context.out, a named
/// drop, the appliance itself (ARP, neighbour discovery).
class Pipeline {
 public:
  explicit Pipeline(const Context& context) : context_(context) {}

  /// Takes over `frames` (at most Batch::max_size), received on `port` at `now` (seconds).
  void process(const Snapshot& snapshot, unsigned worker, std::uint16_t port,
               std::span<rte_mbuf* const> frames, std::uint32_t now);

  [[nodiscard]] Context& context() { return context_; }

 private:
  Context context_;
  Batch batch_;
};

}  // namespace zonelb::dataplane
