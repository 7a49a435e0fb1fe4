#include "dataplane/pipeline.hpp"

#include <algorithm>

#include "dataplane/stage_forward.hpp"
#include "dataplane/stage_match.hpp"
#include "dataplane/stage_parse.hpp"
#include "dataplane/stage_track.hpp"

namespace zonelb::dataplane {
namespace {

constexpr std::uint32_t icmp_errors_per_second = 1000;

}  // namespace

void Pipeline::process(const Snapshot& snapshot, unsigned worker, std::uint16_t port,
                       std::span<rte_mbuf* const> frames, std::uint32_t now) {
  if (context_.now != now) context_.icmp_allowance = icmp_errors_per_second;
  context_.snapshot = &snapshot;
  context_.block = &snapshot.counters->worker(worker);
  context_.port = port;
  context_.now = now;
  batch_.size = static_cast<std::uint16_t>(frames.size());
  std::ranges::copy(frames, batch_.frame.begin());
  context_.counters.received.add(frames.size());

  parse(context_, batch_);  // frame → flow, or answered or dropped here
  match(context_, batch_);  // destination → rule; hash; prefetch of the table
  track(context_, batch_, batch_.flows4, context_.table4);  // connection → target; new ones are placed
  track(context_, batch_, batch_.flows6, context_.table6);
  forward(context_, batch_, batch_.flows4);  // rewrite or encapsulate → transmit
  forward(context_, batch_, batch_.flows6);
}

}  // namespace zonelb::dataplane
