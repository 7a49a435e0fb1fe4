#include "catch.hpp"
#include "policy/explain_json.hpp"

using namespace zonelb;
using namespace zonelb::policy;

namespace {

config::Config two_zones() {
  config::Config config;
  config.region = "eu";
  config.zones = {"zone-a", "zone-b"};
  config.client_networks.push_back({.prefixes = {*net::Prefix::parse("10.1.0.0/16")}, .zone = "zone-a"});
  config.client_networks.push_back({.prefixes = {*net::Prefix::parse("10.9.0.0/16")}, .region = "us"});
  config::BackendService web;
  web.name = "web";
  web.zonal_affinity = config::ZonalAffinity::spill_cross_zone;
  config.backend_services = {web};
  for (const char* name : {"b1", "b0"}) {
    config::Backend backend;
    backend.name = name;
    backend.services = {"web"};
    backend.zone = std::string(name) == "b0" ? "zone-a" : "zone-b";
    config.backends.push_back(backend);
  }
  config::ForwardingRule rule;
  rule.name = "r";
  rule.address = *net::IpAddress::parse("10.0.0.80");
  rule.ports = {{80, 80}};
  rule.backend_service = "web";
  config.forwarding_rules = {rule};
  return config;
}

nlohmann::ordered_json ask(const std::string& question) {
  const auto config = two_zones();
  return to_json(explain_offline(config, ZoneMap(config), case_from_json(nlohmann::json::parse(question))));
}

std::string refusal(const std::string& question) {
  try {
    ask(question);
  } catch (const CaseError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("an answer has the fields and the order of the interface") {
  const auto answer = ask(R"({"rule":"r","client":"10.1.0.5:40000","unhealthy":["b1"]})");
  CHECK(
      answer.dump() ==
      R"({"rule":"r","service":"web","client":{"address":"10.1.0.5","port":40000,"zone":"zone-a","compatible":true},)"
      R"("active_pool":"primary","configured":["b0","b1"],"original_eligible":["b0"],)"
      R"("zonal_match_test":["b0","b1"],"zonal_matched":["b0"],"zonal_match":true,"modified_eligible":["b0"],)"
      R"("spilled":false,"ratio":1.0,"selected":"b0",)"
      R"("why":"b0: 1 of 2 primaries are healthy; traffic stays in zone-a; the flow's hash picks it out of 1."})");
}

TEST_CASE("a client of another region is refused unless the rule lets it in") {
  const auto answer = ask(R"({"rule":"r","client":"10.9.0.5:40000"})");
  CHECK(answer["selected"].is_null());
  CHECK(answer["client"]["compatible"] == false);
  auto config = two_zones();
  config.forwarding_rules[0].allow_global_access = true;
  Case question;
  question.rule = "r";
  question.client = *net::Endpoint::parse("10.9.0.5:40000");
  CHECK(explain_offline(config, ZoneMap(config), question).selected.has_value());
}

TEST_CASE("selected lies inside modified_eligible, and a weight of 0 keeps a backend out") {
  const auto answer = ask(R"({"rule":"r","client":"172.16.0.1:1","weights":{"b0":0}})");
  CHECK(answer["selected"] == "b1");
  CHECK(answer["modified_eligible"] == std::vector<std::string>{"b0", "b1"});
}

TEST_CASE("a question that does not fit is refused with what would") {
  CHECK(refusal(R"({"rule":"x","client":"10.1.0.5:1"})") == "no forwarding rule 'x'; known rules: r");
  CHECK(refusal(R"({"rule":"r","client":"10.1.0.5"})") ==
        "case field 'client' takes 10.1.0.5:40000 or [2001:db8::5]:40000, not '10.1.0.5'");
  CHECK(refusal(R"({"rule":"r","client":"10.1.0.5:1","unhealthy":["zz"]})") ==
        "service web has no backend 'zz'; it has b0, b1");
  CHECK(refusal(R"({"rule":"r","client":"10.1.0.5:1","destination":"10.0.0.80:81"})") ==
        "rule r does not serve port 81");
  CHECK(refusal(R"({"rule":"r","client":"10.1.0.5:1","destination":"10.0.0.81:80"})") ==
        "rule r serves 10.0.0.80, not 10.0.0.81");
  CHECK(refusal(R"({"rule":"r","client":"10.1.0.5:1","protocol":"UDP"})") == "rule r balances TCP, not UDP");
  CHECK(refusal(R"({"client":"10.1.0.5:1"})") == "a case needs the field 'rule'");
  CHECK(refusal(R"({"rule":"r","client":"[::1]:1"})") ==
        "client ::1 and rule r (10.0.0.80) are of different address families");
}
