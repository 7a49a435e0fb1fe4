#include "packet/icmp.hpp"

#include "catch.hpp"
#include "frames.hpp"

using namespace zonelb;
using namespace zonelb::packet;
using namespace zonelb::packet::testing;

namespace {

const Frame ping4 =
    bytes({macs, "0800 4500001f 0007 0000 0301 a382", client4, vip4, "0800 228a 1111 0002 616263"});
const Frame ping6 = bytes({macs, "86dd 60000000 000b 3a 09", client6, vip6, "8000 4e4c 1111 0002 616263"});

std::optional<DropReason> answer(Frame& frame) {
  return answer_echo(frame.data(), parse(frame, false), own_mac);
}

/// A TCP packet of `total` bytes of IP.
Frame big4(std::uint16_t total) {
  auto frame = bytes({macs, "0800 45b90028 1234 4000 4006 138e", client4, vip4, tcp_syn});
  header<Ipv4>(frame.data() + 14).total_length = total;
  frame.resize(14 + std::size_t{total}, 0x5a);
  return frame;
}

Frame big6(std::uint16_t total) {
  auto frame = bytes({macs, "86dd", ipv6_tcp, client6, vip6, tcp_syn});
  header<Ipv6>(frame.data() + 14).payload_length = static_cast<std::uint16_t>(total - 40);
  frame.resize(14 + std::size_t{total}, 0x5a);
  return frame;
}

Frame too_big(const Frame& offending, const net::IpAddress& own, std::uint16_t mtu) {
  Frame frame(max_icmp_error_frame, 0xaa);
  frame.resize(write_too_big(frame.data(), offending.data(), parse(offending), own, own_mac, mtu));
  return frame;
}

bool may_answer(const Frame& frame) {
  return may_answer_with_error(frame.data(), parse(frame));
}

}  // namespace

TEST_CASE("RFC 1624's example of an incremental checksum") {
  CHECK(replace_in_checksum(std::uint16_t{0xdd2f}, std::uint16_t{0x5555}, std::uint16_t{0x3285}).value() ==
        0);
}

TEST_CASE("an echo request over IPv4 becomes its reply") {
  auto frame = ping4;
  REQUIRE(parse(frame, false).kind == Kind::echo4);
  CHECK(!answer(frame));
  CHECK(frame == bytes({"020000000002 020000000001 0800", "4500001f 0007 0000 4001 6682", vip4, client4,
                        "0000 2a8a 1111 0002 616263"}));
}

TEST_CASE("IPv4 options of an echo request are blanked in the reply") {
  auto frame = bytes({macs, "0800 47000027 0007 0000 0301 9673", client4, vip4, "0707040000000000",
                      "0800 228a 1111 0002 616263"});
  CHECK(!answer(frame));
  CHECK(parse(frame, false).kind == Kind::other4);
  CHECK(bytes(frame.data() + 14, 28) ==
        bytes({"47000027 0007 0000 4001 647a", vip4, client4, "0000000000000000"}));
}

TEST_CASE("an echo request over IPv6 becomes its reply, in its VLAN and with its padding") {
  auto frame = ping6;
  auto expected = bytes(
      {"020000000002 020000000001 86dd", "60000000 000b 3a 40", vip6, client6, "8100 4d4c 1111 0002 616263"});
  const auto tag = bytes({"8100 0064"});
  for (auto* f : {&frame, &expected}) {
    f->insert(f->begin() + 12, tag.begin(), tag.end());
    f->resize(80, 0x77);
  }
  CHECK(!answer(frame));
  CHECK(frame == expected);
}

TEST_CASE("an echo request with a wrong checksum is not answered") {
  for (const auto& ping : {ping4, ping6}) {
    auto frame = ping;
    frame[40] ^= 1;
    const auto before = frame;
    CHECK(answer(frame) == DropReason::bad_icmp_checksum);
    CHECK(frame == before);
  }
}

TEST_CASE("every checksum an echo request can have leads to a right reply") {
  std::uint32_t wrong = 0;
  for (std::uint32_t id = 0; id <= 0xffff; ++id) {
    auto frame = ping4;
    auto& icmp = header<Icmp>(frame.data() + 34);
    icmp.rest = id << 16;
    icmp.checksum = std::uint16_t{0};
    const std::span<const std::uint8_t> message(frame.data() + 34, 11);
    icmp.checksum = net::be16::from_raw(net::checksum_fold(net::checksum_add(0, message)));
    const bool answered = !answer(frame);
    const bool right = net::checksum_fold(net::checksum_add(0, message)) == 0;
    if (!answered || !right) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("fragmentation needed quotes up to 576 bytes and names the MTU") {
  const auto offending = big4(1600);
  const auto frame = too_big(offending, ip("10.0.0.2"), 1480);
  REQUIRE(frame.size() == 14 + 576);
  CHECK(bytes(frame.data(), 14) == bytes({"020000000002 020000000001 0800"}));
  // 45c0 + 0240 + 4000 + 4001 + 0a00 + 0002 + 0a01 + 0005 = dc09
  CHECK(bytes(frame.data() + 14, 20) == bytes({"45c0 0240 0000 4000 4001 23f6 0a000002", client4}));
  CHECK(bytes(frame.data() + 34, 2) == bytes({"0304"}));
  CHECK(bytes(frame.data() + 38, 4) == bytes({"0000 05c8"}));
  CHECK(std::equal(frame.begin() + 42, frame.end(), offending.begin() + 14));
  CHECK(net::checksum_fold(net::checksum_add(0, std::span(frame).subspan(34))) == 0);
}

TEST_CASE("a small packet is quoted whole, without its padding") {
  auto offending = big4(40);
  offending.resize(60);
  const auto frame = too_big(offending, ip("10.0.0.2"), 39);
  CHECK(frame.size() == 14 + 20 + 8 + 40);
  CHECK(parse(frame, false).kind == Kind::other4);
}

TEST_CASE("packet too big quotes up to 1280 bytes and names the MTU") {
  const auto offending = big6(1501);
  const auto frame = too_big(offending, ip("2001:db8::2"), 1460);
  REQUIRE(frame.size() == 14 + 1280);
  CHECK(bytes(frame.data(), 14) == bytes({"020000000002 020000000001 86dd"}));
  CHECK(bytes(frame.data() + 14, 40) ==
        bytes({"60000000 04d8 3a 40 20010db8000000000000000000000002", client6}));
  CHECK(bytes(frame.data() + 54, 2) == bytes({"0200"}));
  CHECK(bytes(frame.data() + 58, 4) == bytes({"000005b4"}));
  CHECK(std::equal(frame.begin() + 62, frame.end(), offending.begin() + 14));
  const auto sum =
      net::checksum_add(pseudo_header(header<Ipv6>(frame.data() + 14), 1240, ip_protocol::icmpv6),
                        std::span(frame).subspan(54));
  CHECK(net::checksum_fold(sum) == 0);
}

TEST_CASE("an error goes back through the VLAN the packet came from") {
  auto offending = big4(100);
  const auto tag = bytes({"8100 0064"});
  offending.insert(offending.begin() + 12, tag.begin(), tag.end());
  const auto frame = too_big(offending, ip("10.0.0.2"), 99);
  CHECK(bytes(frame.data(), 18) == bytes({"020000000002 020000000001 8100 0064 0800"}));
  CHECK(parse(frame, false).kind == Kind::other4);
  CHECK(frame.size() == 18 + 28 + 100);
}

TEST_CASE("whom an ICMP error may be sent to") {
  CHECK(may_answer(big4(40)));
  CHECK(may_answer(big6(60)));
  CHECK(may_answer(ping4));
  CHECK(may_answer(ping6));
  SECTION("nobody, when many heard the packet") {
    auto frame = big4(40);
    frame[0] = 0x03;
    CHECK(!may_answer(frame));
    frame = big4(40);
    frame[30] = 0xe0;
    CHECK(!may_answer(frame));
    std::fill_n(frame.begin() + 30, 4, std::uint8_t{0xff});
    CHECK(!may_answer(frame));
    frame = big6(60);
    frame[38] = 0xff;
    CHECK(!may_answer(frame));
  }
  SECTION("nobody, about an error") {
    for (const auto type : std::initializer_list<std::uint8_t>{3, 4, 5, 11, 12}) {
      auto frame = ping4;
      frame[34] = type;
      CHECK(!may_answer(frame));
    }
    for (const auto type : std::initializer_list<std::uint8_t>{1, 2, 3, 4, 127}) {
      auto frame = ping6;
      frame[54] = type;
      CHECK(!may_answer(frame));
    }
    auto redirect = ping6;
    redirect[54] = 137;
    CHECK(!may_answer(redirect));
  }
  SECTION("nobody, about a fragment or what is no packet") {
    auto frame = big4(40);
    frame[21] = 1;
    CHECK(!may_answer(frame));
    frame = big4(40);
    frame[14] = 0x44;
    CHECK(!may_answer(frame));
  }
  SECTION("nobody, at an impossible address") {
    auto frame = big4(40);
    frame[26] = 127;
    CHECK(!may_answer(frame));
  }
  SECTION("about another protocol, and about an ICMP reply: yes") {
    auto frame = ping4;
    frame[34] = 0;
    CHECK(may_answer(frame));
    frame[23] = 47;
    frame[34] = 3;
    CHECK(may_answer(frame));
  }
}
