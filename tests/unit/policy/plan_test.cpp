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

TEST_CASE("a change of weight makes anew only the tables of the backend's zone and of all") {
  auto state = three_zones();
  const auto before = make_plan(state, 4, nullptr);
  state.members[0].weight = 9;
  const auto after = make_plan(state, 4, before.get());
  CHECK(after->by_zone[2].table == before->by_zone[2].table);
  CHECK(after->by_zone[no_zone].table != before->by_zone[no_zone].table);
}

TEST_CASE("a plan lists each of its tables once") {
  const auto plan = make_plan(three_zones(), 6, nullptr);
  CHECK(plan->tables.size() == 4);
}

TEST_CASE("one zone's table alone is the plan's") {
  auto state = three_zones();
  state.members[0].healthy = false;
  const auto plan = make_plan(state, 4, nullptr);
  for (ZoneId zone = 0; zone < 4; ++zone) {
    const auto alone = make_table(state, 4, zone);
    for (std::uint64_t hash = 0; hash < 1000; ++hash)
      CHECK(alone->pick(hash << 54) == plan->by_zone[zone].table->pick(hash << 54));
  }
}

TEST_CASE("a zone that must stay within itself takes its unhealthy backends, as no other plan does") {
  auto state = three_zones();
  state.zonal_affinity = config::ZonalAffinity::stay_within_zone;
  state.members[0].healthy = state.members[1].healthy = state.members[2].healthy = false;
  auto plan = make_plan(state, 4, nullptr);
  CHECK(is_chosen_though_unhealthy(*plan, 0));
  CHECK_FALSE(is_chosen_though_unhealthy(*plan, 2));
  CHECK_FALSE(is_chosen_though_unhealthy(*plan, 5));
  state.members[0].draining = true;
  plan = make_plan(state, 4, nullptr);
  CHECK_FALSE(is_chosen_though_unhealthy(*plan, 0));
  CHECK(is_chosen_though_unhealthy(*plan, 1));
}

TEST_CASE("dropped and last resort") {
  auto state = three_zones();
  for (auto& member : state.members) member.healthy = false;
  CHECK(make_plan(state, 4, nullptr)->by_zone[1].choice == Choice::last_resort);
  state.drop_traffic_if_unhealthy = true;
  CHECK(make_plan(state, 4, nullptr)->by_zone[1].table == nullptr);
}
