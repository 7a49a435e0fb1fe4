// What a change makes anew and what it shares with the snapshot before; and that it never shows.

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include <fmt/format.h>

#include "catch.hpp"
#include "control/state.hpp"

using namespace zonelb;
using namespace zonelb::control;
using std::chrono::seconds;

namespace {

using SnapshotPtr = std::unique_ptr<const dataplane::Snapshot>;

net::IpAddress address(std::uint32_t number) {
  return net::IpAddress::v4(net::be32(0x0a000000U + number));
}

config::Backend backend(unsigned number, const std::string& service, unsigned zones) {
  config::Backend backend;
  backend.name = fmt::format("b{:04}", number);
  backend.services = {service};
  backend.address = address(0x10000 + number);
  backend.zone = fmt::format("z{}", number % zones);
  backend.failover = number % 7 == 6;
  return backend;
}

config::Config configuration(unsigned services, unsigned backends_each, unsigned zones) {
  config::Config config;
  config::Port port;
  port.name = "net";
  port.v4 = config::InterfaceAddress{address(2), *net::Prefix::parse("10.0.0.0/8"), {}};
  config.machine.ports = {port};
  config::HealthCheck check;
  check.name = "hc";
  config.health_checks = {check};
  for (unsigned zone = 0; zone < zones; ++zone) config.zones.push_back(fmt::format("z{}", zone));
  for (unsigned i = 0; i < services; ++i) {
    config::BackendService service;
    service.name = fmt::format("s{}", i);
    service.health_check = "hc";
    service.zonal_affinity =
        std::array{config::ZonalAffinity::disabled, config::ZonalAffinity::stay_within_zone,
                   config::ZonalAffinity::spill_cross_zone}[(i + 2) % 3];
    service.failover_ratio = *config::Ratio::parse("0.3");
    service.connection_draining_timeout = seconds(100);
    config.backend_services.push_back(service);
    for (unsigned n = 0; n < backends_each; ++n)
      config.backends.push_back(backend(i * backends_each + n, service.name, zones));
  }
  return config;
}

/// A State with all that was ever told to it.
struct Core {
  config::Config config;
  State state{{dataplane::PortView{net::Mac({2, 0, 0, 0, 0, 9}), 1500, packet::no_vlan, address(2), {}}}, 1};
  dataplane::Neighbours neighbours{[](const auto&, const auto&) {}};
  Clock::time_point now;
  std::map<std::string, health::State> known;

  explicit Core(config::Config initial) : config(std::move(initial)) {
    configure();
    state.end_start();
  }
  void configure() {
    std::map<std::string, health::State> still_known;
    for (const auto& target : state.configure(config, now))
      still_known.emplace(target.key, known[target.key]);
    known = std::move(still_known);
    neighbours.need(state.next_hops(), now);
  }
  void tell(const std::string& key, health::State health) {
    known[key] = health;
    state.record({key, health, "", false});
  }
  void tell_all(health::State health) {
    for (const auto& [key, before] : std::map(known)) tell(key, health);
  }
  void tell(const config::Backend& about, health::State health) {
    tell(fmt::format("hc|{}|", about.address.to_string()), health);
  }
  SnapshotPtr snapshot() {
    Events events;
    return state.make_snapshot(neighbours, now, events);
  }
  /// Another State that is told at once what this one has been told bit by bit.
  SnapshotPtr from_scratch() const {
    Core fresh(config);
    for (const auto& [key, health] : known)
      if (health != health::State::unknown) fresh.tell(key, health);
    for (const auto& name : state.drained()) fresh.state.set_drained(name, true, fresh.now);
    neighbours.for_each([&](const auto& hop, const auto& mac) {
      if (mac) fresh.neighbours.hear({hop.address, *mac, hop.port, true, true}, fresh.now);
    });
    return fresh.snapshot();
  }
};

bool same_choices(const policy::ServicePlan& a, const policy::ServicePlan& b, const policy::ZonePlan& of_a,
                  const policy::ZonePlan& of_b) {
  if (of_a.choice != of_b.choice || of_a.takes_unhealthy != of_b.takes_unhealthy) return false;
  if (!of_a.table || !of_b.table) return !of_a.table && !of_b.table;
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    const auto hash = random();
    if (a.state.members[of_a.table->pick(hash)].name != b.state.members[of_b.table->pick(hash)].name)
      return false;
  }
  return true;
}

/// Zones may be numbered otherwise.
void check_same_plan(const dataplane::Snapshot& one, const dataplane::Snapshot& other, std::size_t service) {
  const auto& a = *one.plans[service];
  const auto& b = *other.plans[service];
  CHECK(a.pool == b.pool);
  REQUIRE(a.state.members.size() == b.state.members.size());
  for (std::size_t zone = 0; zone < other.zone_count(); ++zone) {
    const auto& zone_name = other.layout->zones.name(static_cast<policy::ZoneId>(zone));
    const auto id = zone == 0 ? policy::no_zone : *one.layout->zones.id(zone_name);
    CHECK(same_choices(a, b, a.by_zone[id], b.by_zone[zone]));
  }
}

void check_same_targets(const dataplane::Snapshot& one, const dataplane::Snapshot& other,
                        std::size_t service) {
  const auto& members = other.plans[service]->state.members;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& a = one.targets[one.layout->services[service].targets[i]];
    const auto& b = other.targets[other.layout->services[service].targets[i]];
    CHECK((a.in_use() && a.resolved == b.resolved && a.macs.destination == b.macs.destination &&
           a.port == b.port && a.service == b.service && a.member == b.member && a.member == i));
    CHECK(members[i].name.str() == one.layout->services[service].members[i].backend);
  }
}

void check_same(const dataplane::Snapshot& one, const dataplane::Snapshot& other) {
  REQUIRE(one.plans.size() == other.plans.size());
  for (std::size_t service = 0; service < one.plans.size(); ++service) {
    REQUIRE((one.plans[service] && other.plans[service]));
    check_same_plan(one, other, service);
    check_same_targets(one, other, service);
  }
}

/// Positions of services whose plans are not the same object.
std::set<std::size_t> replanned(const dataplane::Snapshot& before, const dataplane::Snapshot& after) {
  std::set<std::size_t> result;
  for (std::size_t i = 0; i < before.plans.size(); ++i)
    if (before.plans[i] != after.plans[i]) result.insert(i);
  return result;
}

/// Names of zones whose tables of a service are not the same object; "" for clients of none.
std::set<std::string> tables_made(const dataplane::Snapshot& before, const dataplane::Snapshot& after,
                                  std::size_t service) {
  std::set<std::string> result;
  for (std::size_t zone = 0; zone < before.zone_count(); ++zone)
    if (before.plans[service]->by_zone[zone].table != after.plans[service]->by_zone[zone].table)
      result.insert(before.layout->zones.name(static_cast<policy::ZoneId>(zone)));
  return result;
}

/// One random thing that may happen to an appliance.
void happen(Core& core, std::mt19937& random) {
  auto& backends = core.config.backends;
  const auto some = random() % backends.size();
  switch (random() % 10) {
    case 0:
      if (core.state.drained().contains(backends[some].name)) {
        core.state.set_drained(backends[some].name, false, core.now);
      } else {
        core.state.set_drained(backends[some].name, true, core.now);
      }
      break;
    case 1:
      backends[some].weight = random() % 4;
      core.configure();
      break;
    case 2: {
      auto added = backend(2000 + static_cast<unsigned>(random() % 500),
                           core.config.backend_services[random() % 3].name, 4);
      const auto same = [&](const auto& other) { return other.name == added.name; };
      if (std::ranges::none_of(backends, same)) backends.push_back(std::move(added));
      core.configure();
      break;
    }
    case 3:
      if (backends.size() > 10) backends.erase(backends.begin() + static_cast<std::ptrdiff_t>(some));
      core.configure();
      break;
    case 4: {
      const auto hops = core.state.next_hops();
      const auto hop = *std::next(hops.begin(), static_cast<std::ptrdiff_t>(random() % hops.size()));
      core.neighbours.hear(
          {hop.address, net::Mac({2, 1, 1, 1, 1, static_cast<std::uint8_t>(random())}), hop.port, true, true},
          core.now);
      break;
    }
    case 5:
      core.now += seconds(random() % 200);
      break;
    default:
      core.tell(backends[some], random() % 3 == 0 ? health::State::unhealthy : health::State::healthy);
  }
}

}  // namespace

TEST_CASE("a flip plans its own service anew, and there the tables of its zone and of all clients") {
  Core core(configuration(20, 8, 4));
  core.tell_all(health::State::healthy);
  const auto before = core.snapshot();
  core.tell(core.config.backends[3], health::State::unhealthy);
  const auto after = core.snapshot();
  CHECK(after->layout == before->layout);
  CHECK(replanned(*before, *after) == std::set<std::size_t>{0});
  CHECK(tables_made(*before, *after, 0) == std::set<std::string>{"", "z3"});
}

TEST_CASE("a backend of several services, probed once, changes each of them") {
  auto config = configuration(5, 8, 4);
  config.backends[0].services = {"s0", "s3"};
  Core core(std::move(config));
  core.tell_all(health::State::healthy);
  const auto before = core.snapshot();
  core.tell(core.config.backends[0], health::State::unhealthy);
  CHECK(replanned(*before, *core.snapshot()) == std::set<std::size_t>{0, 3});
}

TEST_CASE("without news all plans are shared") {
  Core core(configuration(5, 8, 4));
  core.tell_all(health::State::healthy);
  const auto before = core.snapshot();
  CHECK(replanned(*before, *core.snapshot()).empty());
  core.tell_all(health::State::healthy);
  CHECK(replanned(*before, *core.snapshot()).empty());
}

TEST_CASE("a reload that changes a weight keeps the other services' plans and the other zones' tables") {
  Core core(configuration(20, 8, 4));
  core.tell_all(health::State::healthy);
  const auto before = core.snapshot();
  core.config.backends[1].weight = 5;
  core.configure();
  const auto after = core.snapshot();
  CHECK(replanned(*before, *after) == std::set<std::size_t>{0});
  CHECK(tables_made(*before, *after, 0) == std::set<std::string>{"", "z1"});
  check_same(*after, *core.from_scratch());
}

TEST_CASE("a flip in a service of thousands keeps most parts of the two tables it touches") {
  Core core(configuration(1, 3000, 4));
  core.tell_all(health::State::healthy);
  const auto before = core.snapshot();
  core.tell(core.config.backends[5], health::State::unhealthy);
  const auto after = core.snapshot();
  std::set<const void*> known;
  for (const auto& table : before->plans[0]->tables)
    table->for_each_part([&](const auto& part) { known.insert(part.get()); });
  std::size_t made = 0;
  for (const auto& table : after->plans[0]->tables)
    table->for_each_part([&](const auto& part) { made += known.contains(part.get()) ? 0 : 1; });
  CHECK(made == 4);
  check_same(*after, *core.from_scratch());
}

TEST_CASE("whatever happened in whatever order, a snapshot is as one made from scratch") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    std::mt19937 random(seed);
    Core core(configuration(3, seed == 1 ? 250 : 9, 4));
    for (int i = 0; i < 60; ++i) {
      happen(core, random);
      if (i % 3 == 0) check_same(*core.snapshot(), *core.from_scratch());
    }
  }
}

TEST_CASE("time alone ends connections, though nothing else changes") {
  Core core(configuration(3, 8, 4));
  core.tell_all(health::State::healthy);
  core.state.set_drained("b0000", true, core.now);
  const auto before = core.snapshot();
  const auto id = core.state.roster().find("s0", "b0000")->id;
  core.now += seconds(99);
  CHECK(core.state.next_deadline() == core.now + seconds(1));
  CHECK(core.snapshot()->targets[id].epoch[1] == 0);
  core.now += seconds(1);
  const auto after = core.snapshot();
  CHECK(after->targets[id].epoch[1] == 1);
  CHECK(replanned(*before, *after).empty());
  // The failover backends' ten minutes go on.
  CHECK(core.state.next_deadline() > core.now);
}

TEST_CASE("a service that forwards goes on while a reload at the start brings backends without a result") {
  Core core(configuration(1, 8, 4));
  State starting{{dataplane::PortView{net::Mac({2, 0, 0, 0, 0, 9}), 1500, packet::no_vlan, address(2), {}}},
                 1};
  for (const auto& target : starting.configure(core.config, core.now))
    starting.record({target.key, health::State::healthy, "", true});
  Events events;
  CHECK(starting.make_snapshot(core.neighbours, core.now, events)->plans[0]->state.members.size() == 8);
  core.config.backends.push_back(backend(1, "s0", 4));
  core.config.backends.back().name = "a-first";
  core.config.backends.back().address = address(77);
  starting.configure(core.config, core.now);
  const auto made = starting.make_snapshot(core.neighbours, core.now, events);
  CHECK(made->plans[0]->state.members.size() == 9);
  CHECK(made->layout->services[0].members[0].backend == "a-first");
  CHECK_FALSE(made->plans[0]->state.members[0].healthy);
}

TEST_CASE("the memory of tables grows with backends, not with zones that share them") {
  Core few(configuration(1, 64, 2));
  Core many(configuration(1, 64, 32));
  few.tell_all(health::State::healthy);
  many.tell_all(health::State::healthy);
  few.snapshot();
  many.snapshot();
  CHECK(few.state.table_bytes() > 0);
  CHECK(many.state.table_bytes() < 3 * few.state.table_bytes());
}

TEST_CASE("a flip leaves the targets of other services where they are in the workers' caches") {
  Core core(configuration(50, 64, 4));
  core.tell_all(health::State::healthy);
  const auto before = core.snapshot();
  core.tell(core.config.backends[0], health::State::unhealthy);
  const auto after = core.snapshot();
  std::size_t renewed = 0;
  const auto chunks = after->targets.size() / dataplane::Targets::per_chunk;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk)
    renewed += after->targets.shares(chunk, before->targets) ? 0 : 1;
  CHECK(chunks == 25);
  CHECK(renewed == 1);
}
