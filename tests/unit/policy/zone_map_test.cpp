#include "policy/zone_map.hpp"

#include <random>

#include "catch.hpp"

using namespace zonelb;
using namespace zonelb::policy;

namespace {

config::ClientNetwork network(const char* prefix, const char* zone) {
  config::ClientNetwork result;
  result.prefixes = {*net::Prefix::parse(prefix)};
  result.zone = zone;
  return result;
}

config::Config nested() {
  config::Config config;
  config.region = "eu";
  config.zones = {"a", "b", "c"};
  config.client_networks = {network("10.0.0.0/8", "a"),    network("10.1.0.0/16", "b"),
                            network("10.1.2.0/24", "c"),   network("10.1.255.0/24", "a"),
                            network("2001:db8::/32", "c"), network("255.255.255.255/32", "b")};
  config.client_networks.push_back({.prefixes = {*net::Prefix::parse("10.1.3.0/24")}, .region = "us"});
  config.client_networks.push_back({.prefixes = {*net::Prefix::parse("10.1.4.0/24")}, .gateway = "vpn"});
  config.client_networks.push_back({.prefixes = {*net::Prefix::parse("10.1.5.0/24")}, .published = true});
  return config;
}

std::string zone_of(const ZoneMap& map, const char* address) {
  const auto client = *net::IpAddress::parse(address);
  const auto found = map.find(client);
  if (client.is_v4()) CHECK(map.find4(client.as_v4()) == found);
  return map.name(found.zone);
}

}  // namespace

TEST_CASE("the most specific prefix decides") {
  const ZoneMap map(nested());
  CHECK(zone_of(map, "9.255.255.255").empty());
  CHECK(zone_of(map, "10.0.0.0") == "a");
  CHECK(zone_of(map, "10.1.0.0") == "b");
  CHECK(zone_of(map, "10.1.2.255") == "c");
  CHECK(zone_of(map, "10.1.255.1") == "a");
  CHECK(zone_of(map, "10.2.0.0") == "a");
  CHECK(zone_of(map, "11.0.0.0").empty());
  CHECK(zone_of(map, "255.255.255.255") == "b");
  CHECK(zone_of(map, "::1").empty());
  CHECK(zone_of(map, "2001:db8:ffff::1") == "c");
  CHECK(zone_of(map, "2001:db9::").empty());
}

TEST_CASE("other regions, gateways and published endpoints are not compatible") {
  const ZoneMap map(nested());
  CHECK(map.find(*net::IpAddress::parse("10.1.3.1")) == ClientClass{no_zone, true});
  CHECK(map.find(*net::IpAddress::parse("10.1.4.1")) == ClientClass{no_zone, false});
  CHECK(map.find(*net::IpAddress::parse("10.1.5.1")) == ClientClass{no_zone, false});
}

TEST_CASE("a map of random prefixes agrees with a search through all of them") {
  std::mt19937 random(42);
  config::Config config;
  for (int i = 0; i < 64; ++i) config.zones.push_back("zone" + std::to_string(100 + i));
  for (int i = 0; i < 300; ++i) {
    const unsigned length = 1 + random() % 32;
    const auto address = net::IpAddress::v4(static_cast<std::uint32_t>(random()) & 0x0fff00ffU);
    const net::Prefix prefix{net::fill_host_bits(address, length, false), length};
    const auto known = std::ranges::any_of(
        config.client_networks, [&](const auto& other) { return other.prefixes.front() == prefix; });
    if (known) continue;
    config.client_networks.push_back({.prefixes = {prefix}, .zone = config.zones[random() % 64]});
  }
  const ZoneMap map(config);
  for (int i = 0; i < 20000; ++i) {
    const auto client = net::IpAddress::v4(static_cast<std::uint32_t>(random()) & 0x0fff00ffU);
    const config::ClientNetwork* best = nullptr;
    for (const auto& other : config.client_networks)
      if (other.prefixes.front().contains(client) &&
          (best == nullptr || best->prefixes.front().length < other.prefixes.front().length))
        best = &other;
    REQUIRE(map.find4(client.as_v4()) == map.find(client));
    REQUIRE(map.name(map.find(client).zone) == (best == nullptr ? std::string() : best->zone));
  }
}

TEST_CASE("a map of everything, and of nothing, knows every IPv4 address") {
  config::Config config;
  config.zones = {"all"};
  CHECK(ZoneMap(config).find4(net::be32(0x0a000001U)) == ClientClass{});
  CHECK(ZoneMap().find4(net::be32(0x0a000001U)) == ClientClass{});
  config.client_networks.push_back({.prefixes = {*net::Prefix::parse("0.0.0.0/0")}, .zone = "all"});
  const ZoneMap map(config);
  for (const std::uint32_t number : {0U, 1U, 0x0a000001U, 0xffff0000U, 0xffffffffU})
    CHECK(map.find4(net::be32(number)) == ClientClass{*map.id("all"), false});
}
