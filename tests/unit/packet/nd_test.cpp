#include "packet/nd.hpp"

#include "catch.hpp"
#include "frames.hpp"

using namespace zonelb;
using namespace zonelb::packet;
using namespace zonelb::packet::testing;

namespace {

constexpr std::string_view peer = "20010db8000000000000000000000005";
constexpr std::string_view nobody = "00000000000000000000000000000000";
constexpr std::string_view vip_group = "ff0200000000000000000001ff000080";
constexpr std::string_view all_nodes = "ff020000000000000000000000000001";

const Frame solicitation = bytes({"3333ff000080 020000000002 86dd", "60000000 0020 3a ff", peer, vip_group,
                                  "8700 1b26 00000000", vip6, "0101 020000000002"});
const Frame advertisement = bytes({"020000000002 020000000001 86dd", "60000000 0020 3a ff", vip6, peer,
                                   "8800 8972 60000000", vip6, "0201 020000000001"});
/// Duplicate address detection: no source yet, no option.
const Frame dad = bytes(
    {"3333ff000080 020000000002 86dd", "60000000 0018 3a ff", nobody, vip_group, "8700 4bef 00000000", vip6});
const Frame to_all_nodes = bytes({"333300000001 020000000001 86dd", "60000000 0020 3a ff", vip6, all_nodes,
                                  "8800 f82c 20000000", vip6, "0201 020000000001"});

const NdSender we{own_mac, ip("2001:db8::80")};

std::optional<NeighbourMessage> read(const Frame& frame) {
  const auto parsed = parse(frame);
  REQUIRE(parsed.kind == Kind::nd);
  const auto exact = std::make_unique<std::uint8_t[]>(frame.size());
  std::copy(frame.begin(), frame.end(), exact.get());
  return read_neighbour_message(exact.get(), parsed);
}

/// The frame with payload length and checksum made right again.
Frame mended(Frame frame) {
  auto& ip_header = header<Ipv6>(frame.data() + 14);
  const auto length = static_cast<std::uint16_t>(frame.size() - 54);
  ip_header.payload_length = length;
  auto& icmp = header<Icmp>(frame.data() + 54);
  icmp.checksum = std::uint16_t{0};
  const auto sum = net::checksum_add(pseudo_header(ip_header, length, ip_protocol::icmpv6),
                                     std::span<const std::uint8_t>(frame).subspan(54));
  icmp.checksum = net::be16::from_raw(net::checksum_fold(sum));
  return frame;
}

/// The frame with one byte of IPv6 or ICMPv6 changed and the checksum right.
Frame changed(Frame frame, std::size_t at, std::uint8_t value) {
  frame[at] = value;
  return mended(std::move(frame));
}

Frame with_option(Frame frame, std::initializer_list<std::string_view> option) {
  const auto more = bytes(option);
  frame.insert(frame.end(), more.begin(), more.end());
  return mended(std::move(frame));
}

}  // namespace

TEST_CASE("a neighbour solicitation is read") {
  const auto message = read(solicitation);
  REQUIRE(message);
  CHECK(message->is_solicitation());
  CHECK(message->source == ip("2001:db8::5"));
  CHECK(message->destination == ip("ff02::1:ff00:80"));
  CHECK(message->target == ip("2001:db8::80"));
  CHECK(message->link_layer == client_mac);
}

TEST_CASE("a neighbour advertisement is read with its flags") {
  const auto message = read(advertisement);
  REQUIRE(message);
  CHECK(message->is_advertisement());
  CHECK(message->target == ip("2001:db8::80"));
  CHECK(message->link_layer == own_mac);
  CHECK(!message->router);
  CHECK(message->solicited);
  CHECK(message->overrides);
  const auto router = read(changed(advertisement, 58, 0x80));
  REQUIRE(router);
  CHECK(router->router);
  CHECK(!router->solicited);
  CHECK(!router->overrides);
}

TEST_CASE("solicitations that RFC 4861 7.1.1 calls invalid") {
  REQUIRE(mended(solicitation) == solicitation);
  SECTION("a router passed it on") {
    CHECK(!read(changed(solicitation, 21, 254)));
  }
  SECTION("code") {
    CHECK(!read(changed(solicitation, 55, 1)));
  }
  SECTION("checksum") {
    auto frame = solicitation;
    frame[85] ^= 1;
    CHECK(!read(frame));
  }
  SECTION("shorter than 24 bytes") {
    auto frame = dad;
    frame.pop_back();
    CHECK(!read(mended(frame)));
  }
  SECTION("multicast target") {
    CHECK(!read(changed(solicitation, 62, 0xff)));
  }
  SECTION("option of length zero, of whatever kind") {
    CHECK(!read(changed(solicitation, 79, 0)));
    CHECK(!read(with_option(solicitation, {"0e00 112233445566"})));
  }
  SECTION("option beyond the message") {
    CHECK(!read(changed(solicitation, 79, 2)));
  }
  SECTION("stray bytes after the options") {
    CHECK(!read(with_option(solicitation, {"0101"})));
  }
  SECTION("an option of another kind is skipped") {
    CHECK(read(with_option(solicitation, {"0e01 112233445566"})));
    CHECK(read(with_option(solicitation, {"0e02 1122334455667788990011223344"})));
  }
  SECTION("link-layer address of a group, of nobody, or of another length") {
    CHECK(!read(changed(solicitation, 80, 0x03)));
    CHECK(!read(with_option(dad, {"0101 000000000000"})));
    CHECK(!read(changed(with_option(solicitation, {"0000000000000000"}), 79, 2)));
  }
  SECTION("from nobody: only to the solicited-node group and without link-layer address") {
    CHECK(read(dad));
    CHECK(!read(changed(dad, 49, 0)));
    CHECK(!read(with_option(dad, {"0101 020000000002"})));
  }
}

TEST_CASE("advertisements that RFC 4861 7.1.2 calls invalid") {
  REQUIRE(mended(advertisement) == advertisement);
  SECTION("a router passed it on") {
    CHECK(!read(changed(advertisement, 21, 64)));
  }
  SECTION("code") {
    CHECK(!read(changed(advertisement, 55, 1)));
  }
  SECTION("multicast target") {
    CHECK(!read(changed(advertisement, 62, 0xff)));
  }
  SECTION("solicited, yet to all") {
    CHECK(read(to_all_nodes));
    CHECK(!read(changed(to_all_nodes, 58, 0x60)));
  }
  SECTION("option of length zero") {
    CHECK(!read(changed(advertisement, 79, 0)));
  }
  SECTION("from nobody") {
    auto frame = to_all_nodes;
    std::fill_n(frame.begin() + 22, 16, std::uint8_t{0});
    CHECK(!read(mended(frame)));
  }
}

TEST_CASE("router messages are known, not read") {
  const auto message =
      read(bytes({"333300000001 020000000009 86dd", "60000000 0010 3a ff", "fe800000000000000000000000000009",
                  all_nodes, "8600 7517 000807080000000000000000"}));
  REQUIRE(message);
  CHECK(!message->is_solicitation());
  CHECK(!message->is_advertisement());
}

TEST_CASE("solicitations are written to the group, or to who was there last") {
  Frame frame(max_nd_frame, 0xaa);
  const NdSender peer_sender{client_mac, ip("2001:db8::5")};
  SECTION("group") {
    frame.resize(write_solicitation(frame.data(), peer_sender, ip("2001:db8::80")));
    CHECK(frame == solicitation);
  }
  SECTION("unicast") {
    frame.resize(write_solicitation(frame.data(), peer_sender, ip("2001:db8::80"), own_mac));
    CHECK(frame == bytes({macs, "86dd 60000000 0020 3a ff", peer, vip6, "8700 eb71 00000000", vip6,
                          "0101 020000000002"}));
  }
}

TEST_CASE("solicitations are answered") {
  Frame frame(max_nd_frame, 0xaa);
  SECTION("to who asked") {
    frame.resize(write_advertisement(frame.data(), own_mac, no_vlan, read(solicitation).value(), client_mac));
    CHECK(frame == advertisement);
  }
  SECTION("to the frame's sender, when the question has no link-layer option") {
    auto question = read(solicitation).value();
    question.link_layer.reset();
    frame.resize(write_advertisement(frame.data(), own_mac, no_vlan, question, client_mac));
    CHECK(frame == advertisement);
  }
  SECTION("to all when the asker has no address") {
    frame.resize(write_advertisement(frame.data(), own_mac, no_vlan, read(dad).value(), client_mac));
    CHECK(frame == to_all_nodes);
  }
  SECTION("in a VLAN") {
    frame.resize(write_advertisement(frame.data(), own_mac, 100, read(solicitation).value(), client_mac));
    auto expected = advertisement;
    const auto tag = bytes({"8100 0064"});
    expected.insert(expected.begin() + 12, tag.begin(), tag.end());
    CHECK(frame == expected);
  }
}

TEST_CASE("an unsolicited advertisement goes to all nodes") {
  Frame frame(max_nd_frame, 0xaa);
  frame.resize(write_unsolicited_advertisement(frame.data(), we));
  CHECK(frame == to_all_nodes);
}

TEST_CASE("group addresses of an address") {
  CHECK(solicited_node_multicast(ip("2001:db8::abcd:1234:5678")) == ip("ff02::1:ff34:5678"));
  CHECK(multicast_mac(ip("ff02::1:ff34:5678")) == net::Mac({0x33, 0x33, 0xff, 0x34, 0x56, 0x78}));
}
