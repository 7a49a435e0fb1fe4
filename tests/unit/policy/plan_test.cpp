#include "policy/plan.hpp"

#include "catch.hpp"

using namespace zonelb;
using namespace zonelb::policy;

namespace {

ServiceState three_zones() {
  ServiceState state;
  state.name = "web";
  state.zonal_affinity = config::ZonalAffinity::spill_cross_zone;
  for (ZoneId zone = 1; zone <= 3; ++zone)
    for (const char* suffix : {"1", "2"})
      state.members.push_back({"web-" + std::to_string(zone) + suffix, zone});
  return state;
}

}  // namespace

TEST_CASE("zones whose traffic may go anywhere share one table") {
  auto state = three_zones();
  state.members[0].healthy = state.members[1].healthy = false;
  const auto plan = make_plan(state, 5, nullptr);
  CHECK(plan->by_zone[no_zone].table == plan->by_zone[1].table);
  CHECK(plan->by_zone[4].table == plan->by_zone[1].table);
  CHECK(plan->by_zone[2].table != plan->by_zone[3].table);
  CHECK(plan->by_zone[no_zone].choice == Choice::off);
  CHECK(plan->by_zone[1].choice == Choice::spilled);
  CHECK(plan->by_zone[2].choice == Choice::local);
  CHECK(plan->by_zone[4].choice == Choice::no_match);
}

TEST_CASE("a flip makes anew only the tables it touches") {
  const auto before = make_plan(three_zones(), 4, nullptr);
  auto state = three_zones();
  state.members[0].healthy = false;
  const auto after = make_plan(state, 4, before.get());
  CHECK(after->by_zone[1].table != before->by_zone[1].table);
  CHECK(after->by_zone[2].table == before->by_zone[2].table);
  CHECK(after->by_zone[3].table == before->by_zone[3].table);
}

TEST_CASE("a change of weight does not keep a stale table") {
  const auto before = make_plan(three_zones(), 4, nullptr);
  auto state = three_zones();
  state.members[0].weight = 9;
  const auto after = make_plan(state, 4, before.get());
  CHECK(after->by_zone[1].table != before->by_zone[1].table);
}

TEST_CASE("dropped and last resort") {
  auto state = three_zones();
  for (auto& member : state.members) member.healthy = false;
  CHECK(make_plan(state, 4, nullptr)->by_zone[1].choice == Choice::last_resort);
  state.drop_traffic_if_unhealthy = true;
  CHECK(make_plan(state, 4, nullptr)->by_zone[1].table == nullptr);
}
