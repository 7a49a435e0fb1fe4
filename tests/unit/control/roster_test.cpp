#include "control/roster.hpp"

#include "catch.hpp"

using namespace zonelb;
using namespace zonelb::control;
using policy::ActivePool;
using std::chrono::seconds;

namespace {

config::Backend backend(const char* name, const char* address, bool failover = false) {
  config::Backend result;
  result.name = name;
  result.services = {"web"};
  result.address = *net::IpAddress::parse(address);
  result.failover = failover;
  return result;
}

/// A roster with one service "web", and the conditions a test sets.
struct Fixture {
  config::Config config;
  Roster roster;
  Clock::time_point now;
  ActivePool pool = ActivePool::primary;
  std::set<std::string> unhealthy;
  std::set<std::string> drained;

  Fixture() {
    config::BackendService web;
    web.name = "web";
    config.backend_services = {web};
    config.backends = {backend("p", "10.0.0.1"), backend("f", "10.0.0.2", true)};
    configure();
  }
  void configure() {
    roster.configure(config, now);
    roster.drain(drained, now);
    evaluate();
  }
  std::set<std::string> chosen_though_unhealthy;

  /// True: somebody's connections were ended.
  bool evaluate(seconds passed = seconds(0)) {
    now += passed;
    const auto before = epochs();
    roster.evaluate(
        "web",
        {pool, [&](const RosterItem& item) { return !unhealthy.contains(item.backend.name); },
         [&](const RosterItem& item) { return chosen_though_unhealthy.contains(item.backend.name); }},
        now);
    return epochs() != before;
  }
  std::vector<std::uint16_t> epochs() const {
    std::vector<std::uint16_t> result;
    for (const auto& item : roster.items()) result.insert(result.end(), {item.epoch[0], item.epoch[1]});
    return result;
  }
  std::uint16_t epoch(const char* name, bool tcp) const {
    return roster.find("web", name)->epoch[tcp ? 1 : 0];
  }
};

}  // namespace

TEST_CASE("an unhealthy backend keeps its TCP connections and loses the others, once") {
  Fixture f;
  f.unhealthy = {"p"};
  f.pool = ActivePool::failover;
  CHECK(f.evaluate());
  CHECK(f.epoch("p", true) == 0);
  CHECK(f.epoch("p", false) == 1);
  CHECK_FALSE(f.evaluate());
  CHECK_FALSE(f.evaluate(seconds(10000)));
}

TEST_CASE("while nothing is healthy nobody is moved; when something is, the rest is") {
  Fixture f;
  f.unhealthy = {"p", "f"};
  f.pool = ActivePool::last_resort;
  CHECK_FALSE(f.evaluate());
  CHECK_FALSE(f.evaluate(seconds(10000)));
  f.unhealthy = {"p"};
  f.pool = ActivePool::failover;
  CHECK(f.evaluate());
  CHECK(f.epoch("p", false) == 1);
  CHECK(f.epoch("p", true) == 0);
}

TEST_CASE("failback drains the healthy failover backend for ten minutes") {
  Fixture f;
  f.pool = ActivePool::failover;
  f.evaluate();
  f.pool = ActivePool::primary;
  CHECK_FALSE(f.evaluate());
  CHECK_FALSE(f.evaluate(seconds(599)));
  CHECK(f.epoch("f", true) == 0);
  CHECK(f.evaluate(seconds(1)));
  CHECK(f.epoch("f", true) == 1);
  CHECK(f.epoch("f", false) == 1);
  CHECK(f.epoch("p", true) == 0);
}

TEST_CASE("a pool that becomes active again in time keeps its connections") {
  Fixture f;
  CHECK_FALSE(f.evaluate(seconds(599)));
  f.pool = ActivePool::failover;
  CHECK_FALSE(f.evaluate());
  f.pool = ActivePool::primary;
  CHECK_FALSE(f.evaluate(seconds(599)));
  CHECK(f.evaluate(seconds(600)));
  CHECK(f.epoch("f", true) == 1);
  CHECK(f.epoch("p", true) == 0);
}

TEST_CASE("without drain on failover connections end at once") {
  Fixture f;
  f.config.backend_services[0].connection_drain_on_failover = false;
  f.configure();
  f.pool = ActivePool::failover;
  CHECK(f.evaluate());
  CHECK(f.epoch("p", true) == 1);
}

TEST_CASE("a drained backend's connections end with the draining timeout; coming back in time saves them") {
  Fixture f;
  f.drained = {"p"};
  f.configure();
  CHECK(f.roster.next_deadline() == f.now + seconds(300));
  CHECK_FALSE(f.evaluate(seconds(299)));
  f.drained = {};
  f.configure();
  CHECK_FALSE(f.evaluate(seconds(100)));
  CHECK(f.epoch("p", true) == 0);
  f.drained = {"p"};
  f.configure();
  CHECK(f.evaluate(seconds(300)));
  CHECK(f.epoch("p", true) == 1);
}

TEST_CASE("a removed backend drains, is released when its connections are gone, and its number goes on") {
  Fixture f;
  const auto id = f.roster.find("web", "p")->id;
  f.config.backends.erase(f.config.backends.begin());
  f.configure();
  CHECK(f.roster.find("web", "p") == nullptr);
  CHECK(f.roster.items().size() == 2);
  f.roster.release([](auto) { return false; });
  CHECK(f.roster.items().size() == 2);
  CHECK(f.evaluate(seconds(300)));
  f.roster.release([](auto) { return true; });
  CHECK(f.roster.items().size() == 2);
  f.roster.release([](auto) { return false; });
  CHECK(f.roster.items().size() == 1);

  f.config.backends.push_back(backend("n", "10.0.0.9"));
  f.configure();
  CHECK(f.roster.find("web", "n")->id == id);
  CHECK(f.epoch("n", true) == 1);
}

TEST_CASE("a name that comes back with another address is another backend") {
  Fixture f;
  const auto id = f.roster.find("web", "p")->id;
  f.config.backends[0] = backend("p", "10.0.0.99");
  f.configure();
  CHECK(f.roster.find("web", "p")->id != id);
  CHECK(f.roster.items().size() == 3);
}

TEST_CASE("a removed backend's connections of every protocol drain, though nobody probes it any more") {
  Fixture f;
  const auto id = f.roster.find("web", "p")->id;
  f.config.backends.erase(f.config.backends.begin());
  f.unhealthy = {"p"};
  f.configure();
  CHECK_FALSE(f.evaluate(seconds(299)));
  CHECK(f.roster.epoch(id)[0] == 0);
  CHECK(f.evaluate(seconds(1)));
  CHECK(f.roster.epoch(id)[0] == 1);
}

TEST_CASE("UDP leaves a backend that dies, and again when its zone no longer has to use it") {
  Fixture f;
  f.unhealthy = {"p"};
  f.chosen_though_unhealthy = {"p"};
  CHECK(f.evaluate());
  CHECK(f.epoch("p", false) == 1);
  CHECK_FALSE(f.evaluate(seconds(100)));
  f.chosen_though_unhealthy = {};
  CHECK(f.evaluate());
  CHECK(f.epoch("p", false) == 2);
  CHECK(f.epoch("p", true) == 0);
  CHECK_FALSE(f.evaluate());
}

TEST_CASE("only the service whose time has come is due") {
  Fixture f;
  auto api = f.config.backend_services[0];
  api.name = "api";
  api.connection_draining_timeout = seconds(100);
  f.config.backend_services.push_back(api);
  f.config.backends[0].services = {"web", "api"};
  f.drained = {"p"};
  f.configure();
  f.roster.evaluate("api", {ActivePool::primary, [](const auto&) { return true; }, {}}, f.now);
  CHECK(f.roster.next_deadline() == f.now + seconds(100));
  CHECK(f.roster.due(f.now + seconds(99)).empty());
  CHECK(f.roster.due(f.now + seconds(100)) == std::vector<std::string>{"api"});
  CHECK(f.roster.due(f.now + seconds(300)) == std::vector<std::string>{"api", "web"});
}

TEST_CASE("members: the configured ones by name, then those that drain") {
  Fixture f;
  f.config.backends[0] = backend("z", "10.0.0.7");
  f.config.backends.push_back(backend("a", "10.0.0.8"));
  f.configure();
  std::vector<std::string> names;
  for (const auto* item : f.roster.members("web")) names.push_back(item->backend.name);
  CHECK(names == std::vector<std::string>{"a", "f", "z", "p"});
  CHECK(f.roster.has_departed());
  CHECK(f.roster.find("web", "p") == nullptr);
  CHECK(f.roster.find("web", "z")->backend.address == *net::IpAddress::parse("10.0.0.7"));
}
