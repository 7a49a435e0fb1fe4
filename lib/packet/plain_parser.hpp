#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE4_1__)
#include <smmintrin.h>
#endif

#include "packet/checksum.hpp"
#include "packet/headers.hpp"
#include "packet/parse.hpp"

namespace zonelb::packet {

/// parse() for what nearly all frames are: TCP or UDP to one MAC address, with neither tag, options nor
/// extension headers. The first 16 bytes of such a frame, save those of its source, are always the same; the
/// other tests are few, and all pass.
class PlainParser {
 public:
  /// For frames to `mac`.
  explicit PlainParser(const net::Mac& mac)
      : ipv4_(mac, ethertype::ipv4, Ipv4::version_without_options, 0xff),
        ipv6_(mac, ethertype::ipv6, 6 << 4, 0xf0) {}

  /// Reads a frame of `length` bytes with an IPv4 packet. False: it is not plain, and `out` may be half
  /// written. Of out.key.addresses only what IPv4 uses is written. `key` gets the same: a variable of the
  /// caller's own, which is at hand sooner than what has gone to memory.
  bool parse4(const std::uint8_t* frame, std::uint32_t length, bool ip_checksum_known_good, Parsed& out,
              conntrack::FlowKey& key) const {
    constexpr std::uint16_t l4 = sizeof(Ethernet) + sizeof(Ipv4);
    constexpr Shape shape{0, l4, no_vlan, sizeof(Ethernet), Kind::flow4};
    constexpr std::uint32_t shortest = std::uint32_t{l4} + std::uint32_t{sizeof(Tcp)};
    if (length < shortest || !ipv4_.begins(frame)) return false;
    const auto& ip = header<Ipv4>(frame + sizeof(Ethernet));
    const std::uint32_t total = ip.total_length.value();
    if (is_unusual(ip, total, length) || !(ip_checksum_known_good || ipv4_checksum_is_good(ip))) return false;
    std::memcpy(key.addresses.data(), &ip.source, 2 * sizeof(ip.source));
    out.key.addresses[0] = key.addresses[0];
    out.set_shape(shape, static_cast<std::uint16_t>(total));
    const bool sound = detail::parse_ports(frame + l4, total - std::uint32_t{sizeof(Ipv4)}, ip.protocol,
                                           key.ports_protocol, out.tcp_flags);
    out.key.ports_protocol = key.ports_protocol;
    return sound;
  }

  /// The same for IPv6.
  bool parse6(const std::uint8_t* frame, std::uint32_t length, Parsed& out) const {
    constexpr std::uint16_t l4 = sizeof(Ethernet) + sizeof(Ipv6);
    constexpr Shape shape{0, l4, no_vlan, sizeof(Ethernet), Kind::flow6};
    constexpr std::uint32_t least = sizeof(Tcp);
    if (length < l4 + least || !ipv6_.begins(frame)) return false;
    const auto& ip = header<Ipv6>(frame + sizeof(Ethernet));
    const std::uint32_t payload = ip.payload_length.value();
    const bool odd_source = ip.source[0] == 0 || ip.source[0] == 0xff;
    if (payload - least > length - l4 - least || odd_source) return false;
    detail::copy_addresses(ip, out.key);
    out.set_shape(shape, static_cast<std::uint16_t>(sizeof(Ipv6) + payload));
    return detail::parse_ports(frame + l4, payload, ip.next_header, out.key.ports_protocol, out.tcp_flags);
  }

 private:
  /// What the first 16 bytes must be, where it matters.
  class Beginning {
   public:
    Beginning(const net::Mac& mac, net::be16 type, std::uint8_t version, std::uint8_t version_mask)
        : bytes_(words({mac, {}, type}, version)),
          mask_(words({net::Mac::broadcast(), {}, net::be16::from_raw(0xffff)}, version_mask)) {}

    [[nodiscard]] bool begins(const std::uint8_t* frame) const {
#if defined(__SSE4_1__)
      const auto load = [](const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); };
      return _mm_testz_si128(_mm_xor_si128(load(frame), load(&bytes_)), load(&mask_)) != 0;
#else
      Words start;
      std::memcpy(start.data(), frame, sizeof start);
      return (((start[0] ^ bytes_[0]) & mask_[0]) | ((start[1] ^ bytes_[1]) & mask_[1])) == 0;
#endif
    }

   private:
    using Words = std::array<std::uint64_t, 2>;

    static Words words(const Ethernet& ethernet, std::uint8_t version) {
      std::array<std::uint8_t, sizeof(Words)> bytes{};
      std::memcpy(bytes.data(), &ethernet, sizeof ethernet);
      bytes[sizeof ethernet] = version;
      return std::bit_cast<Words>(bytes);
    }

    Words bytes_;
    Words mask_;
  };

  /// A fragment, a length that does not fit, or a source that may be an impossible one.
  static bool is_unusual(const Ipv4& ip, std::uint32_t total, std::uint32_t length) {
    constexpr net::be16 fragmented = std::uint16_t{Ipv4::more_fragments | Ipv4::fragment_offset};
    constexpr std::uint32_t least = sizeof(Ipv4) + sizeof(Tcp);
    constexpr std::uint32_t in_front = sizeof(Ethernet);
    std::uint8_t network = 0;
    std::memcpy(&network, &ip.source, sizeof network);
    return ((std::uint32_t{ip.fragment.raw()} & fragmented.raw()) | std::uint32_t{odd_network[network]} |
            static_cast<std::uint32_t>(total - least > length - in_front - least)) != 0;
  }

  /// First bytes of addresses that may not be a source's, each by itself: "this network", loopback, multicast
  /// and beyond.
  static constexpr auto odd_network = [] {
    std::array<bool, 256> odd{};
    odd[0] = odd[127] = true;
    for (unsigned network = 224; network < odd.size(); ++network) odd[network] = true;
    return odd;
  }();

  Beginning ipv4_;
  Beginning ipv6_;
};

}  // namespace zonelb::packet
