#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <rte_mbuf.h>

namespace zonelb::dataplane {

/// Frames on their way out, by port. One batch never overflows it: each frame in makes one frame out at most.
class Transmit {
 public:
  static constexpr unsigned room = 128;

  explicit Transmit(std::size_t ports) : queues_(ports) {}

  void add(std::uint16_t port, rte_mbuf* frame) {
    Queue& queue = queues_[port];
    queue.frames[queue.count++] = frame;
  }

  [[nodiscard]] std::span<rte_mbuf*> waiting(std::uint16_t port) {
    return {queues_[port].frames.data(), queues_[port].count};
  }
  void clear(std::uint16_t port) { queues_[port].count = 0; }
  [[nodiscard]] std::uint16_t ports() const { return static_cast<std::uint16_t>(queues_.size()); }

 private:
  struct Queue {
    std::uint16_t count = 0;
    std::array<rte_mbuf*, room> frames{};
  };
  std::vector<Queue> queues_;
};

}  // namespace zonelb::dataplane
