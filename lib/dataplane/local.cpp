#include "dataplane/local.hpp"

#include "packet/arp.hpp"
#include "packet/icmp.hpp"
#include "packet/nd.hpp"

namespace zonelb::dataplane {
namespace {

using packet::DropReason;
using packet::Kind;

std::uint8_t* bytes_of(rte_mbuf* frame) {
  return rte_pktmbuf_mtod(frame, std::uint8_t*);
}

/// A message that has been heard: tell the main core, and the frame has done its work.
void report(Context& context, rte_mbuf* frame, LocalKind kind, const NeighbourReport& heard) {
  if (!context.reports.send(heard)) return context.drop(frame, DropReason::ring_full);
  context.count_local(kind);
  rte_pktmbuf_free(frame);
}

void reply(Context& context, rte_mbuf* frame, LocalKind kind) {
  context.count_local(kind);
  context.out.add(context.port, frame);
}

void serve_arp(Context& context, rte_mbuf* frame, const packet::Parsed& parsed) {
  std::uint8_t* bytes = bytes_of(frame);
  const auto message = packet::read_arp({bytes + parsed.l3_offset, parsed.l3_length});
  if (!message) return context.drop(frame, DropReason::bad_arp);
  const auto ours = [&](net::be32 address) {
    return context.snapshot->layout->local4.find(AddressTable::words(net::IpAddress::v4(address)));
  };
  const NeighbourReport heard{net::IpAddress::v4(message->sender_address), message->sender_mac, context.port,
                              !message->request, true};
  if (!message->request || message->sender_address == message->target_address) {
    if (ours(message->sender_address) != nullptr) return context.drop(frame, DropReason::bad_arp);
    return report(context, frame, LocalKind::arp, heard);
  }
  const LocalAddress* target = ours(message->target_address);
  if (target == nullptr || !target->ports[context.port]) return context.drop(frame, DropReason::not_ours);
  // RFC 826: who asks also tells. A lost report only means that we ask ourselves.
  context.reports.send(heard);
  packet::answer_arp(bytes, parsed.l3_offset, context.in().mac);
  reply(context, frame, LocalKind::arp);
}

void answer_solicitation(Context& context, rte_mbuf* frame, const packet::NeighbourMessage& message,
                         const packet::Parsed& parsed) {
  std::uint8_t* bytes = bytes_of(frame);
  const LocalAddress* target = context.snapshot->layout->local6.find(AddressTable::words(message.target));
  if (target == nullptr || !target->ports[context.port]) return context.drop(frame, DropReason::not_ours);
  const net::Mac asker = packet::header<packet::Ethernet>(bytes).source;
  if (message.link_layer)
    context.reports.send({message.source, *message.link_layer, context.port, false, true});
  if (rte_pktmbuf_tailroom(frame) + frame->data_len < packet::max_nd_frame)
    return context.drop(frame, DropReason::no_buffer);
  set_length(frame, packet::write_advertisement(bytes, context.in().mac, parsed.vlan, message, asker));
  reply(context, frame, LocalKind::nd);
}

void serve_nd(Context& context, rte_mbuf* frame, const packet::Parsed& parsed) {
  const auto message = packet::read_neighbour_message(bytes_of(frame), parsed);
  if (!message) return context.drop(frame, DropReason::bad_nd);
  if (message->is_solicitation()) return answer_solicitation(context, frame, *message, parsed);
  const bool tells_us = message->link_layer || message->solicited;
  if (!message->is_advertisement() || !tells_us) return context.drop(frame, DropReason::not_ours);
  report(context, frame, LocalKind::nd,
         {message->target, message->link_layer.value_or(net::Mac()), context.port, message->solicited,
          message->overrides, !message->link_layer});
}

const LocalAddress* destination(const Context& context, const packet::Parsed& parsed) {
  const Layout& layout = *context.snapshot->layout;
  return packet::is_ipv4(parsed.kind) ? layout.local4.find4(parsed.key) : layout.local6.find6(parsed.key);
}

void serve_echo(Context& context, rte_mbuf* frame, const packet::Parsed& parsed) {
  if (const auto fault = packet::answer_echo(bytes_of(frame), parsed, context.in().mac))
    return context.drop(frame, *fault);
  reply(context, frame, LocalKind::echo);
}

bool is_icmp(const packet::Parsed& parsed) {
  const auto protocol = parsed.key.ports_protocol >> 32;
  return protocol == packet::ip_protocol::icmp || protocol == packet::ip_protocol::icmpv6;
}

}  // namespace

void serve_locally(Context& context, rte_mbuf* frame, const packet::Parsed& parsed) {
  if (parsed.kind == Kind::arp) return serve_arp(context, frame, parsed);
  if (parsed.kind == Kind::nd) return serve_nd(context, frame, parsed);
  const LocalAddress* local = destination(context, parsed);
  const bool to_our_station =
      packet::header<packet::Ethernet>(bytes_of(frame)).destination == context.in().mac;
  if (local == nullptr || !to_our_station) return context.drop(frame, DropReason::not_ours);
  if (parsed.kind == Kind::echo4 || parsed.kind == Kind::echo6) return serve_echo(context, frame, parsed);
  if (!local->is_vip()) return context.drop(frame, DropReason::not_ours);
  context.drop(frame, is_icmp(parsed) ? DropReason::icmp_not_echo : DropReason::unsupported_protocol);
}

}  // namespace zonelb::dataplane
