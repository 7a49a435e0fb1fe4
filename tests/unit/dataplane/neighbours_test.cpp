#include "dataplane/neighbours.hpp"

#include <vector>

#include "catch.hpp"

using namespace zonelb;
using namespace zonelb::dataplane;
using std::chrono::seconds;

namespace {

const NeighbourKey backend{0, *net::IpAddress::parse("10.0.0.11")};
const net::Mac first({2, 0, 0, 0, 0, 1});
const net::Mac second({2, 0, 0, 0, 0, 2});

/// Neighbours with a clock of the test's, and what they ask.
struct Fixture {
  std::vector<std::optional<net::Mac>> asked;
  Neighbours neighbours{[this](const NeighbourKey&, const auto& last_known) { asked.push_back(last_known); }};
  Neighbours::Clock::time_point now;

  void pass(int count) {
    for (int i = 0; i < count; ++i) neighbours.tick(now += seconds(1));
  }
  bool hear(const net::Mac& mac, bool solicited, bool overrides = true) {
    return neighbours.hear({backend.address, mac, backend.port, solicited, overrides}, now);
  }
};

}  // namespace

TEST_CASE("a next hop is asked for at once, then every second until it answers") {
  Fixture f;
  f.neighbours.need({backend}, f.now);
  CHECK(f.asked.size() == 1);
  f.pass(3);
  CHECK(f.asked.size() == 4);
  CHECK(f.neighbours.unresolved() == 1);
  CHECK(f.hear(first, true));
  CHECK(f.neighbours.find(backend) == first);
  f.pass(29);
  CHECK(f.asked.size() == 4);
}

TEST_CASE("nobody there: the questions go on, at a slower pace") {
  Fixture f;
  f.neighbours.need({backend}, f.now);
  f.pass(100);
  CHECK(f.asked.size() < 35);
  const auto before = f.asked.size();
  f.pass(5);
  CHECK(f.asked.size() > before);
}

TEST_CASE("a known neighbour is confirmed by unicast and forgotten when silent") {
  Fixture f;
  f.neighbours.need({backend}, f.now);
  f.hear(first, true);
  f.asked.clear();
  f.pass(30);
  REQUIRE(f.asked.size() == 1);
  CHECK(f.asked[0] == first);
  CHECK(f.neighbours.find(backend) == first);
  f.pass(3);
  CHECK_FALSE(f.neighbours.find(backend).has_value());
  CHECK_FALSE(f.asked.back().has_value());
}

TEST_CASE("an answer to the confirmation keeps it") {
  Fixture f;
  f.neighbours.need({backend}, f.now);
  f.hear(first, true);
  for (int i = 0; i < 10; ++i) {
    f.pass(31);
    CHECK_FALSE(f.hear(first, true));
  }
  CHECK(f.neighbours.find(backend) == first);
}

TEST_CASE("an announcement moves a neighbour at once; one that must not override only raises a doubt") {
  Fixture f;
  f.neighbours.need({backend}, f.now);
  f.hear(first, true);
  CHECK(f.hear(second, false));
  CHECK(f.neighbours.find(backend) == second);
  CHECK_FALSE(f.hear(first, false, false));
  CHECK(f.neighbours.find(backend) == second);
  f.asked.clear();
  f.pass(1);
  CHECK(f.asked.size() == 1);
}

TEST_CASE("what nobody needs is not learned, and forgotten when no longer needed") {
  Fixture f;
  CHECK_FALSE(f.hear(first, false));
  f.neighbours.need({backend}, f.now);
  f.hear(first, true);
  f.neighbours.need({}, f.now);
  CHECK_FALSE(f.neighbours.find(backend).has_value());
}

TEST_CASE(
    "an answer that names no MAC address confirms the one we know, and tells nothing of one we do not") {
  Fixture f;
  NeighbourReport report{backend.address, {}, backend.port, true, true, true};
  f.neighbours.need({backend}, f.now);
  CHECK_FALSE(f.neighbours.hear(report, f.now));
  CHECK_FALSE(f.neighbours.find(backend));
  f.hear(first, true);
  for (int minute = 0; minute < 3; ++minute) {
    f.pass(31);
    CHECK_FALSE(f.neighbours.hear(report, f.now));
    CHECK(f.neighbours.find(backend) == first);
  }
}
