#include <string>

#include "catch.hpp"
#include "frames.hpp"

using namespace zonelb;
using namespace zonelb::packet;
using namespace zonelb::packet::testing;

namespace {

/// An IPv6 packet with `extensions` (hex) between its header and `upper`.
Frame with_extensions(std::string_view next, const std::string& extensions,
                      std::string_view upper = tcp_syn) {
  auto frame = bytes({macs, "86dd 6b912345 0000", next, "40", client6, vip6, extensions, upper});
  const auto payload = frame.size() - 54;
  frame[18] = static_cast<std::uint8_t>(payload >> 8);
  frame[19] = static_cast<std::uint8_t>(payload);
  return frame;
}

std::string repeat(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

const std::string options_then_tcp = "06 00 0104 00000000";
const std::string options_then_options = "3c 00 0104 00000000";

}  // namespace

TEST_CASE("the ports behind extension headers are found") {
  const auto plain = parse(bytes({macs, "86dd", ipv6_tcp, client6, vip6, tcp_syn}));
  const auto same_flow = [&](const Frame& frame, std::uint16_t l4_offset) {
    const auto parsed = parse(frame);
    CHECK(parsed.kind == Kind::flow6);
    CHECK(parsed.key == plain.key);
    CHECK(parsed.l4_offset == l4_offset);
    CHECK(parsed.l3_length == frame.size() - 14);
  };
  SECTION("hop by hop") {
    same_flow(with_extensions("00", options_then_tcp), 62);
  }
  SECTION("destination options") {
    same_flow(with_extensions("3c", options_then_tcp), 62);
  }
  SECTION("routing header without segments left") {
    same_flow(with_extensions("2b", "06 00 02 00 00000000"), 62);
  }
  SECTION("a header of 24 bytes") {
    same_flow(with_extensions("00", "06 02 0114" + repeat("00", 20)), 78);
  }
  SECTION("an atomic fragment is a whole packet") {
    same_flow(with_extensions("2c", "06 00 0000 12345678"), 62);
  }
  SECTION("reserved bits of a fragment header mean nothing") {
    same_flow(with_extensions("2c", "06 ff 0006 12345678"), 62);
  }
  SECTION("eight of them") {
    same_flow(with_extensions("3c", repeat(options_then_options, 7) + options_then_tcp), 54 + 64);
  }
  SECTION("256 bytes of them") {
    same_flow(with_extensions("00", "06 1f" + repeat("00", 254)), 54 + 256);
  }
}

TEST_CASE("extension headers beyond the bounds") {
  const auto dropped = DropReason::extension_headers;
  CHECK(reason(with_extensions("3c", repeat(options_then_options, 8) + options_then_tcp)) == dropped);
  CHECK(reason(with_extensions("00", "06 20" + repeat("00", 262))) == dropped);
  SECTION("with segments left the packet is on its way to somewhere else") {
    CHECK(reason(with_extensions("2b", "06 00 00 01 00000000")) == dropped);
  }
  SECTION("one that runs over the packet's end") {
    CHECK(reason(with_extensions("00", "06 04 0104 00000000", tcp_syn)) == dropped);
    CHECK(reason(with_extensions("00", "06 00 01", "")) == dropped);
    CHECK(reason(with_extensions("00", "", "")) == dropped);
  }
}

TEST_CASE("IPv6 fragments are dropped by name, with the addresses known") {
  CHECK(reason(with_extensions("2c", "06 00 0001 12345678")) == DropReason::fragment);
  CHECK(reason(with_extensions("2c", "06 00 0008 12345678")) == DropReason::fragment);
  CHECK(reason(with_extensions("00", "2c 00 0104 00000000 06 00 fff8 12345678")) == DropReason::fragment);
  CHECK(parse(with_extensions("2c", "06 00 0001 12345678")).key.addresses ==
        parse(bytes({macs, "86dd", ipv6_tcp, client6, vip6, tcp_syn})).key.addresses);
}

TEST_CASE("neighbour discovery is never fragmented, and may lack a source") {
  CHECK(reason(with_extensions("2c", "3a 00 0000 12345678", "8700000000000000")) == DropReason::bad_nd);
  auto frame = with_extensions("3a", "", "8700000000000000");
  std::fill_n(frame.begin() + 22, 16, std::uint8_t{0});
  CHECK(parse(frame).kind == Kind::nd);
  frame[37] = 1;
  CHECK(reason(frame) == DropReason::bad_source);
}
