#pragma once

#include "dataplane/batch.hpp"
#include "packet/l2.hpp"

namespace zonelb::dataplane {

/// Targets → frames on the wire: MAC rewrite or encapsulation, and the counters of what was sent. For one
/// batch, at whose end finish() is to be called.
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
    rte_mbuf* frame = batch_.frame[position];
    if (parsed.l3_length > target.direct_mtu || (frame->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0)
        [[unlikely]] {
      const bool ipip4 = parsed.l3_length <= target.ipip4_mtu[family(parsed)] &&
                         parsed.vlan == packet::no_vlan && frame->data_off >= sizeof(packet::Ipv4);
      return ipip4 ? send_ipip4(position, parsed, target, zone) : send_other(position, target, zone);
    }
    packet::replace_macs(batch_.bytes[position], target.macs);
    count(*frame, position, target, zone);
    context_.out.add(target.port, frame);
  }

  /// Adds to the counters, whose memory has been on its way since each packet was sent.
  void finish() {
    for (std::size_t i = 0; i < sent_; ++i) {
      counted_[i].counter->packets.add(1);
      counted_[i].counter->bytes.add(counted_[i].bytes);
    }
    sent_ = 0;
  }

 private:
  struct Counted {
    FlowCounter* counter;
    std::uint32_t bytes;
  };

  static std::size_t family(const packet::Parsed& parsed) {
    return parsed.kind == packet::Kind::flow4 ? 0 : 1;
  }
  void send_ipip4(std::uint16_t position, const packet::Parsed& parsed, const Target& target,
                  std::uint32_t zone);
  void send_other(std::uint16_t position, const Target& target, std::uint32_t zone);

  void count(const rte_mbuf& frame, std::uint16_t position, const Target& target, std::uint32_t zone) {
    FlowCounter* counter = &flows_[rules_[batch_.rule[position]].first_flow + target.member * zones_ + zone];
    conntrack::prefetch_line(counter);
    counted_[sent_++] = {counter, frame.pkt_len};
  }

  Context& context_;
  Batch& batch_;
  const Rule* rules_;
  FlowCounter* flows_;
  std::size_t zones_;
  std::size_t sent_ = 0;
  // Without initialisers: most of it is not used in most batches.
  std::array<Counted, Batch::max_size> counted_;
};

}  // namespace zonelb::dataplane
