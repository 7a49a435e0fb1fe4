#include "packet/parse.hpp"

#include "catch.hpp"
#include "conntrack/entry.hpp"
#include "frames.hpp"
#include "packet/plain_parser.hpp"

using namespace zonelb;
using namespace zonelb::packet;
using namespace zonelb::packet::testing;

namespace {

/// A FlowKey written by hand: what lies in its memory.
Frame key_bytes(const Parsed& parsed) {
  return bytes(reinterpret_cast<const std::uint8_t*>(&parsed.key), sizeof(parsed.key));
}

const Frame key4_tcp =
    bytes({client4, vip4, "0000000000000000 0000000000000000 0000000000000000", "9c40 0050 06 000000"});
const Frame key6_tcp = bytes({client6, vip6, "9c40 0050 06 000000"});

}  // namespace

TEST_CASE("a TCP SYN over IPv4, untagged") {
  const auto frame = bytes({macs, "0800", ipv4_tcp, tcp_syn});
  const auto parsed = parse(frame, false);
  CHECK(parsed.kind == Kind::flow4);
  CHECK(key_bytes(parsed) == key4_tcp);
  CHECK(parsed.l3_offset == 14);
  CHECK(parsed.l4_offset == 34);
  CHECK(parsed.l3_length == 40);
  CHECK(parsed.vlan == no_vlan);
  CHECK(parsed.tcp_flags == conntrack::tcp_flag::syn);
  CHECK(marks_of(&frame[14]).traffic_class == 0xb9);
  CHECK(marks_of(&frame[14]).dont_fragment.value() == Ipv4::dont_fragment);
}

TEST_CASE("VLAN tags shift everything and name the VLAN") {
  SECTION("802.1Q; priority and DEI bits are not part of the number") {
    const auto parsed = parse(bytes({macs, "8100 f123 0800", ipv4_tcp, tcp_syn}), false);
    CHECK(parsed.kind == Kind::flow4);
    CHECK(key_bytes(parsed) == key4_tcp);
    CHECK(parsed.vlan == 0x123);
    CHECK(parsed.l3_offset == 18);
    CHECK(parsed.l4_offset == 38);
    CHECK(parsed.l3_length == 40);
  }
  SECTION("802.1ad") {
    const auto parsed = parse(bytes({macs, "88a8 0064 86dd", ipv6_tcp, client6, vip6, tcp_syn}));
    CHECK(parsed.kind == Kind::flow6);
    CHECK(parsed.vlan == 100);
    CHECK(parsed.l4_offset == 58);
  }
  SECTION("a priority tag is no VLAN") {
    const auto parsed = parse(bytes({macs, "8100 e000 0800", ipv4_tcp, tcp_syn}));
    CHECK(parsed.kind == Kind::flow4);
    CHECK(parsed.vlan == no_vlan);
    CHECK(parsed.l3_offset == 18);
  }
  SECTION("two tags are too many") {
    CHECK(reason(bytes({macs, "8100 0064 8100 0065 0800", ipv4_tcp, tcp_syn})) ==
          DropReason::unknown_ethertype);
  }
  SECTION("a tag cut short") {
    CHECK(reason(bytes({macs, "8100 00"})) == DropReason::runt);
  }
}

TEST_CASE("TCP over IPv6") {
  const auto frame = bytes({macs, "86dd", ipv6_tcp, client6, vip6, tcp_syn});
  const auto parsed = parse(frame);
  CHECK(parsed.kind == Kind::flow6);
  CHECK(key_bytes(parsed) == key6_tcp);
  CHECK(parsed.l3_offset == 14);
  CHECK(parsed.l4_offset == 54);
  CHECK(parsed.l3_length == 60);
  CHECK(parsed.tcp_flags == conntrack::tcp_flag::syn);
  CHECK(marks_of(&frame[14]).traffic_class == 0xb9);
  CHECK(marks_of(&frame[14]).dont_fragment.value() == Ipv4::dont_fragment);
}

TEST_CASE("UDP, with and without checksum and padding") {
  SECTION("IPv4, 44 bytes") {
    const auto frame = bytes({macs, "0800 452e001e12340000401154180a0100050a000050 9c400035000ae6a5 6869"});
    const auto parsed = parse(frame, false);
    CHECK(parsed.kind == Kind::flow4);
    CHECK(parsed.key.ports_protocol >> 32 == 17);
    CHECK(parsed.l3_length == 30);
    CHECK(parsed.tcp_flags == 0);
    CHECK(marks_of(&frame[14]).traffic_class == 0x2e);
    CHECK(marks_of(&frame[14]).dont_fragment.value() == 0);
  }
  SECTION("an empty datagram without checksum, padded to 60 bytes") {
    auto frame = bytes({macs, "0800 4500001c00010000 40110000", client4, vip4, "9c40003500080000"});
    CHECK(parse(frame).kind == Kind::flow4);
    frame.resize(60);
    const auto parsed = parse(frame);
    CHECK(parsed.kind == Kind::flow4);
    CHECK(parsed.l3_length == 28);
  }
  SECTION("IPv6") {
    const auto parsed =
        parse(bytes({macs, "86dd 60000000 000b 11 40", client6, vip6, "9c400035000b7e01 686921"}));
    CHECK(parsed.kind == Kind::flow6);
    CHECK(parsed.l3_length == 51);
  }
}

TEST_CASE("IPv4 options do not shift the ports that are read") {
  const auto with_options =
      bytes({macs, "0800 47000030 00000000 4006 0000", client4, vip4, "0101010101010100", tcp_syn});
  const auto parsed = parse(with_options);
  CHECK(parsed.kind == Kind::flow4);
  CHECK(key_bytes(parsed) == key4_tcp);
  CHECK(parsed.l4_offset == 14 + 28);
  CHECK(parsed.l3_length == 48);
}

TEST_CASE("IPv4 headers that contradict themselves or the frame") {
  auto frame = bytes({macs, "0800", ipv4_tcp, tcp_syn});
  const auto ip = frame.begin() + 14;
  SECTION("the frame ends inside the header") {
    frame.resize(33);
    CHECK(reason(frame) == DropReason::runt);
  }
  SECTION("the frame ends inside Ethernet") {
    frame.resize(13);
    CHECK(reason(frame) == DropReason::runt);
    CHECK(reason({}) == DropReason::runt);
  }
  SECTION("version") {
    ip[0] = 0x65;
    CHECK(reason(frame) == DropReason::bad_ip_version);
  }
  SECTION("header below 20 bytes") {
    ip[0] = 0x44;
    CHECK(reason(frame) == DropReason::bad_ip_header_length);
  }
  SECTION("header longer than the packet") {
    ip[0] = 0x4b;
    CHECK(reason(frame) == DropReason::bad_ip_header_length);
  }
  SECTION("total length below the header's") {
    ip[3] = 19;
    CHECK(reason(frame) == DropReason::bad_ip_header_length);
  }
  SECTION("total length beyond the frame, by one byte") {
    ip[3] = 41;
    CHECK(reason(frame) == DropReason::truncated);
  }
  SECTION("checksum, verified unless the port did") {
    ip[10] ^= 0x10;
    CHECK(reason(frame, false) == DropReason::bad_ip_checksum);
    CHECK(reason(frame, true) == DropReason::count);
  }
  SECTION("checksum over options") {
    auto options = bytes({macs, "0800 46000018 00000000 40fd 0000", client4, vip4, "01010100"});
    CHECK(reason(options, false) == DropReason::bad_ip_checksum);
    options[24] = 0x62;  // 0x4600 + 0x18 + 0x40fd + 0x0a01 + 0x05 + 0x0a00 + 0x50 + 0x0101 + 0x0100 = 0x9d6c
    options[25] = 0x93;
    CHECK(reason(options, false) == DropReason::count);
  }
}

TEST_CASE("IPv6 headers that contradict themselves or the frame") {
  auto frame = bytes({macs, "86dd", ipv6_tcp, client6, vip6, tcp_syn});
  SECTION("the frame ends inside the header") {
    frame.resize(14 + 39);
    CHECK(reason(frame) == DropReason::runt);
  }
  SECTION("version") {
    frame[14] = 0x4b;
    CHECK(reason(frame) == DropReason::bad_ip_version);
  }
  SECTION("payload beyond the frame, by one byte") {
    frame[19] = 21;
    CHECK(reason(frame) == DropReason::truncated);
  }
  SECTION("a payload that no 16-bit packet length can hold") {
    frame[18] = 0xff;
    frame[19] = 0xff;
    frame.resize(70'000);
    CHECK(reason(frame) == DropReason::truncated);
  }
}

TEST_CASE("TCP and UDP headers that do not fit") {
  auto tcp = bytes({macs, "0800", ipv4_tcp, tcp_syn});
  auto udp = bytes({macs, "0800 4500001c00010000 40110000", client4, vip4, "9c40003500080000"});
  tcp.resize(100);
  udp.resize(100);
  CHECK(reason(tcp) == DropReason::count);
  CHECK(reason(udp) == DropReason::count);
  SECTION("TCP of 19 bytes") {
    tcp[17] = 39;
    CHECK(reason(tcp) == DropReason::bad_l4_header);
  }
  SECTION("no TCP at all") {
    tcp[17] = 20;
    CHECK(reason(tcp) == DropReason::bad_l4_header);
  }
  SECTION("data offset 4") {
    tcp[46] = 0x40;
    CHECK(reason(tcp) == DropReason::bad_l4_header);
  }
  SECTION("data offset beyond the packet") {
    tcp[46] = 0x60;
    CHECK(reason(tcp) == DropReason::bad_l4_header);
  }
  SECTION("UDP of 7 bytes") {
    udp[17] = 27;
    CHECK(reason(udp) == DropReason::bad_l4_header);
  }
  SECTION("UDP length 7") {
    udp[39] = 7;
    CHECK(reason(udp) == DropReason::bad_l4_header);
  }
  SECTION("UDP length beyond the packet") {
    udp[39] = 9;
    CHECK(reason(udp) == DropReason::bad_l4_header);
  }
  SECTION("UDP length below the packet's is allowed") {
    udp[17] = 30;
    CHECK(reason(udp) == DropReason::count);
  }
}

TEST_CASE("IPv4 fragments are dropped by name, with the addresses known") {
  for (const std::string_view fragment : {"2000", "0001", "3fff", "6000"}) {
    const auto frame = bytes({macs, "0800 45b90028 1234", fragment, "40060000", client4, vip4, tcp_syn});
    CHECK(reason(frame) == DropReason::fragment);
    CHECK(parse(frame).key.addresses == parse(bytes({macs, "0800", ipv4_tcp, tcp_syn})).key.addresses);
  }
  // The reserved bit fragments nothing.
  CHECK(reason(bytes({macs, "0800 45b90028 1234 8000 40060000", client4, vip4, tcp_syn})) ==
        DropReason::count);
}

TEST_CASE("sources nobody can have") {
  for (const std::string_view source :
       {"00000000", "7f000001", "7fffffff", "e0000001", "efffffff", "ffffffff"}) {
    CHECK(reason(bytes({macs, "0800 45000028 0000 0000 40060000", source, vip4, tcp_syn})) ==
          DropReason::bad_source);
  }
  for (const std::string_view source :
       {"00000001", "7effffff", "80000000", "dfffffff", "f0000000", "fffffffe"}) {
    CHECK(reason(bytes({macs, "0800 45000028 0000 0000 40060000", source, vip4, tcp_syn})) ==
          DropReason::count);
  }
  for (const std::string_view source :
       {"00000000000000000000000000000000", "00000000000000000000000000000001",
        "ff020000000000000000000000000001"}) {
    CHECK(reason(bytes({macs, "86dd", ipv6_tcp, source, vip6, tcp_syn})) == DropReason::bad_source);
  }
  for (const std::string_view source :
       {"00000000000000000000000000000002", "01000000000000000000000000000001",
        "fe800000000000000000000000000001"}) {
    CHECK(reason(bytes({macs, "86dd", ipv6_tcp, source, vip6, tcp_syn})) == DropReason::count);
  }
}

TEST_CASE("ICMP: echo requests, and all else") {
  const auto icmp4 = [](std::string_view type_code) {
    return bytes({macs, "0800 4500001c 0000 0000 4001 0000", client4, vip4, type_code, "0000 11110002"});
  };
  CHECK(parse(icmp4("0800")).kind == Kind::echo4);
  CHECK(parse(icmp4("0801")).kind == Kind::other4);
  CHECK(parse(icmp4("0000")).kind == Kind::other4);
  CHECK(parse(icmp4("0304")).kind == Kind::other4);
  CHECK(parse(icmp4("0800")).key.ports_protocol == std::uint64_t{1} << 32);
  auto cut = icmp4("0800");
  cut[17] = 27;
  CHECK(reason(cut) == DropReason::bad_l4_header);

  const auto icmp6 = [](std::string_view type_code) {
    return bytes({macs, "86dd 60000000 0008 3a 40", client6, vip6, type_code, "0000 11110002"});
  };
  CHECK(parse(icmp6("8000")).kind == Kind::echo6);
  CHECK(parse(icmp6("8001")).kind == Kind::other6);
  CHECK(parse(icmp6("8100")).kind == Kind::other6);
  CHECK(parse(icmp6("8400")).kind == Kind::other6);
  CHECK(parse(icmp6("8500")).kind == Kind::nd);
  CHECK(parse(icmp6("8900")).kind == Kind::nd);
  CHECK(parse(icmp6("8a00")).kind == Kind::other6);
  CHECK(parse(icmp6("8000")).key.ports_protocol == std::uint64_t{58} << 32);
  cut = icmp6("8000");
  cut[19] = 7;
  CHECK(reason(cut) == DropReason::bad_l4_header);
}

TEST_CASE("other protocols and other ethertypes") {
  const auto gre = parse(bytes({macs, "0800 45000018 0000 0000 402f 0000", client4, vip4, "00000800"}));
  CHECK(gre.kind == Kind::other4);
  CHECK(gre.key.ports_protocol == std::uint64_t{47} << 32);
  CHECK(gre.key.addresses[0] != 0);
  const auto nothing = parse(bytes({macs, "86dd 60000000 0000 3b 40", client6, vip6}));
  CHECK(nothing.kind == Kind::other6);
  CHECK(nothing.key.ports_protocol == std::uint64_t{59} << 32);

  const auto arp = parse(bytes({macs, "8100 0007 0806 0001"}));
  CHECK(arp.kind == Kind::arp);
  CHECK(arp.vlan == 7);
  CHECK(arp.l3_offset == 18);
  CHECK(arp.l3_length == 2);
  CHECK(reason(bytes({macs, "0026 424203"})) == DropReason::unknown_ethertype);
  CHECK(reason(bytes({macs, "88cc 0207"})) == DropReason::unknown_ethertype);
}

TEST_CASE("plain frames to one station are known at sight, and no others") {
  const Frame tcp = bytes({macs, "0800", ipv4_tcp, tcp_syn});
  net::Mac::Bytes station{};
  std::copy_n(tcp.begin(), station.size(), station.begin());
  const PlainParser plain{net::Mac(station)};
  const auto known = [&](Frame frame) {
    frame.resize(std::max<std::size_t>(frame.size(), 60));
    Parsed parsed{};
    conntrack::FlowKey key{};
    const auto length = static_cast<std::uint32_t>(frame.size());
    return plain.parse4(frame.data(), length, false, parsed, key) ||
           plain.parse6(frame.data(), length, parsed);
  };
  CHECK(known(tcp));
  CHECK(known(bytes({macs, "86dd", ipv6_tcp, client6, vip6, tcp_syn})));
  CHECK(known(bytes({macs, "0800", ipv4_udp, udp_question})));
  CHECK(known(bytes({macs, "86dd", ipv6_udp, client6, vip6, udp_question})));
  constexpr std::string_view too_long = "9c40 0035 0015 0000 7175657374696f6e2e2e2e2e";
  CHECK_FALSE(known(bytes({macs, "0800", ipv4_udp, too_long})));
  CHECK_FALSE(known(bytes({macs, "86dd", ipv6_udp, client6, vip6, too_long})));
  CHECK_FALSE(known(bytes({macs, "8100 0064 0800", ipv4_tcp, tcp_syn})));
  Frame to_another = tcp;
  to_another[5] ^= 1;
  CHECK_FALSE(known(to_another));
  Frame broken = tcp;
  broken[22] ^= 1;
  CHECK_FALSE(known(broken));
}
