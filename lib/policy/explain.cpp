#include "policy/explain.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "policy/flow_hash.hpp"
#include "policy/service_state.hpp"

namespace zonelb::policy {
namespace {

using config::ZonalAffinity;

const std::string& name_of(const Member& member) {
  return member.name;
}

void require_member(const ServiceState& state, const std::string& backend) {
  if (!std::ranges::binary_search(state.members, backend, {}, name_of))
    throw CaseError(fmt::format("service {} has no backend '{}'; it has {}", state.name, backend,
                                fmt::join(names_of(state, configured(state)), ", ")));
}

void apply(const Case& question, ServiceState& state) {
  for (const auto& name : question.unhealthy) require_member(state, name);
  if (question.healthy)
    for (const auto& name : *question.healthy) require_member(state, name);
  for (const auto& [name, weight] : question.weights) require_member(state, name);

  for (Member& member : state.members) {
    if (question.healthy) member.healthy = question.healthy->contains(member.name);
    if (question.unhealthy.contains(member.name)) member.healthy = false;
    if (const auto weight = question.weights.find(member.name); weight != question.weights.end())
      member.weight = weight->second;
  }
}

std::string_view protocol_name(config::Protocol protocol) {
  return protocol == config::Protocol::tcp ? "TCP" : "UDP";
}

bool serves(const config::ForwardingRule& rule, std::uint16_t port) {
  return rule.ports.empty() || std::ranges::any_of(rule.ports, [port](const config::PortRange& range) {
           return range.first <= port && port <= range.last;
         });
}

Tuple tuple_of(const config::ForwardingRule& rule, const Case& question) {
  const std::uint16_t default_port = rule.ports.empty() ? std::uint16_t{80} : rule.ports.front().first;
  const auto destination = question.destination.value_or(net::Endpoint{rule.address, default_port});
  if (destination.address != rule.address)
    throw CaseError(fmt::format("rule {} serves {}, not {}", rule.name, rule.address.to_string(),
                                destination.address.to_string()));
  if (!serves(rule, destination.port))
    throw CaseError(fmt::format("rule {} does not serve port {}", rule.name, destination.port));
  if (question.client.address.family() != rule.address.family())
    throw CaseError(fmt::format("client {} and rule {} ({}) are of different address families",
                                question.client.address.to_string(), rule.name, rule.address.to_string()));
  if (question.protocol && !std::ranges::equal(*question.protocol, protocol_name(rule.protocol),
                                               [](unsigned char a, char b) { return std::toupper(a) == b; }))
    throw CaseError(fmt::format("rule {} balances {}, not {}", rule.name, protocol_name(rule.protocol),
                                *question.protocol));
  return {question.client.address, destination.address, question.client.port, destination.port,
          static_cast<std::uint8_t>(rule.protocol)};
}

std::string pool_sentence(const ServiceState& state, ActivePool pool) {
  const auto count = [&](auto&& test) { return std::ranges::count_if(state.members, test); };
  const auto primaries = count([](const Member& m) { return !m.draining && !m.failover; });
  const auto healthy = count([](const Member& m) { return !m.draining && !m.failover && m.healthy; });
  switch (pool) {
    case ActivePool::primary:
      return fmt::format("{} of {} primaries are healthy", healthy, primaries);
    case ActivePool::failover:
      return fmt::format("the failover pool is active ({} of {} primaries are healthy, failover ratio {})",
                         healthy, primaries, state.failover_ratio.to_string());
    case ActivePool::last_resort:
      return fmt::format("no backend is healthy, so all {} primaries serve as a last resort", primaries);
    case ActivePool::dropped:
      break;
  }
  return state.drop_traffic_if_unhealthy ? "no backend is healthy and the service drops traffic then"
                                         : "no backend can serve, not even as a last resort";
}

std::string zone_sentence(const ServiceState& state, const Explanation& answer, bool on) {
  if (state.zonal_affinity == ZonalAffinity::disabled) return "zonal affinity is off";
  if (!answer.compatible) return "the client belongs to no zone of this region";
  if (!on) return "zonal affinity has no say";
  if (!answer.zonal_match) return fmt::format("{} has no backend of that pool", answer.client_zone);
  if (!answer.spilled) return fmt::format("traffic stays in {}", answer.client_zone);
  return fmt::format(
      "{} of {}'s backends are eligible, which is below the spillover ratio {}, so traffic spills",
      answer.ratio.value_or(0), answer.client_zone,
      state.spillover_ratio.is_zero() ? "(any)" : state.spillover_ratio.to_string());
}

std::string why(const ServiceState& state, const Explanation& answer, bool refused, bool zonal_on) {
  if (refused) return "Dropped: the client is of another region and the rule has no allow-global-access.";
  const auto pool = pool_sentence(state, answer.active_pool);
  if (!answer.selected) return fmt::format("Dropped: {}.", pool);
  return fmt::format("{}: {}; {}; the flow's hash picks it out of {}.", *answer.selected, pool,
                     zone_sentence(state, answer, zonal_on), answer.modified_eligible.size());
}

}  // namespace

const config::ForwardingRule& rule_of(const config::Config& config, const Case& question) {
  const auto rule = std::ranges::find(config.forwarding_rules, question.rule, &config::ForwardingRule::name);
  if (rule == config.forwarding_rules.end()) {
    std::vector<std::string> known;
    for (const auto& other : config.forwarding_rules) known.push_back(other.name);
    throw CaseError(
        fmt::format("no forwarding rule '{}'; known rules: {}", question.rule, fmt::join(known, ", ")));
  }
  return *rule;
}

Explanation explain(const config::Config& config, const ZoneMap& zones, const Case& question,
                    ServiceState state) {
  const auto& rule = rule_of(config, question);
  const auto& service =
      *std::ranges::find(config.backend_services, rule.backend_service, &config::BackendService::name);
  const auto tuple = tuple_of(rule, question);
  apply(question, state);

  const auto client = zones.find(question.client.address);
  const auto eligibility = original_eligible(state);
  const auto zonal = apply_zonal_affinity(state, eligibility, client.zone);

  Explanation answer;
  answer.rule = rule.name;
  answer.service = service.name;
  answer.client = question.client;
  answer.client_zone = zones.name(client.zone);
  answer.compatible = client.zone != no_zone;
  answer.active_pool = eligibility.pool;
  answer.configured = names_of(state, configured(state));
  answer.original_eligible = names_of(state, eligibility.original_eligible);
  answer.zonal_match_test = names_of(state, zonal.match_test);
  answer.zonal_matched = names_of(state, zonal.matched);
  answer.zonal_match = zonal.match;
  answer.modified_eligible = names_of(state, zonal.modified_eligible);
  answer.spilled = zonal.spilled;
  answer.ratio = zonal.ratio;

  const bool refused = client.other_region && !rule.allow_global_access;
  const auto table = make_table(state, zones.zone_count(), client.zone);
  if (table && !refused)
    answer.selected = state.members[table->pick(flow_hash(service.session_affinity, tuple))].name;
  answer.why = why(state, answer, refused, zonal.on);
  return answer;
}

Explanation explain_offline(const config::Config& config, const ZoneMap& zones, const Case& question) {
  const auto& rule = rule_of(config, question);
  const auto& service =
      *std::ranges::find(config.backend_services, rule.backend_service, &config::BackendService::name);
  return explain(config, zones, question,
                 make_state(service, backends_of(config, service.name), zones,
                            [](const config::Backend&) { return BackendCondition{}; }));
}

}  // namespace zonelb::policy
