#include "dataplane/address_table.hpp"

#include <set>

#include "catch.hpp"

using namespace zonelb;
using namespace zonelb::dataplane;

namespace {

net::IpAddress address(const char* text) {
  return *net::IpAddress::parse(text);
}

const AddressTable::Item web{address("10.0.0.80"),
                             {{0, 0xffff, 6, 1}, {80, 80, 6, 2}, {8000, 8100, 6, 3}, {53, 53, 17, 4}}};

}  // namespace

TEST_CASE("named ports win over all ports, protocols are apart") {
  const AddressTable table(std::vector<AddressTable::Item>{web});
  const auto* local = table.find(AddressTable::words(address("10.0.0.80")));
  REQUIRE(local != nullptr);
  CHECK(table.rule(*local, 6, 80) == 2);
  CHECK(table.rule(*local, 6, 8000) == 3);
  CHECK(table.rule(*local, 6, 8100) == 3);
  CHECK(table.rule(*local, 6, 8101) == 1);
  CHECK(table.rule(*local, 17, 53) == 4);
  CHECK(table.rule(*local, 17, 80) == AddressTable::no_rule);
}

TEST_CASE("only our addresses are found, among many of either family") {
  std::vector<AddressTable::Item> v4, v6;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    v4.push_back({net::IpAddress::v4(0x0a000000U + i * 256), {{0, 0xffff, 6, i}}});
    net::IpAddress::Bytes bytes{0x20, 0x01, 0x0d, 0xb8};
    bytes[14] = static_cast<std::uint8_t>(i >> 8);
    bytes[15] = static_cast<std::uint8_t>(i);
    v6.push_back({net::IpAddress::v6(bytes), {{0, 0xffff, 6, i}}});
  }
  for (const auto& items : {v4, v6}) {
    const AddressTable table(items);
    for (std::uint32_t i = 0; i < items.size(); ++i) {
      const auto* local = table.find(AddressTable::words(items[i].address));
      REQUIRE(local != nullptr);
      CHECK(table.rule(*local, 6, 1) == i);
    }
    CHECK(table.find(AddressTable::words(address("10.0.0.1"))) == nullptr);
    CHECK(table.find(AddressTable::words(address("2001:db9::"))) == nullptr);
    CHECK(table.find(AddressTable::words(address("0.0.0.0"))) == nullptr);
  }
}

TEST_CASE("addresses that differ in one place do not crowd in the table, wherever it is") {
  for (unsigned place = 0; place < 15; ++place) {
    std::vector<AddressTable::Item> items;
    for (unsigned i = 0; i < 1000; ++i) {
      net::IpAddress::Bytes bytes{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
      bytes[place] = static_cast<std::uint8_t>(i >> 8);
      bytes[place + 1] = static_cast<std::uint8_t>(i);
      items.push_back({net::IpAddress::v6(bytes), {{0, 0xffff, 6, i}}});
    }
    const AddressTable table(items);
    std::set<const LocalAddress*> slots;
    for (const auto& item : items) slots.insert(table.find(AddressTable::words(item.address)));
    REQUIRE(slots.size() == items.size());
    std::size_t behind_others = 0;
    for (const LocalAddress* slot : slots) behind_others += slots.count(slot - 1);
    CHECK(behind_others < 300);
  }
}

TEST_CASE("an own address without rules is ours, but no VIP") {
  const AddressTable table(std::vector<AddressTable::Item>{web, {address("10.0.0.2"), {}}});
  const auto* own = table.find(AddressTable::words(address("10.0.0.2")));
  REQUIRE(own != nullptr);
  CHECK_FALSE(own->is_vip());
  CHECK(table.rule(*own, 6, 80) == AddressTable::no_rule);
}

TEST_CASE(
    "a packet's destination and port find what its address does, whether a port is alone or in a range") {
  const AddressTable table(std::vector<AddressTable::Item>{
      web, {address("10.0.0.81"), {{9000, 9001, 6, 7}}}, {address("10.0.0.2"), {}}});
  const auto rule = [&](std::array<std::uint8_t, 4> destination, std::uint8_t protocol, std::uint16_t port) {
    conntrack::FlowKey key{};
    std::memcpy(reinterpret_cast<std::uint8_t*>(&key.addresses[0]) + 4, destination.data(), 4);
    key.ports_protocol = 1234 | std::uint64_t{net::be16(port).raw()} << 16 | std::uint64_t{protocol} << 32;
    const auto* local = table.find4(key);
    return local == nullptr ? 99 : table.rule(*local, key);
  };
  CHECK(rule({10, 0, 0, 80}, 6, 80) == 2);
  CHECK(rule({10, 0, 0, 80}, 17, 80) == AddressTable::no_rule);
  CHECK(rule({10, 0, 0, 80}, 17, 53) == 4);
  CHECK(rule({10, 0, 0, 80}, 6, 8050) == 3);
  CHECK(rule({10, 0, 0, 80}, 6, 81) == 1);
  CHECK(rule({10, 0, 0, 81}, 6, 9001) == 7);
  CHECK(rule({10, 0, 0, 81}, 6, 9002) == AddressTable::no_rule);
  CHECK(rule({10, 0, 0, 2}, 6, 80) == AddressTable::no_rule);
  CHECK(rule({10, 0, 0, 3}, 6, 80) == 99);
  CHECK(rule({255, 255, 255, 255}, 6, 80) == 99);
  CHECK(rule({0, 0, 0, 0}, 6, 80) == 99);
}

TEST_CASE("an IPv6 packet's destination") {
  const AddressTable table(std::vector<AddressTable::Item>{{address("2001:db8::80"), {{80, 80, 6, 5}}}});
  conntrack::FlowKey key{};
  std::memcpy(&key.addresses[2], address("2001:db8::80").bytes().data(), 16);
  REQUIRE(table.find6(key) != nullptr);
  key.addresses[2] = key.addresses[3] = ~0ULL;
  CHECK(table.find6(key) == nullptr);
}
