#include "dataplane/stage_forward.hpp"

#include "packet/icmp.hpp"

namespace zonelb::dataplane {
namespace {

using packet::DropReason;
using packet::Parsed;

std::uint16_t vlan_out(const Target& target, const Parsed& parsed) {
  return target.keep_vlan ? parsed.vlan : target.vlan;
}

/// Makes the frame start at `start`, which may lie in front of or behind its present start.
void move_start(rte_mbuf* frame, const std::uint8_t* start) {
  const auto moved = start - rte_pktmbuf_mtod(frame, std::uint8_t*);
  frame->data_off = static_cast<std::uint16_t>(frame->data_off + moved);
  set_length(frame, static_cast<std::uint32_t>(frame->data_len - moved));
}

/// L2_DSR: the packet stays as it is; the frame goes to the backend's station.
void redirect(rte_mbuf* frame, const Target& target, const Parsed& parsed) {
  std::uint8_t* bytes = rte_pktmbuf_mtod(frame, std::uint8_t*);
  const bool tagged = parsed.l3_offset == packet::ethernet_length(0);
  const auto vlan = vlan_out(target, parsed);
  if (tagged == (vlan != packet::no_vlan) && (!tagged || vlan == parsed.vlan)) [[likely]]
    return packet::replace_macs(bytes, target.macs);
  const auto type = parsed.kind == packet::Kind::flow4 ? packet::ethertype::ipv4 : packet::ethertype::ipv6;
  move_start(frame, packet::write_ethernet(bytes + parsed.l3_offset, target.macs.destination,
                                           target.macs.source, vlan, type));
}

void encapsulate(Context& context, rte_mbuf* frame, const Target& target, const Parsed& parsed,
                 const packet::Encapsulation& encapsulation, std::uint32_t hash) {
  std::uint8_t* inner = rte_pktmbuf_mtod(frame, std::uint8_t*) + parsed.l3_offset;
  std::uint8_t* outer = inner - encapsulation.length;
  // What follows the packet is Ethernet's padding.
  frame->data_len = static_cast<std::uint16_t>(parsed.l3_offset + parsed.l3_length);
  packet::write(outer, encapsulation, parsed, hash, context.ip_id++);
  if (encapsulation.needs_udp6_checksum()) packet::finish_udp6_checksum(outer);
  move_start(frame, packet::write_ethernet(outer, target.macs.destination, target.macs.source,
                                           vlan_out(target, parsed), encapsulation.outer_ethertype()));
}

/// Path MTU discovery: tells the sender what fits (semantics.md section 6).
[[gnu::noinline, gnu::cold]] void refuse_too_big(Context& context, rte_mbuf* frame, const Parsed& parsed,
                                                 std::uint32_t mtu) {
  std::uint8_t* bytes = rte_pktmbuf_mtod(frame, std::uint8_t*);
  const bool v4 = parsed.kind == packet::Kind::flow4;
  const auto& own = v4 ? context.in().v4 : context.in().v6;
  if (!own || packet::marks_of(bytes + parsed.l3_offset).dont_fragment == net::be16() ||
      context.icmp_allowance == 0 || !packet::may_answer_with_error(bytes, parsed) ||
      frame->data_off + packet::max_icmp_error_frame > frame->buf_len)
    return context.drop(frame, DropReason::too_big);
  --context.icmp_allowance;
  std::array<std::uint8_t, packet::max_icmp_error_frame> error;
  const auto length = packet::write_too_big(error.data(), bytes, parsed, *own, context.in().mac,
                                            static_cast<std::uint16_t>(mtu));
  std::memcpy(bytes, error.data(), length);
  set_length(frame, length);
  context.counters.drops[static_cast<std::size_t>(DropReason::too_big)].add(1);
  context.counters.icmp_errors.add(1);
  context.out.add(context.port, frame);
}

}  // namespace

/// The way of most frames that are encapsulated, with nothing left to ask.
void Forwarder::send_ipip4(std::uint16_t position, const Parsed& parsed, const Target& target,
                           FlowCounter& counter) {
  rte_mbuf* frame = batch_.frame[position];
  count(*frame, counter);
  constexpr std::uint32_t headers = sizeof(packet::Ethernet) + sizeof(packet::Ipv4);
  std::uint8_t* start = batch_.bytes[position] + parsed.l3_offset - headers;
  packet::write_ipip4(start + sizeof(packet::Ethernet), *target.encapsulation[family(parsed)], parsed,
                      context_.ip_id++);
  packet::replace_macs(start, target.macs);
  packet::header<packet::Ethernet>(start).type = packet::ethertype::ipv4;
  frame->data_off = static_cast<std::uint16_t>(frame->data_off + parsed.l3_offset - headers);
  set_length(frame, headers + parsed.l3_length);
  out_.add(target.port, frame);
}

/// What is encapsulated or tagged, and all that can go wrong.
void Forwarder::send_other(std::uint16_t position, const Target& target, FlowCounter& counter) {
  rte_mbuf* frame = batch_.frame[position];
  const Parsed& parsed = batch_.parsed[position];
  if (!target.resolved) [[unlikely]]
    return context_.drop(
        frame, target.port == Target::no_port ? DropReason::no_route : DropReason::neighbour_unresolved);
  const auto* encapsulation = target.encapsulation[family(parsed)];
  const unsigned growth = encapsulation == nullptr ? 0 : encapsulation->length;
  if (parsed.l3_length + growth > target.mtu) [[unlikely]]
    return refuse_too_big(context_, frame, parsed, target.mtu - growth);
  if (rte_pktmbuf_headroom(frame) < growth + sizeof(packet::Vlan)) [[unlikely]]
    return context_.drop(frame, DropReason::no_buffer);
  count(*frame, counter);
  if (encapsulation == nullptr) {
    redirect(frame, target, parsed);
  } else {
    encapsulate(context_, frame, target, parsed, *encapsulation,
                static_cast<std::uint32_t>(batch_.hash[position]));
  }
  out_.add(target.port, frame);
}

}  // namespace zonelb::dataplane
