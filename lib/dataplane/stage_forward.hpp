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
        out_(context.out),
        flows_(context.block->flows.data()),
        zones_(context.snapshot->zone_count()),
        few_counters_(context.block->flows.size() <= few_counters) {}

  /// Sends the packet at `position`, of `rule`, to `target`, for a client of `zone`, or drops it.
  void send(std::uint16_t position, const packet::Parsed& parsed, const Rule& rule, const Target& target,
            std::uint32_t zone) {
    rte_mbuf* frame = batch_.frame[position];
    if (parsed.l3_length > target.direct_mtu || (frame->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0)
        [[unlikely]] {
      const bool ipip4 = parsed.l3_length <= target.ipip4_mtu[family(parsed)] &&
                         parsed.vlan == packet::no_vlan && frame->data_off >= sizeof(packet::Ipv4);
      FlowCounter& counter = counter_of(rule, target, zone);
      return ipip4 ? send_ipip4(position, parsed, target, counter) : send_other(position, target, counter);
    }
    packet::replace_macs(batch_.bytes[position], target.macs);
    count(*frame, counter_of(rule, target, zone));
    out_.add(target.port, frame);
  }

  /// Adds to counters whose memory has been on its way since each packet was sent.
  void finish() {
    for (std::size_t i = 0; i < sent_; ++i) {
      counted_[i].counter->packets.add(1);
      counted_[i].counter->bytes.add(counted_[i].bytes);
    }
    sent_ = 0;
  }

 private:
  /// So many are in a core's first cache all the time.
  static constexpr std::size_t few_counters = 256;

  struct Counted {
    FlowCounter* counter;
    std::uint32_t bytes;
  };

  static std::size_t family(const packet::Parsed& parsed) {
    return parsed.kind == packet::Kind::flow4 ? 0 : 1;
  }
  void send_ipip4(std::uint16_t position, const packet::Parsed& parsed, const Target& target,
                  FlowCounter& counter);
  void send_other(std::uint16_t position, const Target& target, FlowCounter& counter);

  FlowCounter& counter_of(const Rule& rule, const Target& target, std::uint32_t zone) const {
    return flows_[rule.first_flow + target.member * zones_ + zone];
  }

  void count(const rte_mbuf& frame, FlowCounter& counter) {
    if (few_counters_) [[likely]] {
      counter.packets.add(1);
      counter.bytes.add(frame.pkt_len);
    } else {
      conntrack::prefetch_line(&counter);
      counted_[sent_++] = {&counter, frame.pkt_len};
    }
  }

  Context& context_;
  Batch& batch_;
  Transmit& out_;
  FlowCounter* flows_;
  std::size_t zones_;
  bool few_counters_;
  std::size_t sent_ = 0;
  // Without initialisers: most of it is not used in most batches.
  std::array<Counted, Batch::max_size> counted_;
};

}  // namespace zonelb::dataplane
