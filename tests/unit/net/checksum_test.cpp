#include "net/checksum.hpp"

#include <array>
#include <vector>

#include "catch.hpp"
#include "net/endian.hpp"

using namespace zonelb::net;

TEST_CASE("the checksum of RFC 1071's example") {
  const std::array<std::uint8_t, 8> bytes{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  const auto stored = be16::from_raw(checksum_fold(checksum_add(0, bytes)));
  CHECK(stored.value() == static_cast<std::uint16_t>(~0xddf2));
}

TEST_CASE("a message with its checksum in place sums to zero, whatever its length") {
  for (std::size_t size = 2; size < 70; ++size) {
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 2; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 + 11);
    const auto sum = checksum_fold(checksum_add(0, bytes));
    std::memcpy(bytes.data(), &sum, 2);
    CHECK(checksum_fold(checksum_add(0, bytes)) == 0);
  }
}

TEST_CASE("a sum of 32 bits folds to what any sum does") {
  for (const std::uint32_t high : {0U, 1U, 0x7fffU, 0x8000U, 0xfffeU, 0xffffU})
    for (const std::uint32_t low : {0U, 1U, 0x7fffU, 0x8000U, 0xfffeU, 0xffffU})
      CHECK(checksum_fold32(high << 16 | low) == checksum_fold(high << 16 | low));
}

TEST_CASE("a big-endian number lies in memory most significant byte first") {
  const be32 number = 0x01020304U;
  std::array<std::uint8_t, 4> bytes{};
  std::memcpy(bytes.data(), &number, 4);
  CHECK(bytes == std::array<std::uint8_t, 4>{1, 2, 3, 4});
  CHECK(number.value() == 0x01020304U);
  CHECK(be16(1) < be16(256));
}
