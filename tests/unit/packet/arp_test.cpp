#include "packet/arp.hpp"

#include "catch.hpp"
#include "frames.hpp"

using namespace zonelb;
using namespace zonelb::packet;
using namespace zonelb::packet::testing;

namespace {

const auto own_address = ip("10.0.0.80").as_v4();
const auto peer_address = ip("10.0.0.5").as_v4();
const ArpSender we{own_mac, own_address};

const Frame request = bytes(
    {"ffffffffffff 020000000002 0806", "0001 0800 06 04 0001 020000000002 0a000005 000000000000 0a000050"});
const Frame reply = bytes(
    {"020000000002 020000000001 0806", "0001 0800 06 04 0002 020000000001 0a000050 020000000002 0a000005"});

std::optional<ArpMessage> read(const Frame& frame) {
  const Frame exact(frame.begin() + 14, frame.end());
  return read_arp(exact);
}

}  // namespace

TEST_CASE("an ARP request is read and answered in place") {
  const auto message = read(request);
  REQUIRE(message);
  CHECK(message->request);
  CHECK(message->sender_mac == client_mac);
  CHECK(message->sender_address == peer_address);
  CHECK(message->target_address == own_address);

  auto frame = request;
  answer_arp(frame.data(), 14, own_mac);
  CHECK(frame == reply);

  SECTION("in its VLAN, with its padding") {
    auto tagged = request;
    const auto tag = bytes({"8100 0064"});
    tagged.insert(tagged.begin() + 12, tag.begin(), tag.end());
    tagged.resize(64);
    auto expected = reply;
    expected.insert(expected.begin() + 12, tag.begin(), tag.end());
    expected.resize(64);
    answer_arp(tagged.data(), 18, own_mac);
    CHECK(tagged == expected);
  }
}

TEST_CASE("an ARP reply is read") {
  const auto message = read(reply);
  REQUIRE(message);
  CHECK(!message->request);
  CHECK(message->sender_mac == own_mac);
  CHECK(message->sender_address == own_address);
}

TEST_CASE("what is no ARP for IPv4 over Ethernet, or comes from nobody, is not read") {
  auto frame = request;
  const auto arp = frame.begin() + 14;
  SECTION("cut by one byte") {
    frame.pop_back();
    CHECK(!read(frame));
  }
  SECTION("hardware type") {
    arp[1] = 6;
    CHECK(!read(frame));
  }
  SECTION("protocol type") {
    arp[2] = 0x86;
    CHECK(!read(frame));
  }
  SECTION("hardware length") {
    arp[4] = 8;
    CHECK(!read(frame));
  }
  SECTION("protocol length") {
    arp[5] = 16;
    CHECK(!read(frame));
  }
  SECTION("operation 0") {
    arp[7] = 0;
    CHECK(!read(frame));
  }
  SECTION("reverse ARP") {
    arp[7] = 3;
    CHECK(!read(frame));
  }
  SECTION("group MAC") {
    arp[8] = 0x03;
    CHECK(!read(frame));
  }
  SECTION("no MAC") {
    arp[8] = arp[13] = 0;
    CHECK(!read(frame));
  }
  SECTION("multicast address") {
    arp[14] = 0xe0;
    CHECK(!read(frame));
  }
  SECTION("loopback address") {
    arp[14] = 0x7f;
    CHECK(!read(frame));
  }
  SECTION("unspecified address: only a probe has it") {
    arp[14] = arp[17] = 0;
    CHECK(read(frame));
    arp[7] = 2;
    CHECK(!read(frame));
  }
}

TEST_CASE("requests and announcements") {
  Frame frame(max_arp_frame, 0xaa);
  SECTION("to everybody") {
    frame.resize(write_arp_request(frame.data(), we, peer_address));
    CHECK(frame == bytes({"ffffffffffff 020000000001 0806",
                          "0001 0800 06 04 0001 020000000001 0a000050 000000000000 0a000005"}));
  }
  SECTION("to the one who had it") {
    frame.resize(write_arp_request(frame.data(), we, peer_address, client_mac));
    CHECK(frame == bytes({"020000000002 020000000001 0806",
                          "0001 0800 06 04 0001 020000000001 0a000050 000000000000 0a000005"}));
  }
  SECTION("announcement in a VLAN") {
    frame.resize(write_arp_announcement(frame.data(), {own_mac, own_address, 100}));
    CHECK(frame == bytes({"ffffffffffff 020000000001 8100 0064 0806",
                          "0001 0800 06 04 0001 020000000001 0a000050 000000000000 0a000050"}));
  }
}
