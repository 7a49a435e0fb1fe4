#include "feeder.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <rte_cycles.h>

#include "packet/l2.hpp"

namespace zonelb::bench {
namespace {

using conntrack::tcp_flag::ack;
using conntrack::tcp_flag::syn;

class StageClock {
 public:
  void start() { last_ = rte_rdtsc(); }
  void lap(dataplane::Stage ended) {
    const auto now = rte_rdtsc();
    cycles_[static_cast<std::size_t>(ended)] += now - last_;
    last_ = now;
  }
  [[nodiscard]] const std::array<std::uint64_t, stages>& cycles() const { return cycles_; }

 private:
  std::uint64_t last_ = 0;
  std::array<std::uint64_t, stages> cycles_{};
};

/// Sums up the cycles of bursts. One that takes longer than any work of ours can has been interrupted: the
/// core was given to somebody else meanwhile. It is counted, and left out of the sum.
class Timing {
 public:
  explicit Timing(unsigned burst) : burst_(burst) {}

  /// False: interrupted.
  bool add(std::uint64_t cycles) {
    const bool whole = cycles < longest_;
    (whole ? bursts_ : interrupted_) += 1;
    if (whole) cycles_ += cycles;
    return whole;
  }
  [[nodiscard]] double packets() const { return static_cast<double>(bursts_ * burst_); }
  [[nodiscard]] double per_packet() const { return static_cast<double>(cycles_) / packets(); }
  [[nodiscard]] std::uint64_t interrupted() const { return interrupted_; }

 private:
  /// 200 µs: ten times what a burst of new connections takes in a table that is nearly full.
  std::uint64_t longest_ = rte_get_tsc_hz() / 5000;
  std::uint64_t burst_;
  std::uint64_t bursts_ = 0;
  std::uint64_t cycles_ = 0;
  std::uint64_t interrupted_ = 0;
};

}  // namespace

Feeder::Feeder(Shared& shared, unsigned worker)
    : shared_(shared),
      worker_(worker),
      transmit_(1),
      reports_(nullptr),
      pipeline_({shared.table4, shared.table6, counters_, reports_, transmit_}),
      random_(worker + 1) {
  for (auto number = worker; number < shared.options.flows; number += shared.options.workers)
    order_.push_back(static_cast<std::uint32_t>(number));
  std::ranges::shuffle(order_, random_);
  frames_.resize(buffers);
  if (rte_pktmbuf_alloc_bulk(shared.pool.get(), frames_.data(), buffers) != 0)
    throw std::runtime_error("no packet buffers");
  shared_.publication.enter(worker_);
}

Feeder::~Feeder() {
  shared_.publication.leave(worker_);
  rte_pktmbuf_free_bulk(frames_.data(), static_cast<unsigned>(frames_.size()));
}

void Feeder::establish() {
  for (const std::uint8_t flags : {syn, ack})
    for (std::size_t done = 0; done < order_.size();) {
      const auto count = std::min<std::size_t>(shared_.options.burst, order_.size() - done);
      for (std::size_t i = 0; i < count; ++i) write(i, order_[done + i], flags);
      process(count, dataplane::NoClock{});
      done += count;
    }
}

void Feeder::fill_table(bool confirmed) {
  const auto capacity = shared_.options.ipv6 ? shared_.table6.capacity() : shared_.table4.capacity();
  // Some are opened in vain, as the last free places are hard to find.
  const auto openings = capacity / shared_.options.workers * 5 / 4;
  for (std::uint64_t opened = 0; opened < openings; opened += shared_.options.burst) {
    const auto first = shared_.next_new.fetch_add(shared_.options.burst, std::memory_order_relaxed);
    for (const std::uint8_t flags : {syn, ack}) {
      if (flags == ack && !confirmed) break;
      for (unsigned i = 0; i < shared_.options.burst; ++i) write(i, shared_.options.flows + first + i, flags);
      process(shared_.options.burst, dataplane::NoClock{});
    }
  }
}

RunResult Feeder::run() {
  Timing total(shared_.options.burst), floor(shared_.options.burst), staged(shared_.options.burst);
  StageClock clock;
  const unsigned burst = shared_.options.burst;
  const std::uint64_t bursts = shared_.options.packets / burst;
  for (std::uint64_t i = 0; i < bursts; ++i) {
    compose(burst);
    floor.add(time_floor(burst));
    compose_again(burst);
    // Every eighth burst pays for the stage breakdown, so that the total does not.
    const bool breaks_down = i % 8 == 7;
    StageClock stage_clock = clock;
    const auto begin = rte_rdtsc();
    if (breaks_down) {
      stage_clock.start();
      process(burst, stage_clock);
    } else {
      process(burst, dataplane::NoClock{});
    }
    if ((breaks_down ? staged : total).add(rte_rdtsc() - begin)) clock = stage_clock;
    first_ = (first_ + burst) % (buffers - burst);
  }
  RunResult result{
      .total = total.per_packet(), .floor = floor.per_packet(), .interrupted = total.interrupted()};
  for (std::size_t s = 0; s < stages; ++s)
    result.stage[s] = static_cast<double>(clock.cycles()[s]) / staged.packets();
  return result;
}

std::uint64_t Feeder::burst() {
  compose(shared_.options.burst);
  const auto begin = rte_rdtsc();
  process(shared_.options.burst, dataplane::NoClock{});
  const auto cycles = rte_rdtsc() - begin;
  first_ = (first_ + shared_.options.burst) % (buffers - shared_.options.burst);
  return cycles;
}

void Feeder::write(std::size_t position, std::uint64_t number, std::uint8_t flags) {
  rte_mbuf* frame = frames_[first_ + position];
  rte_pktmbuf_reset(frame);
  const auto length = shared_.flows.write(rte_pktmbuf_mtod(frame, std::uint8_t*), number, flags);
  frame->data_len = static_cast<std::uint16_t>(length);
  frame->pkt_len = length;
}

void Feeder::compose(unsigned burst) {
  for (unsigned i = 0; i < burst; ++i) {
    new_share_ += shared_.options.new_percent;
    if (new_share_ >= 100) {
      new_share_ -= 100;
      planned_[i] = {shared_.options.flows + shared_.next_new.fetch_add(1, std::memory_order_relaxed), syn};
    } else {
      planned_[i] = {order_[next_], ack};
      if (++next_ == order_.size()) next_ = 0;
    }
  }
  compose_again(burst);
}

void Feeder::compose_again(unsigned burst) {
  for (unsigned i = 0; i < burst; ++i) write(i, planned_[i].number, planned_[i].flags);
}

/// Receive → touch the header → swap MACs → send, with nothing decided.
std::uint64_t Feeder::time_floor(unsigned burst) {
  const auto begin = rte_rdtsc();
  for (unsigned i = 0; i < burst; ++i) {
    auto* bytes = rte_pktmbuf_mtod(frames_[first_ + i], std::uint8_t*);
    auto& ethernet = packet::header<packet::Ethernet>(bytes);
    const net::Mac source = ethernet.source;
    if (ethernet.type.raw() == 0) continue;
    ethernet.source = ethernet.destination;
    ethernet.destination = source;
    transmit_.add(0, frames_[first_ + i]);
  }
  const auto cycles = rte_rdtsc() - begin;
  transmit_.clear(0);
  return cycles;
}

template <class Clock>
void Feeder::process(std::size_t count, Clock&& clock) {
  pipeline_.process(*shared_.publication.current(), worker_, 0, {frames_.data() + first_, count}, 1,
                    std::forward<Clock>(clock));
  if (transmit_.waiting(0).size() != count) throw std::runtime_error("the benchmark's packets were dropped");
  transmit_.clear(0);
  shared_.publication.quiescent(worker_);
}

}  // namespace zonelb::bench
