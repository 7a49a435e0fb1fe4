#include <random>

#include "catch.hpp"
#include "frames.hpp"
#include "packet/arp.hpp"
#include "packet/encapsulation.hpp"
#include "packet/icmp.hpp"
#include "packet/nd.hpp"
#include "packet/plain_parser.hpp"

// Frames nobody would send on purpose. Each lies in an allocation of its own size, so that a sanitizer build
// sees any access beyond it.

using namespace zonelb;
using namespace zonelb::packet;
using namespace zonelb::packet::testing;

namespace {

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t limit) {
  return random() % limit;
}

const std::vector<Frame> seeds{
    bytes({macs, "0800", ipv4_tcp, tcp_syn}),
    bytes({macs, "8100 0064 0800", ipv4_tcp, tcp_syn}),
    bytes({macs, "0800 47000030 00000000 4006 0000", client4, vip4, "0101010101010100", tcp_syn}),
    bytes({macs, "0800 4500001f 0007 0000 0301 a382", client4, vip4, "0800 228a 1111 0002 616263"}),
    bytes({macs, "0800 452e001e12340000401154180a0100050a000050 9c400035000ae6a5 6869"}),
    bytes({macs, "86dd", ipv6_tcp, client6, vip6, tcp_syn}),
    bytes({macs, "86dd 60000000 000b 11 40", client6, vip6, "9c400035000b7e01 686921"}),
    bytes({macs, "0800", ipv4_udp, udp_question}),
    bytes({macs, "86dd", ipv6_udp, client6, vip6, udp_question}),
    bytes({macs, "86dd 60000000 000b 3a 09", client6, vip6, "8000 4e4c 1111 0002 616263"}),
    bytes({macs, "86dd 60000000 0024 00 09", client6, vip6, "2c00010400000000 0600000000000000", tcp_syn}),
    bytes({macs, "86dd 60000000 0020 3a ff", client6, "ff0200000000000000000001ff000080",
           "8700 1b26 00000000", vip6, "0101 020000000002"}),
    bytes(
        {"ffffffffffff 020000000002 0806 0001 0800 06 04 0001 020000000002 0a000005 000000000000 0a000050"}),
};

Frame mutated(Random& random) {
  auto frame = seeds[below(random, seeds.size())];
  for (auto left = below(random, 5); left > 0; --left) {
    frame[below(random, frame.size())] = static_cast<std::uint8_t>(random());
  }
  if (below(random, 3) == 0) frame.resize(below(random, frame.size() + 40));
  return frame;
}

Frame noise(Random& random) {
  Frame frame(below(random, 120));
  for (auto& byte : frame) byte = static_cast<std::uint8_t>(random());
  constexpr std::uint16_t types[]{0x0800, 0x86dd, 0x0806, 0x8100};
  if (frame.size() >= 14) header<Ethernet>(frame.data()).type = types[below(random, 4)];
  if (frame.size() >= 18) frame[14] = below(random, 2) == 0 ? 0x45 : 0x60;
  return frame;
}

void check_bounds(const Parsed& parsed, std::size_t length) {
  if (parsed.kind == Kind::dropped) {
    REQUIRE(parsed.reason < DropReason::count);
    return;
  }
  REQUIRE(std::size_t{parsed.l3_offset} + parsed.l3_length <= length);
  if (parsed.kind == Kind::arp) return;
  REQUIRE(parsed.l4_offset >= parsed.l3_offset + (is_ipv4(parsed.kind) ? sizeof(Ipv4) : sizeof(Ipv6)));
  REQUIRE(parsed.l4_offset <= parsed.l3_offset + parsed.l3_length);
}

/// A flow's packet in an allocation of its own, behind the room for outer headers of each form.
void encapsulate(const std::uint8_t* frame, const Parsed& parsed) {
  const auto inner = is_ipv4(parsed.kind) ? net::Family::ipv4 : net::Family::ipv6;
  for (const auto& [from, to] : {std::pair{"192.0.2.1", "192.0.2.9"}, {"2001:db8:f::1", "2001:db8:f::9"}}) {
    for (const auto& e : {make_ipip(ip(from), ip(to), inner),
                          make_vxlan(ip(from), ip(to), 4789, 1, {own_mac, client_mac}, inner)}) {
      const auto exact = std::make_unique<std::uint8_t[]>(std::size_t{e.length} + parsed.l3_length);
      std::copy_n(frame + parsed.l3_offset, parsed.l3_length, exact.get() + e.length);
      write(exact.get(), e, parsed, 1, 2);
      REQUIRE(std::equal(frame + parsed.l3_offset, frame + parsed.l3_offset + parsed.l3_length,
                         exact.get() + e.length));
      if (e.outer_ethertype() == ethertype::ipv4) REQUIRE(ipv4_checksum_is_good(header<Ipv4>(exact.get())));
    }
  }
}

/// Hands the frame to all that would get it in the pipeline.
void use(std::uint8_t* frame, const Parsed& parsed) {
  Frame room(max_icmp_error_frame);
  switch (parsed.kind) {
    case Kind::arp:
      if (read_arp({frame + parsed.l3_offset, parsed.l3_length}))
        answer_arp(frame, parsed.l3_offset, own_mac);
      return;
    case Kind::nd:
      if (const auto message = read_neighbour_message(frame, parsed); message && message->is_solicitation()) {
        write_advertisement(room.data(), own_mac, parsed.vlan, *message, client_mac);
      }
      return;
    case Kind::dropped:
      CHECK(!may_answer_with_error(frame, parsed));
      return;
    default:
      break;
  }
  if (may_answer_with_error(frame, parsed)) {
    const auto own = is_ipv4(parsed.kind) ? ip("10.0.0.2") : ip("2001:db8::2");
    write_too_big(room.data(), frame, parsed, own, own_mac, 1400);
  }
  if (parsed.kind == Kind::flow4 || parsed.kind == Kind::flow6) encapsulate(frame, parsed);
  if (parsed.kind == Kind::echo4 || parsed.kind == Kind::echo6) answer_echo(frame, parsed, own_mac);
}

bool same(const Parsed& a, const Parsed& b) {
  return a.key == b.key && a.l3_length == b.l3_length && a.l4_offset == b.l4_offset && a.vlan == b.vlan &&
         a.l3_offset == b.l3_offset && a.kind == b.kind && a.tcp_flags == b.tcp_flags;
}

/// The plain parser, asked for frames to this one's station, says what the full one does, or nothing.
void check_plain(const std::uint8_t* frame, std::uint32_t length, bool known_good, const Parsed& full) {
  net::Mac::Bytes station{};
  std::copy_n(frame, std::min<std::size_t>(length, station.size()), station.begin());
  const PlainParser plain{net::Mac(station)};
  Parsed parsed{};
  conntrack::FlowKey key{};
  const bool is4 = plain.parse4(frame, length, known_good, parsed, key);
  if (!is4 && !plain.parse6(frame, length, parsed)) return;
  REQUIRE(full.kind == (is4 ? Kind::flow4 : Kind::flow6));
  REQUIRE(same(parsed, full));
  REQUIRE((!is4 || key == full.key));
}

template <typename Make>
void try_frames(int count, unsigned seed, Make make) {
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    const Frame frame = make(random);
    const auto length = static_cast<std::uint32_t>(frame.size());
    const bool known_good = below(random, 2) == 0;
    const auto exact = std::make_unique<std::uint8_t[]>(length);
    std::copy(frame.begin(), frame.end(), exact.get());
    Parsed quick{};
    Parsed full{};
    parse(exact.get(), length, known_good, quick);
    parse_fully(exact.get(), length, known_good, full);
    REQUIRE(same(quick, full));
    REQUIRE((quick.kind != Kind::dropped || quick.reason == full.reason));
    check_bounds(quick, length);
    check_plain(exact.get(), length, known_good, full);
    if (length >= sizeof(Ethernet)) use(exact.get(), quick);
  }
}

}  // namespace

TEST_CASE(
    "mutated and truncated frames: the quick way agrees with the full one, nothing is read beyond the end") {
  try_frames(200'000, 1, mutated);
}

TEST_CASE("noise behind an Ethernet header") {
  try_frames(200'000, 2, noise);
}

TEST_CASE("every frame cut at every length") {
  for (const auto& seed : seeds) {
    for (std::size_t length = 0; length < seed.size(); ++length) {
      try_frames(1, 3, [&](Random&) {
        return Frame(seed.begin(), seed.begin() + static_cast<std::ptrdiff_t>(length));
      });
    }
  }
}
