#pragma once

#include <rte_prefetch.h>

#include "dataplane/batch.hpp"
#include "dataplane/stage_parse.hpp"
#include "dataplane/stage_track.hpp"

namespace zonelb::dataplane {

enum class Stage : std::uint8_t { match, forward, count };

/// Told when a stage has ended; this one does not care.
struct NoClock {
  void lap(Stage /*ended*/) {}
};

/// The way of a packet through a worker. Each stage works on the whole batch, so that memory it will need can
/// be fetched while other packets are looked at. Every packet ends in exactly one of: context.out, a named
/// drop, the appliance itself (ARP, neighbour discovery).
class Pipeline {
 public:
  explicit Pipeline(const Context& context) : context_(context) {}

  /// Takes over `frames` (one to Batch::max_size), received on `port` at `now` (seconds).
  template <class Clock = NoClock>
  void process(const Snapshot& snapshot, unsigned worker, std::uint16_t port,
               std::span<rte_mbuf* const> frames, std::uint32_t now, Clock&& clock = {}) {
    begin(snapshot, worker, port, frames, now);
    // frame → flow → rule, and the table's memory is sent for; or answered, or dropped
    parse(context_, batch_);
    clock.lap(Stage::match);
    // connection → target → rewritten or encapsulated frame; new connections are placed and recorded
    track(context_, batch_, batch_.flows4, context_.table4);
    track(context_, batch_, batch_.flows6, context_.table6);
    clock.lap(Stage::forward);
  }

  [[nodiscard]] Context& context() { return context_; }

 private:
  static constexpr std::uint32_t icmp_errors_per_second = 1000;

  void begin(const Snapshot& snapshot, unsigned worker, std::uint16_t port, std::span<rte_mbuf* const> frames,
             std::uint32_t now) {
    if (context_.now != now) context_.icmp_allowance = icmp_errors_per_second;
    context_.snapshot = &snapshot;
    context_.block = &snapshot.counters->worker(worker);
    context_.port = port;
    context_.now = now;
    context_.counters.received.add(frames.size());
    batch_.size = static_cast<std::uint16_t>(frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      batch_.frame[i] = frames[i];
      batch_.bytes[i] = rte_pktmbuf_mtod(frames[i], std::uint8_t*);
      rte_prefetch0(batch_.bytes[i]);
    }
  }

  Context context_;
  Batch batch_;
};

}  // namespace zonelb::dataplane
