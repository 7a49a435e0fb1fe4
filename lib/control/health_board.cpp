#include "control/health_board.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace zonelb::control {
namespace {

/// The Host header when the check names none: by service, the address of its first rule by name
/// (semantics.md section 8).
std::unordered_map<std::string, std::string> rule_addresses(const config::Config& config) {
  std::unordered_map<std::string, const config::ForwardingRule*> first;
  for (const auto& rule : config.forwarding_rules) {
    auto& known = first[rule.backend_service];
    if (known == nullptr || rule.name < known->name) known = &rule;
  }
  std::unordered_map<std::string, std::string> addresses;
  for (const auto& [service, rule] : first) addresses.emplace(service, rule->address.to_string());
  return addresses;
}

bool sends_rule_address(const config::HealthCheck& check) {
  return check.protocol == config::ProbeProtocol::http && check.host.empty();
}

std::string key(const config::HealthCheck& check, const std::string& service, const net::IpAddress& address) {
  return fmt::format("{}|{}|{}", check.name, address.to_string(), sends_rule_address(check) ? service : "");
}

}  // namespace

std::vector<health::ProbeTarget> HealthBoard::configure(const config::Config& config) {
  std::unordered_map<std::string, const config::HealthCheck*> checks;
  for (const auto& check : config.health_checks) checks.emplace(check.name, &check);
  const auto hosts = rule_addresses(config);

  HealthBoard next;
  next.started_ = true;
  for (const auto& service : config.backend_services)
    next.services_[service.name].health_check =
        checks.contains(service.health_check) ? service.health_check : "";
  std::map<std::string, health::ProbeTarget> targets;
  for (const auto& backend : config.backends) {
    for (const auto& name : backend.services) {
      auto& service = next.services_.at(name);
      if (service.health_check.empty()) continue;
      const auto& check = *checks.at(service.health_check);
      const auto id = key(check, name, backend.address);
      auto& result = next.results_[id];
      if (!result) {
        result = std::make_shared<Result>();
        result->standing.since_start = !started_;
        auto host = check.host;
        if (const auto found = hosts.find(name); sends_rule_address(check) && found != hosts.end())
          host = found->second;
        targets.emplace(id, health::ProbeTarget{id, backend.address, check, std::move(host)});
      }
      // A check by another name or host is a new target, but what was known of the backend counts until it
      // answers.
      const auto before = standing(name, backend);
      if (before.state != health::State::unknown) {
        result->standing.state = before.state;
        result->standing.reason = before.reason;
      }
      result->standing.since_start |= before.since_start;
      result->members.push_back({name, backend.name});
      service.results.emplace(backend.address, result);
    }
  }
  for (const auto& [id, result] : next.results_) {
    if (result->standing.state != health::State::unknown) continue;
    ++next.unknown_;
    for (const auto& member : result->members) ++next.services_.at(member.service).unknown;
  }
  std::vector<health::ProbeTarget> list;
  list.reserve(targets.size());
  for (auto& [id, target] : targets) list.push_back(std::move(target));
  *this = std::move(next);
  return list;
}

const std::vector<Membership>& HealthBoard::record(const health::StateChange& change) {
  static const std::vector<Membership> nobody;
  const auto found = results_.find(change.key);
  if (found == results_.end()) return nobody;
  auto& result = *found->second;
  const bool first =
      result.standing.state == health::State::unknown && change.state != health::State::unknown;
  result.standing.state = change.state;
  result.standing.reason = change.reason;
  if (first) {
    --unknown_;
    for (const auto& member : result.members) --services_.at(member.service).unknown;
  }
  return result.members;
}

HealthBoard::Standing HealthBoard::standing(const std::string& service,
                                            const config::Backend& backend) const {
  const auto known = services_.find(service);
  if (known == services_.end()) return {};
  if (known->second.health_check.empty()) return {.state = health::State::healthy};
  const auto result = known->second.results.find(backend.address);
  return result == known->second.results.end() ? Standing{} : result->second->standing;
}

bool HealthBoard::first_round_done(const std::string& service) const {
  const auto known = services_.find(service);
  return known == services_.end() || known->second.unknown == 0;
}

}  // namespace zonelb::control
