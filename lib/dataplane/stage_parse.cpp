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

void parse_one(Context& context, Batch& batch, std::uint16_t i) {
  rte_mbuf* frame = batch.frame[i];
  packet::Parsed& parsed = batch.parsed[i];
  const std::uint8_t* bytes = batch.bytes(i);
  const PortView& port = context.in();
  if (frame->nb_segs != 1) [[unlikely]]
    return context.drop(frame, DropReason::multi_segment);
  packet::parse(bytes, frame->data_len, checksum_known_good(*frame), parsed);
  if (parsed.kind == Kind::dropped) [[unlikely]]
    return context.drop(frame, parsed.reason);
  parsed.vlan = vlan_of(*frame, parsed);
  if (port.vlan != packet::no_vlan && parsed.vlan != port.vlan) [[unlikely]]
    return context.drop(frame, DropReason::vlan_mismatch);
  if (parsed.kind == Kind::flow4 && is_for(port.mac, bytes)) [[likely]] {
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
  for (std::uint16_t i = 0; i < batch.size; ++i) {
    if (i + prefetch_ahead < batch.size) rte_prefetch0(batch.bytes(i + prefetch_ahead));
    parse_one(context, batch, i);
  }
}

}  // namespace zonelb::dataplane
