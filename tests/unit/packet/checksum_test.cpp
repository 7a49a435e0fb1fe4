#include "packet/checksum.hpp"

#include <random>

#include "catch.hpp"

using namespace zonelb;
using namespace zonelb::packet;

namespace {

std::span<const std::uint8_t> bytes_of(const Ipv4& ip) {
  return {reinterpret_cast<const std::uint8_t*>(&ip), sizeof ip};
}

/// RFC 1071, sixteen bits at a time.
bool sums_up(const Ipv4& ip) {
  std::uint32_t sum = 0;
  const auto bytes = bytes_of(ip);
  for (std::size_t i = 0; i < bytes.size(); i += 2)
    sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return sum == 0xffff;
}

}  // namespace

TEST_CASE("an IPv4 header's checksum is judged as by the plain sum, whatever the bytes") {
  std::mt19937_64 random(1);
  // Words of ones and zeros are where carries come around.
  const auto word = [&](unsigned kind) { return kind == 0 ? 0 : kind == 1 ? ~std::uint64_t{0} : random(); };
  unsigned good = 0, wrong = 0;
  for (unsigned i = 0; i < 300'000; ++i) {
    const std::uint64_t words[3] = {word(i % 3), word(i / 3 % 3), word(i / 9 % 3)};
    Ipv4 ip;
    std::memcpy(static_cast<void*>(&ip), words, sizeof ip);
    ip.version_length = Ipv4::version_without_options;
    if (i % 2 == 0) {
      ip.checksum = std::uint16_t{0};
      ip.checksum = internet_checksum(bytes_of(ip));
      if (i % 4 == 0) ip.checksum = static_cast<std::uint16_t>(ip.checksum.value() ^ (1U << random() % 16));
    }
    good += sums_up(ip) ? 1 : 0;
    wrong += sums_up(ip) != ipv4_checksum_is_good(ip) ? 1 : 0;
  }
  CHECK(good > 50'000);
  CHECK(wrong == 0);
}
