#include "dataplane/stage_parse.hpp"

#include "dataplane/local.hpp"

namespace zonelb::dataplane {
namespace {

using packet::DropReason;
using packet::Kind;

constexpr std::uint16_t prefetch_ahead = 4;

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

/// Any frame that is not a flow to us like most.
void parse_other(Context& context, Batch& batch, std::uint16_t i) {
  rte_mbuf* frame = batch.frame[i];
  packet::Parsed& parsed = batch.parsed[i];
  const std::uint8_t* bytes = batch.bytes(i);
  const PortView& port = context.in();
  if (frame->nb_segs != 1) return context.drop(frame, DropReason::multi_segment);
  packet::parse(bytes, frame->data_len, checksum_known_good(*frame), parsed);
  if (parsed.kind == Kind::dropped) return context.drop(frame, parsed.reason);
  parsed.vlan = vlan_of(*frame, parsed);
  if (port.vlan != packet::no_vlan && parsed.vlan != port.vlan)
    return context.drop(frame, DropReason::vlan_mismatch);
  if (parsed.kind == Kind::flow4 && is_for(port.mac, bytes)) {
    batch.flows4.add(i);
  } else if (parsed.kind == Kind::flow6 && is_for(port.mac, bytes)) {
    batch.flows6.add(i);
  } else {
    serve_locally(context, frame, parsed);
  }
}

}  // namespace

void parse(Context& context, Batch& batch) {
  batch.flows4.clear();
  batch.flows6.clear();
  const net::Mac mac = context.in().mac;
  const std::uint16_t vlan = context.in().vlan;
  for (std::uint16_t i = 0; i < batch.size; ++i) {
    if (i + prefetch_ahead < batch.size) rte_prefetch0(batch.bytes(i + prefetch_ahead));
    const rte_mbuf& frame = *batch.frame[i];
    const std::uint8_t* bytes = batch.bytes(i);
    packet::Parsed& parsed = batch.parsed[i];
    const bool common = is_plain(frame) &&
                        packet::parse_common(bytes, frame.data_len, checksum_known_good(frame), parsed) &&
                        (vlan == packet::no_vlan || parsed.vlan == vlan) && is_for(mac, bytes);
    if (!common) [[unlikely]] {
      parse_other(context, batch, i);
    } else if (parsed.kind == Kind::flow4) {
      batch.flows4.add(i);
    } else {
      batch.flows6.add(i);
    }
  }
}

}  // namespace zonelb::dataplane
