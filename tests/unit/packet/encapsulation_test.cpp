#include "packet/encapsulation.hpp"

#include <stdexcept>

#include "catch.hpp"
#include "frames.hpp"
#include "packet/l2.hpp"

using namespace zonelb;
using namespace zonelb::packet;
using namespace zonelb::packet::testing;

namespace {

constexpr std::uint32_t flow_hash = 0x89abcdef;
constexpr std::uint16_t ip_id = 0xbeef;
constexpr std::string_view outer4 = "c0000201 c0000209";
constexpr std::string_view outer6 = "20010db8000f00000000000000000001 20010db8000f00000000000000000009";

const auto source4 = ip("192.0.2.1");
const auto destination4 = ip("192.0.2.9");
const auto source6 = ip("2001:db8:f::1");
const auto destination6 = ip("2001:db8:f::9");
const InnerMacs inner_macs{net::Mac({0x02, 0x7a, 0x6c, 0x62, 0x00, 0x01}), own_mac};

const Frame inner4 = bytes({macs, "0800", ipv4_tcp, tcp_syn});
const Frame inner6 = bytes({macs, "86dd", ipv6_tcp, client6, vip6, tcp_syn});

/// The whole outer packet, written as a worker does it: into the room before the inner one.
Frame encapsulate(const Encapsulation& encapsulation, const Frame& frame) {
  const auto parsed = parse(frame);
  Frame result(encapsulation.length + std::size_t{parsed.l3_length});
  std::copy_n(frame.begin() + parsed.l3_offset, parsed.l3_length, result.begin() + encapsulation.length);
  write(result.data(), encapsulation, parsed, flow_hash, ip_id);
  if (encapsulation.needs_udp6_checksum()) finish_udp6_checksum(result.data());
  return result;
}

Frame outer(const Frame& packet, const Encapsulation& encapsulation) {
  return Frame(packet.begin(), packet.begin() + encapsulation.length);
}

}  // namespace

TEST_CASE("IP in IP, all four pairs of families") {
  SECTION("4 in 4 copies DSCP, ECN and DF") {
    const auto e = make_ipip(source4, destination4, net::Family::ipv4);
    const auto packet = encapsulate(e, inner4);
    CHECK(outer(packet, e) == bytes({"45b9 003c beef 4000 4004 f70a", outer4}));
    CHECK(Frame(packet.begin() + 20, packet.end()) == bytes({ipv4_tcp, tcp_syn}));
    CHECK(e.outer_ethertype() == ethertype::ipv4);
  }
  SECTION("4 in 4 without DF may be fragmented on the way") {
    auto frame = inner4;
    frame[20] = 0;
    const auto e = make_ipip(source4, destination4, net::Family::ipv4);
    CHECK(outer(encapsulate(e, frame), e) == bytes({"45b9 003c beef 0000 4004 370b", outer4}));
  }
  SECTION("6 in 4 always has DF") {
    const auto e = make_ipip(source4, destination4, net::Family::ipv6);
    CHECK(outer(encapsulate(e, inner6), e) == bytes({"45b9 0050 beef 4000 4029 f6d1", outer4}));
  }
  SECTION("4 in 6 has a flow label") {
    const auto e = make_ipip(source6, destination6, net::Family::ipv4);
    CHECK(outer(encapsulate(e, inner4), e) == bytes({"6b9bcdef 0028 04 40", outer6}));
    CHECK(e.outer_ethertype() == ethertype::ipv6);
  }
  SECTION("6 in 6") {
    const auto e = make_ipip(source6, destination6, net::Family::ipv6);
    CHECK(outer(encapsulate(e, inner6), e) == bytes({"6b9bcdef 003c 29 40", outer6}));
  }
}

TEST_CASE("VXLAN over IPv4 has no UDP checksum") {
  const auto e4 = make_vxlan(source4, destination4, 4789, 0x123456, inner_macs, net::Family::ipv4);
  CHECK(outer(encapsulate(e4, inner4), e4) ==
        bytes({"45b9 005a beef 4000 4011 f6df", outer4, "e26a 12b5 0046 0000", "08000000 12345600",
               "027a6c620001 020000000001 0800"}));
  const auto e6 = make_vxlan(source4, destination4, 4789, 0x123456, inner_macs, net::Family::ipv6);
  CHECK(outer(encapsulate(e6, inner6), e6) ==
        bytes({"45b9 006e beef 4000 4011 f6cb", outer4, "e26a 12b5 005a 0000", "08000000 12345600",
               "027a6c620001 020000000001 86dd"}));
}

TEST_CASE("VXLAN over IPv6 has a UDP checksum") {
  const auto e = make_vxlan(source6, destination6, 4789, 0x123456, inner_macs, net::Family::ipv6);
  CHECK(e.needs_udp6_checksum());
  const auto packet = encapsulate(e, inner6);
  CHECK(outer(packet, e) == bytes({"6b9bcdef 005a 11 40", outer6, "e26a 12b5 005a 69dd", "08000000 12345600",
                                   "027a6c620001 020000000001 86dd"}));

  SECTION("of an odd number of bytes too") {
    auto frame = inner6;
    frame.push_back(0x80);
    frame[19] = 0x15;
    const auto odd = encapsulate(e, frame);
    const auto& outer_ip = header<Ipv6>(odd.data());
    const std::uint32_t length = outer_ip.payload_length.value();
    REQUIRE(length == odd.size() - 40);
    const auto sum =
        net::checksum_add(pseudo_header(outer_ip, length, ip_protocol::udp), std::span(odd).subspan(40));
    CHECK(net::checksum_fold(sum) == 0);
  }
  SECTION("that is never zero, which would mean none") {
    // A payload word that makes the sum all ones: the checksum would be zero.
    auto frame = inner6;
    frame[70] = frame[71] = 0;
    const auto without = encapsulate(e, frame);
    std::copy_n(without.begin() + 46, 2, frame.begin() + 70);
    CHECK(header<Udp>(encapsulate(e, frame).data() + 40).checksum.value() == 0xffff);
  }
}

TEST_CASE("the flow's hash spreads over the UDP ports 49152 to 65535") {
  const auto e = make_vxlan(source4, destination4, 4789, 1, inner_macs, net::Family::ipv4);
  const auto parsed = parse(inner4);
  Frame buffer(e.length);
  buffer.insert(buffer.end(), inner4.begin() + sizeof(Ethernet), inner4.end());
  for (const auto& [hash, port] : {std::pair{0U, 49152}, {0xffffffffU, 65535}, {1U << 18, 49153}}) {
    write(buffer.data(), e, parsed, hash, ip_id);
    CHECK(header<Udp>(buffer.data() + 20).source.value() == port);
  }
}

TEST_CASE("writing touches nothing beyond the outer headers") {
  for (const auto& e : {make_ipip(source4, destination4, net::Family::ipv4),
                        make_ipip(source6, destination6, net::Family::ipv4),
                        make_vxlan(source4, destination4, 4789, 1, inner_macs, net::Family::ipv4),
                        make_vxlan(source6, destination6, 4789, 1, inner_macs, net::Family::ipv4)}) {
    Frame buffer(16U + e.length, 0xaa);
    buffer.insert(buffer.end(), inner4.begin() + sizeof(Ethernet), inner4.end());
    write(buffer.data() + 16, e, parse(inner4), flow_hash, ip_id);
    CHECK(std::all_of(buffer.begin(), buffer.begin() + 16, [](auto byte) { return byte == 0xaa; }));
    CHECK(std::equal(buffer.begin() + 16 + e.length, buffer.end(), inner4.begin() + sizeof(Ethernet)));
  }
}

TEST_CASE("tunnels that cannot be are refused with words") {
  CHECK_THROWS_AS(make_ipip(source4, destination6, net::Family::ipv4), std::invalid_argument);
  CHECK_THROWS_AS(make_vxlan(source6, destination4, 4789, 1, inner_macs, net::Family::ipv4),
                  std::invalid_argument);
  CHECK_THROWS_AS(make_vxlan(source4, destination4, 4789, 1U << 24, inner_macs, net::Family::ipv4),
                  std::invalid_argument);
}

TEST_CASE("an Ethernet header in front of a packet, with a tag and without") {
  Frame room(24, 0xaa);
  const auto* untagged = write_ethernet(room.data() + 20, client_mac, own_mac, no_vlan, ethertype::ipv4);
  CHECK(untagged == room.data() + 6);
  CHECK(bytes(untagged, 14) == bytes({"020000000002 020000000001 0800"}));
  const auto* tagged = write_ethernet(room.data() + 20, client_mac, own_mac, 0x123, ethertype::ipv6);
  CHECK(bytes(tagged, 18) == bytes({"020000000002 020000000001 8100 0123 86dd"}));
  CHECK(room[1] == 0xaa);
  CHECK(room[20] == 0xaa);
  replace_macs(room.data() + 2, {own_mac, client_mac});
  CHECK(bytes(tagged, 18) == bytes({"020000000001 020000000002 8100 0123 86dd"}));
}
