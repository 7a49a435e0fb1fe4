#include "control/state.hpp"

#include "catch.hpp"
#include "config/error.hpp"

using namespace zonelb;
using namespace zonelb::control;
using std::chrono::seconds;

namespace {

config::Config two_backends() {
  config::Config config;
  config::Port port;
  port.name = "net";
  port.v4 =
      config::InterfaceAddress{*net::IpAddress::parse("10.0.0.2"), *net::Prefix::parse("10.0.0.0/16"), {}};
  config.machine.ports = {port};
  config::HealthCheck check;
  check.name = "hc";
  config.health_checks = {check};
  config::BackendService web;
  web.name = "web";
  web.health_check = "hc";
  config.backend_services = {web};
  for (const char* name : {"a", "b"}) {
    config::Backend backend;
    backend.name = name;
    backend.services = {"web"};
    backend.zone = "z";
    backend.address = *net::IpAddress::parse(std::string("10.0.0.1") + (*name == 'a' ? "1" : "2"));
    config.backends.push_back(backend);
  }
  config.zones = {"z"};
  config::ForwardingRule rule;
  rule.name = "r";
  rule.address = *net::IpAddress::parse("10.0.0.80");
  rule.ports = {{80, 80}};
  rule.backend_service = "web";
  config.forwarding_rules = {rule};
  return config;
}

struct Fixture {
  config::Config config = two_backends();
  State state{{dataplane::PortView{net::Mac({2, 0, 0, 0, 0, 9}), 1500, packet::no_vlan,
                                   net::IpAddress::parse("10.0.0.2"), std::nullopt}},
              1};
  dataplane::Neighbours neighbours{[](const auto&, const auto&) {}};
  Clock::time_point now;
  Events events;
  std::vector<health::ProbeTarget> targets;

  Fixture() { configure(); }
  void configure() { targets = state.configure(config, now); }
  void probed(std::size_t target, health::State result, const char* reason = "") {
    state.record({targets[target].key, result, reason, false});
  }
  std::unique_ptr<const dataplane::Snapshot> snapshot() {
    events.clear();
    return state.make_snapshot(neighbours, now, events);
  }
  /// Members that new connections may go to.
  std::set<std::string> chosen() {
    const auto made = snapshot();
    std::set<std::string> names;
    if (const auto& table = made->plans[0]->by_zone[0].table)
      for (std::uint64_t hash = 0; hash < 1000; ++hash)
        names.insert(made->plans[0]->state.members[table->pick(hash << 54)].name);
    return names;
  }
};

}  // namespace

TEST_CASE("backends without a result are unhealthy, unless the start says otherwise") {
  Fixture f;
  REQUIRE(f.targets.size() == 2);
  f.probed(0, health::State::healthy);
  CHECK_FALSE(f.state.first_round_done());
  f.state.end_start();
  CHECK(f.chosen() == std::set<std::string>{"a"});
  f.config.initial_health = config::InitialHealth::healthy;
  f.configure();
  CHECK(f.chosen() == std::set<std::string>{"a", "b"});
  f.probed(1, health::State::unhealthy);
  CHECK(f.state.first_round_done());
  CHECK(f.chosen() == std::set<std::string>{"a"});
}

TEST_CASE("a backend added by reload starts unhealthy, and the others keep their state") {
  Fixture f;
  f.config.initial_health = config::InitialHealth::healthy;
  f.configure();
  f.probed(0, health::State::healthy);
  f.probed(1, health::State::healthy);
  f.state.end_start();
  auto added = f.config.backends[0];
  added.name = "c";
  added.address = *net::IpAddress::parse("10.0.0.13");
  f.config.backends.push_back(added);
  f.configure();
  CHECK(f.chosen() == std::set<std::string>{"a", "b"});
  f.probed(2, health::State::healthy);
  CHECK(f.chosen() == std::set<std::string>{"a", "b", "c"});
}

TEST_CASE("a change of the active pool is told once") {
  Fixture f;
  f.probed(0, health::State::healthy);
  f.probed(1, health::State::healthy);
  f.snapshot();
  CHECK(f.events.empty());
  f.probed(0, health::State::unhealthy);
  f.probed(1, health::State::unhealthy);
  f.snapshot();
  CHECK(f.events == Events{"service web: active pool last_resort, was primary"});
  f.snapshot();
  CHECK(f.events.empty());
}

TEST_CASE("a result is told of the backends it concerns") {
  Fixture f;
  CHECK(f.state.record({f.targets[1].key, health::State::unhealthy, "HTTP status 503", true}) ==
        "backend b of web");
  CHECK(f.state.record({"gone", health::State::unhealthy, "", true}).empty());
}

TEST_CASE("at the start a service waits for its own first round, and no longer than the start") {
  Fixture f;
  CHECK(f.snapshot()->plans[0] == nullptr);
  f.probed(0, health::State::healthy);
  CHECK(f.snapshot()->plans[0] == nullptr);
  SECTION("the round is done") {
    f.probed(1, health::State::unhealthy);
    CHECK(f.chosen() == std::set<std::string>{"a"});
  }
  SECTION("the start is over") {
    f.state.end_start();
    CHECK(f.chosen() == std::set<std::string>{"a"});
  }
}

TEST_CASE("another check for the same backends keeps what is known of them until it has answered") {
  Fixture f;
  f.probed(0, health::State::healthy);
  f.probed(1, health::State::unhealthy);
  f.state.end_start();
  f.config.health_checks[0].name = "other";
  f.config.backend_services[0].health_check = "other";
  f.configure();
  CHECK(f.chosen() == std::set<std::string>{"a"});
  f.probed(1, health::State::healthy);
  CHECK(f.chosen() == std::set<std::string>{"a", "b"});
}

TEST_CASE("a configuration that cannot be taken over changes nothing") {
  Fixture f;
  f.probed(0, health::State::healthy);
  f.probed(1, health::State::healthy);
  const auto before = f.snapshot();
  for (int i = 0; i < 1100; ++i) f.config.zones.push_back("zone" + std::to_string(10000 + i));
  CHECK_THROWS_AS(f.configure(), config::ConfigError);
  const auto after = f.snapshot();
  CHECK(after->layout == before->layout);
  CHECK(after->counters == before->counters);
  CHECK(f.chosen() == std::set<std::string>{"a", "b"});
}

TEST_CASE("a target is resolved when its neighbour has answered") {
  Fixture f;
  f.probed(0, health::State::healthy);
  f.state.end_start();
  f.neighbours.need(f.state.next_hops(), f.now);
  const auto id = f.state.roster().find("web", "a")->id;
  CHECK_FALSE(f.snapshot()->targets[id].resolved);
  const net::Mac mac({2, 0, 0, 0, 0, 1});
  f.neighbours.hear({*net::IpAddress::parse("10.0.0.11"), mac, 0, true, true}, f.now);
  const auto made = f.snapshot();
  CHECK(made->targets[id].resolved);
  CHECK(made->targets[id].macs.destination == mac);
}

TEST_CASE("draining by command: known backends only, in no set, undone by undrain") {
  Fixture f;
  f.probed(0, health::State::healthy);
  f.probed(1, health::State::healthy);
  CHECK_THROWS_WITH(f.state.set_drained("x", true, f.now), "no backend 'x'; known backends: a, b");
  f.state.set_drained("a", true, f.now);
  CHECK(f.chosen() == std::set<std::string>{"b"});
  f.configure();
  CHECK(f.chosen() == std::set<std::string>{"b"});
  f.state.set_drained("a", false, f.now);
  CHECK(f.chosen() == std::set<std::string>{"a", "b"});
}

TEST_CASE("zones keep their numbers when others are added, as tracked connections carry them") {
  Fixture f;
  CHECK(*f.state.layout()->zones.id("z") == 1);
  f.config.zones = {"a", "z"};
  f.configure();
  CHECK(*f.state.layout()->zones.id("z") == 1);
  CHECK(*f.state.layout()->zones.id("a") == 2);
}
