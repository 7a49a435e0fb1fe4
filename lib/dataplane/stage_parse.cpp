#include "dataplane/stage_parse.hpp"

#include "dataplane/local.hpp"
#include "dataplane/stage_match.hpp"
#include "packet/plain_parser.hpp"

namespace zonelb::dataplane {
namespace {

using packet::DropReason;
using packet::Kind;

bool checksum_known_good(const rte_mbuf& frame) {
  return (frame.ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_GOOD;
}

/// A tag that the NIC has taken off still counts.
std::uint16_t vlan_of(const rte_mbuf& frame, const packet::Parsed& parsed) {
  if ((frame.ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) == 0) return parsed.vlan;
  const auto number = static_cast<std::uint16_t>(frame.vlan_tci & packet::Vlan::number_mask);
  return number == 0 ? packet::no_vlan : number;
}

bool is_for(const net::Mac& mac, const std::uint8_t* frame) {
  return packet::header<packet::Ethernet>(frame).destination == mac;
}

/// Whole in one buffer, with its VLAN tag, if any, in place?
bool is_plain(const rte_mbuf& frame) {
  return frame.nb_segs == 1 && (frame.ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) == 0;
}

using Matcher4 = Matcher<conntrack::Table4>;
using Matcher6 = Matcher<conntrack::Table6>;

/// Any frame at all: reads frames one by one.
class AnyParser {
 public:
  AnyParser(Context& context, Batch& batch)
      : context_(context),
        batch_(batch),
        matcher4_(context, batch, context.table4),
        matcher6_(context, batch, context.table6) {}

  void parse(std::uint16_t i) {
    rte_mbuf* frame = batch_.frame[i];
    packet::Parsed& parsed = batch_.parsed[i];
    const std::uint8_t* bytes = batch_.bytes[i];
    const PortView& port = context_.in();
    if (frame->nb_segs != 1) return context_.drop(frame, DropReason::multi_segment);
    packet::parse(bytes, frame->data_len, checksum_known_good(*frame), parsed);
    if (parsed.kind == Kind::dropped) return context_.drop(frame, parsed.reason);
    parsed.vlan = vlan_of(*frame, parsed);
    if (port.vlan != packet::no_vlan && parsed.vlan != port.vlan)
      return context_.drop(frame, DropReason::vlan_mismatch);
    const bool for_us = is_for(port.mac, bytes);
    if (for_us && parsed.kind == Kind::flow4) {
      if (matcher4_.match(i, parsed.key)) flows4_.add(i);
    } else if (for_us && parsed.kind == Kind::flow6) {
      if (matcher6_.match(i, parsed.key)) flows6_.add(i);
    } else {
      serve_locally(context_, frame, parsed);
    }
  }

  /// Of one flow some packets may be plain and others not, hence the merging.
  void finish() {
    batch_.flows4.merge(flows4_);
    batch_.flows6.merge(flows6_);
  }

 private:
  Context& context_;
  Batch& batch_;
  Matcher4 matcher4_;
  Matcher6 matcher6_;
  Selection flows4_, flows6_;
};

[[gnu::noinline]] void parse_others(Context& context, Batch& batch, const Selection& frames) {
  AnyParser parser(context, batch);
  for (const std::uint16_t i : frames.positions()) parser.parse(i);
  parser.finish();
}

// Plain frames of one family among `frames` (positions, or how many from the first on); `rest` gets the
// others. A loop for each family, so that it has the processor's registers to itself. The parser is a copy,
// of which the compiler knows that nothing we write changes it.

template <class Frames>
[[gnu::noinline]] void parse_plain4(Context& context, const packet::PlainParser& parser, Batch& batch,
                                    const Frames& frames, Selection& rest) {
  const packet::PlainParser plain = parser;
  Matcher4 matcher(context, batch, context.table4);
  batch.flows4.choose(frames, [&](std::uint16_t i) {
    const rte_mbuf& frame = *batch.frame[i];
    conntrack::FlowKey key;
    if (is_plain(frame) && plain.parse4(batch.bytes[i], frame.data_len, checksum_known_good(frame),
                                        batch.parsed[i], key)) [[likely]]
      return matcher.match(i, key);
    rest.add(i);
    return false;
  });
}

template <class Frames>
[[gnu::noinline]] void parse_plain6(Context& context, const packet::PlainParser& parser, Batch& batch,
                                    const Frames& frames, Selection& rest) {
  const packet::PlainParser plain = parser;
  Matcher6 matcher(context, batch, context.table6);
  batch.flows6.choose(frames, [&](std::uint16_t i) {
    const rte_mbuf& frame = *batch.frame[i];
    packet::Parsed& parsed = batch.parsed[i];
    if (is_plain(frame) && plain.parse6(batch.bytes[i], frame.data_len, parsed)) [[likely]]
      return matcher.match(i, parsed.key);
    rest.add(i);
    return false;
  });
}

bool begins_with_ipv6(const Batch& batch) {
  return batch.frame[0]->data_len >= sizeof(packet::Ethernet) &&
         packet::header<packet::Ethernet>(batch.bytes[0]).type == packet::ethertype::ipv6;
}

/// The family of a batch's first frame is most probably that of all, hence the order.
void parse_untagged(Context& context, Batch& batch) {
  const packet::PlainParser& parser = context.snapshot->layout->parsers[context.port];
  Selection rest, others;
  if (begins_with_ipv6(batch)) {
    parse_plain6(context, parser, batch, batch.size, rest);
    if (!rest.positions().empty()) parse_plain4(context, parser, batch, rest, others);
  } else {
    parse_plain4(context, parser, batch, batch.size, rest);
    if (!rest.positions().empty()) parse_plain6(context, parser, batch, rest, others);
  }
  if (!others.positions().empty()) parse_others(context, batch, others);
}

}  // namespace

void parse(Context& context, Batch& batch) {
  batch.flows4.clear();
  batch.flows6.clear();
  if (context.in().vlan == packet::no_vlan) [[likely]] {
    parse_untagged(context, batch);
  } else {
    Selection all;
    all.choose(batch.size, [](std::uint16_t) { return true; });
    parse_others(context, batch, all);
  }
}

}  // namespace zonelb::dataplane
