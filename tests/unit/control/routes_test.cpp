#include "control/routes.hpp"

#include "catch.hpp"

using namespace zonelb;
using namespace zonelb::control;

namespace {

config::Port port(const char* name, const char* address, const char* gateway = nullptr) {
  const auto parsed = *net::Prefix::parse_interface(address);
  config::Port result;
  result.name = name;
  auto& interface = parsed.first.is_v4() ? result.v4 : result.v6;
  interface = config::InterfaceAddress{parsed.first, parsed.second, std::nullopt};
  if (gateway != nullptr) interface->gateway = net::IpAddress::parse(gateway);
  return result;
}

config::Backend backend(const char* address, const char* mac = nullptr) {
  config::Backend result;
  result.address = *net::IpAddress::parse(address);
  if (mac != nullptr) result.mac = net::Mac::parse(mac);
  return result;
}

const std::vector<config::Port> two{port("clients", "10.0.0.2/24", "10.0.0.1"),
                                    port("backends", "10.1.0.2/16")};

}  // namespace

TEST_CASE("a backend on a port's network is its own next hop") {
  const auto route = route_to(backend("10.1.0.11"), two);
  REQUIRE(route);
  CHECK(route->port == 1);
  CHECK(route->neighbour == dataplane::NeighbourKey{1, *net::IpAddress::parse("10.1.0.11")});
}

TEST_CASE("another one is reached by the gateway") {
  const auto route = route_to(backend("10.9.0.11"), two);
  REQUIRE(route);
  CHECK(route->port == 0);
  CHECK(route->neighbour->address == *net::IpAddress::parse("10.0.0.1"));
}

TEST_CASE("mac= needs no neighbour, and no network") {
  const auto near = route_to(backend("10.0.0.11", "02:00:00:00:00:01"), two);
  CHECK((near->port == 0 && !near->neighbour && near->mac));
  const auto far = route_to(backend("192.0.2.1", "02:00:00:00:00:01"), two);
  CHECK((far->port == 1 && !far->neighbour && far->mac));
}

TEST_CASE("no network and no gateway: no route") {
  CHECK_FALSE(route_to(backend("2001:db8::1"), two));
}

TEST_CASE("an address is answered for on its network's port, or everywhere when it lies on none") {
  const auto on = [](const char* address) {
    return answering_ports(*net::IpAddress::parse(address), two).to_ulong() & 3;
  };
  CHECK(on("10.0.0.80") == 1);
  CHECK(on("10.1.0.80") == 2);
  CHECK(on("10.9.0.80") == 3);
  CHECK(on("2001:db8::80") == 3);
}
