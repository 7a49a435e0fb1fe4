#include "packet/drop_reason.hpp"

namespace zonelb::packet {

std::string_view name(DropReason reason) {
  switch (reason) {
    case DropReason::runt:
      return "runt";
    case DropReason::multi_segment:
      return "multi_segment";
    case DropReason::unknown_ethertype:
      return "unknown_ethertype";
    case DropReason::vlan_mismatch:
      return "vlan_mismatch";
    case DropReason::not_ours:
      return "not_ours";
    case DropReason::no_rule:
      return "no_rule";
    case DropReason::bad_ip_version:
      return "bad_ip_version";
    case DropReason::bad_ip_header_length:
      return "bad_ip_header_length";
    case DropReason::bad_ip_checksum:
      return "bad_ip_checksum";
    case DropReason::truncated:
      return "truncated";
    case DropReason::bad_l4_header:
      return "bad_l4_header";
    case DropReason::fragment:
      return "fragment";
    case DropReason::extension_headers:
      return "extension_headers";
    case DropReason::unsupported_protocol:
      return "unsupported_protocol";
    case DropReason::icmp_not_echo:
      return "icmp_not_echo";
    case DropReason::bad_icmp_checksum:
      return "bad_icmp_checksum";
    case DropReason::bad_arp:
      return "bad_arp";
    case DropReason::bad_nd:
      return "bad_nd";
    case DropReason::bad_source:
      return "bad_source";
    case DropReason::other_region:
      return "other_region";
    case DropReason::no_backend:
      return "no_backend";
    case DropReason::neighbour_unresolved:
      return "neighbour_unresolved";
    case DropReason::too_big:
      return "too_big";
    case DropReason::no_route:
      return "no_route";
    case DropReason::tx_full:
      return "tx_full";
    case DropReason::no_buffer:
      return "no_buffer";
    case DropReason::ring_full:
      return "ring_full";
    case DropReason::starting:
      return "starting";
    case DropReason::count:
      break;
  }
  return "";
}

}  // namespace zonelb::packet
