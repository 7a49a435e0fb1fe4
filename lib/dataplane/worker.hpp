#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <rte_ring.h>

#include "dataplane/pipeline.hpp"
#include "dataplane/publication.hpp"

namespace zonelb::dataplane {

/// A receive queue that a worker polls. `port` is the position in the layout's ports.
struct RxQueue {
  std::uint16_t port = 0;
  std::uint16_t device = 0;
  std::uint16_t queue = 0;
};

/// How a worker's frames leave by a port: its own queue, or a ring to the worker that has one.
struct TxPath {
  std::uint16_t device = 0;
  std::uint16_t queue = 0;
  rte_ring* handoff = nullptr;
};

/// Frames from elsewhere (the main core, workers without a queue) that this worker sends by its own queue.
struct HandedOver {
  std::uint16_t port = 0;
  rte_ring* ring = nullptr;
};

/// One polling core: receives, runs the pipeline, sends, and ages its share of the tables.
class Worker {
 public:
  struct Wiring {
    unsigned index = 0;
    unsigned workers = 1;
    std::vector<RxQueue> receive;
    /// By port.
    std::vector<TxPath> send;
    std::vector<HandedOver> handed_over;
  };

  Worker(Wiring wiring, Publication& publication, const Context& context);

  /// Polls until stop(). Call it on the core that is to do the work.
  void run();
  void stop() { stop_.store(true, std::memory_order_relaxed); }

 private:
  std::uint64_t poll(const Snapshot& snapshot);
  /// Sends what was handed over; false: there was nothing.
  bool relay();
  void flush();
  void sweep(const Snapshot& snapshot);
  template <class Table>
  void sweep_table(const Snapshot& snapshot, Table& table, std::uint64_t& cursor, std::uint64_t& left);
  void keep_time(std::uint64_t cycles);

  const Wiring wiring_;
  Publication& publication_;
  Pipeline pipeline_;
  // relaxed everywhere: the flag orders nothing
  std::atomic<bool> stop_{false};

  /// In cycles; seconds are those of the time stamp counter, which all cores share.
  std::uint64_t next_second_ = 0;
  std::uint32_t now_ = 0;
  /// Position in this worker's share of the tables, and how much of it may still be swept in this second.
  std::uint64_t cursor4_ = 0, cursor6_ = 0;
  std::uint64_t left4_ = 0, left6_ = 0;
};

}  // namespace zonelb::dataplane
