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

/// Any frame but a plain one. True: a flow over IPv4 that goes on; one over IPv6 joins flows6.
bool parse_other(Context& context, Batch& batch, std::uint16_t i) {
  rte_mbuf* frame = batch.frame[i];
  packet::Parsed& parsed = batch.parsed[i];
  const std::uint8_t* bytes = batch.bytes[i];
  const PortView& port = context.in();
  const auto drop = [&](DropReason reason) {
    context.drop(frame, reason);
    return false;
  };
  if (frame->nb_segs != 1) return drop(DropReason::multi_segment);
  packet::parse(bytes, frame->data_len, checksum_known_good(*frame), parsed);
  if (parsed.kind == Kind::dropped) return drop(parsed.reason);
  parsed.vlan = vlan_of(*frame, parsed);
  if (port.vlan != packet::no_vlan && parsed.vlan != port.vlan) return drop(DropReason::vlan_mismatch);
  const bool flow = parsed.kind == Kind::flow4 || parsed.kind == Kind::flow6;
  if (!flow || !is_for(port.mac, bytes)) {
    serve_locally(context, frame, parsed);
    return false;
  }
  if (parsed.kind == Kind::flow4) return match4(context, batch, i);
  if (match6(context, batch, i)) batch.flows6.add(i);
  return false;
}

/// Any frame but a plain one of IPv4.
[[gnu::noinline]] bool parse_rest(Context& context, const packet::PlainParser& plain, Batch& batch,
                                  std::uint16_t i) {
  const rte_mbuf& frame = *batch.frame[i];
  if (!is_plain(frame) || !plain.parse6(batch.bytes[i], frame.data_len, batch.parsed[i]))
    return parse_other(context, batch, i);
  if (match6(context, batch, i)) batch.flows6.add(i);
  return false;
}

/// Starts the table's memory for flows on its way. In a loop of its own, so short that the processor has many
/// of them in hand at once and waits for the addresses of their pages together.
template <class Table>
void prefetch(const Batch& batch, const Selection& flows, const Table& table) {
  for (const std::uint16_t i : flows.positions()) table.prefetch_home(batch.hash[i]);
}

}  // namespace

void parse(Context& context, Batch& batch) {
  batch.flows6.clear();
  if (context.in().vlan == packet::no_vlan) [[likely]] {
    const packet::PlainParser plain(context.in().mac);
    batch.flows4.choose(batch.size, [&](std::uint16_t i) {
      const rte_mbuf& frame = *batch.frame[i];
      if (is_plain(frame) && plain.parse4(batch.bytes[i], frame.data_len, checksum_known_good(frame),
                                          batch.parsed[i])) [[likely]]
        return match4(context, batch, i);
      return parse_rest(context, plain, batch, i);
    });
  } else {
    batch.flows4.choose(batch.size, [&](std::uint16_t i) { return parse_other(context, batch, i); });
  }
  prefetch(batch, batch.flows4, context.table4);
  prefetch(batch, batch.flows6, context.table6);
}

}  // namespace zonelb::dataplane
