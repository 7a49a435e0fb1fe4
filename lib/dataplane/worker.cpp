#include "dataplane/worker.hpp"

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "dataplane/stage_track.hpp"
#include "dataplane/table_clock.hpp"

namespace zonelb::dataplane {
namespace {

/// Table lines aged per turn: little enough to hide behind a burst.
constexpr std::uint64_t lines_per_turn = 8;
/// Tries to send a burst before what is left of it is dropped.
constexpr unsigned send_attempts = 4;

}  // namespace

Worker::Worker(Wiring wiring, Publication& publication, const Context& context)
    : wiring_(std::move(wiring)), publication_(publication), pipeline_(context) {}

void Worker::run() {
  publication_.enter(wiring_.index);
  WorkerCounters& counters = pipeline_.context().counters;
  std::uint64_t turn = rte_rdtsc();
  while (!stop_.load(std::memory_order_relaxed)) {
    keep_time(turn);
    const Snapshot& snapshot = *publication_.current();
    const std::uint64_t received = poll(snapshot);
    relay();
    flush();
    sweep(snapshot);
    publication_.quiescent(wiring_.index);
    const std::uint64_t end = rte_rdtsc();
    if (received > 0) counters.busy_cycles.add(end - turn);
    counters.total_cycles.add(end - turn);
    turn = end;
  }
  while (relay()) {
  }
  flush();
  publication_.leave(wiring_.index);
}

std::uint64_t Worker::poll(const Snapshot& snapshot) {
  std::uint64_t received = 0;
  std::array<rte_mbuf*, Batch::max_size> frames;
  for (const RxQueue& queue : wiring_.receive) {
    const auto count = rte_eth_rx_burst(queue.device, queue.queue, frames.data(), Batch::max_size);
    if (count == 0) continue;
    received += count;
    pipeline_.process(snapshot, wiring_.index, queue.port, {frames.data(), count}, now_);
    flush();
  }
  return received;
}

bool Worker::relay() {
  bool any = false;
  for (const HandedOver& from : wiring_.handed_over) {
    std::array<void*, Batch::max_size> frames;
    const auto count = rte_ring_sc_dequeue_burst(from.ring, frames.data(), frames.size(), nullptr);
    for (unsigned i = 0; i < count; ++i)
      pipeline_.context().out.add(from.port, static_cast<rte_mbuf*>(frames[i]));
    if (count > 0) flush();
    any |= count > 0;
  }
  return any;
}

void Worker::flush() {
  Context& context = pipeline_.context();
  for (std::uint16_t port = 0; port < context.out.ports(); ++port) {
    const auto frames = context.out.waiting(port);
    if (frames.empty()) continue;
    const TxPath& path = wiring_.send[port];
    std::size_t sent = 0;
    if (path.handoff != nullptr) {
      sent = rte_ring_mp_enqueue_burst(path.handoff, reinterpret_cast<void* const*>(frames.data()),
                                       static_cast<unsigned>(frames.size()), nullptr);
    } else {
      for (unsigned attempt = 0; sent < frames.size() && attempt < send_attempts; ++attempt)
        sent += rte_eth_tx_burst(path.device, path.queue, frames.data() + sent,
                                 static_cast<std::uint16_t>(frames.size() - sent));
      context.counters.transmitted.add(sent);
    }
    const auto reason = path.handoff != nullptr ? packet::DropReason::ring_full : packet::DropReason::tx_full;
    for (rte_mbuf* unsent : frames.subspan(sent)) context.drop(unsent, reason);
    context.out.clear(port);
  }
}

template <class Table>
void Worker::sweep_table(const Snapshot& snapshot, Table& table, std::uint64_t& cursor, std::uint64_t& left) {
  const std::uint64_t begin = table.line_count() * wiring_.index / wiring_.workers;
  const std::uint64_t share = table.line_count() * (wiring_.index + 1) / wiring_.workers - begin;
  const std::uint64_t count = std::min({lines_per_turn, left, share - cursor});
  if (count == 0) return;
  Context& context = pipeline_.context();
  table.sweep(
      begin + cursor, count, now_,
      [&](std::uint8_t protocol, const conntrack::Entry& entry, std::uint32_t idle) {
        const auto of = standing(snapshot, entry, protocol == packet::ip_protocol::tcp);
        if (of != Standing::live) return of == Standing::ended;
        return idle >= conntrack::timeout_seconds(entry.state, snapshot.targets[entry.target].idle_timeout);
      },
      [&](const conntrack::Entry& entry) {
        auto& ended = snapshot.counters->worker(wiring_.index).ended;
        if (entry.target < ended.size()) ended[entry.target].add(1);
        context.counters.entries_removed.add(1);
      });
  left -= count;
  cursor += count;
  if (cursor == share) cursor = 0;
  table.prefetch_sweep(begin + cursor, std::min(lines_per_turn, share - cursor));
}

void Worker::sweep(const Snapshot& snapshot) {
  const Context& context = pipeline_.context();
  sweep_table(snapshot, context.table4, cursor4_, left4_);
  sweep_table(snapshot, context.table6, cursor6_, left6_);
}

/// Once a second the clock moves on and the whole share of the tables may be swept again.
void Worker::keep_time(std::uint64_t cycles) {
  if (cycles < next_second_) [[likely]]
    return;
  now_ = table_seconds(cycles);
  next_second_ = (std::uint64_t{now_} + 1) * rte_get_tsc_hz();
  const Context& context = pipeline_.context();
  left4_ = context.table4.line_count() / wiring_.workers + 1;
  left6_ = context.table6.line_count() / wiring_.workers + 1;
}

}  // namespace zonelb::dataplane
