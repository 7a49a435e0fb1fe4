#include <fstream>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "policy/plan.hpp"
#include "policy/service_state.hpp"

using namespace zonelb;
using namespace zonelb::policy;
using nlohmann::json;

namespace {

config::ZonalAffinity affinity(const std::string& name) {
  if (name == "STAY_WITHIN_ZONE") return config::ZonalAffinity::stay_within_zone;
  if (name == "SPILL_CROSS_ZONE") return config::ZonalAffinity::spill_cross_zone;
  REQUIRE(name == "DISABLED");
  return config::ZonalAffinity::disabled;
}

/// Zones are numbered as they are first named, from 1 on.
class Zones {
 public:
  ZoneId operator()(const json& name) {
    if (name.is_null()) return no_zone;
    return ids_.emplace(name.get<std::string>(), static_cast<ZoneId>(ids_.size() + 1)).first->second;
  }

 private:
  std::map<std::string, ZoneId> ids_;
};

ServiceState state_of(const json& vector, Zones& zones) {
  ServiceState state;
  const auto& service = vector["service"];
  state.zonal_affinity = affinity(service["zonal_affinity"]);
  state.spillover_ratio = *config::Ratio::parse(service["spillover_ratio"].dump());
  state.failover_ratio = *config::Ratio::parse(service["failover_ratio"].dump());
  state.drop_traffic_if_unhealthy = service["drop_traffic_if_unhealthy"];
  for (const auto& b : vector["backends"])
    state.members.push_back({b["name"].get<std::string>(), zones(b["zone"]), b["failover"], 1, b["healthy"],
                             b.value("draining", false)});
  return state;
}

void check(const json& vector) {
  INFO(vector["id"]);
  Zones zones;
  const auto state = state_of(vector, zones);
  const auto client = zones(vector["client"]["zone"]);
  const auto& expect = vector["expect"];

  const auto eligibility = original_eligible(state);
  const auto zonal = apply_zonal_affinity(state, eligibility, client);
  const auto names = [&](const MemberSet& set) { return names_of(state, set); };
  CHECK(name(eligibility.pool) == expect["active_pool"].get<std::string>());
  CHECK(names(eligibility.original_eligible) == expect["original_eligible"].get<std::vector<std::string>>());
  CHECK(names(zonal.match_test) == expect["zonal_match_test"].get<std::vector<std::string>>());
  CHECK(names(zonal.matched) == expect["zonal_matched"].get<std::vector<std::string>>());
  CHECK(names(zonal.modified_eligible) == expect["modified_eligible"].get<std::vector<std::string>>());
  CHECK(zonal.match == expect["zonal_match"].get<bool>());
  CHECK(zonal.spilled == expect["spilled"].get<bool>());
}

int check_file(const std::string& name) {
  std::ifstream file(std::string(VECTORS) + "/" + name);
  REQUIRE(file.is_open());
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) check(json::parse(line));
  return count;
}

}  // namespace

TEST_CASE("every named vector: the documents' tables and examples") {
  CHECK(check_file("eligibility_named.jsonl") > 20);
}

TEST_CASE("every random vector") {
  CHECK(check_file("eligibility_random.jsonl") == 2000);
}
