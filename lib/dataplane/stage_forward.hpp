#pragma once

#include "dataplane/batch.hpp"
#include "packet/l2.hpp"

namespace zonelb::dataplane {

/// Targets → frames on the wire: MAC rewrite or encapsulation, and the counters of what was sent. For one
/// batch.
class Forwarder {
 public:
  Forwarder(Context& context, Batch& batch)
      : context_(context),
        batch_(batch),
        rules_(context.snapshot->layout->rules.data()),
        flows_(context.block->flows.data()),
        zones_(context.snapshot->zone_count()) {}

  /// Sends the packet at `position` to `target`, for a client of `zone`, or drops it.
  void send(std::uint16_t position, const packet::Parsed& parsed, const Target& target, std::uint32_t zone) {
    if (parsed.l3_length > target.direct_mtu || parsed.l3_offset != sizeof(packet::Ethernet)) [[unlikely]]
      return send_other(position, target, zone);
    rte_mbuf* frame = batch_.frame[position];
    packet::replace_macs(batch_.bytes[position], target.macs);
    count(*frame, position, target, zone);
    context_.out.add(target.port, frame);
  }

 private:
  void send_other(std::uint16_t position, const Target& target, std::uint32_t zone);

  void count(const rte_mbuf& frame, std::uint16_t position, const Target& target, std::uint32_t zone) {
    FlowCounter& counter = flows_[rules_[batch_.rule[position]].first_flow + target.member * zones_ + zone];
    counter.packets.add(1);
    counter.bytes.add(frame.pkt_len);
  }

  Context& context_;
  Batch& batch_;
  const Rule* rules_;
  FlowCounter* flows_;
  std::size_t zones_;
};

}  // namespace zonelb::dataplane
