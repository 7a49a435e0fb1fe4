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

  Index index;
  HealthBoard next;
  next.started_ = true;
  for (const auto& service : config.backend_services) {
    const auto position = index.services.size();
    const bool checked = checks.contains(service.health_check);
    index.services[service.name] = {position, checked ? service.health_check : "", {}};
  }
  std::map<std::string, health::ProbeTarget> targets;
  for (const auto& backend : config.backends) {
    for (const auto& name : backend.services) {
      auto& service = index.services.at(name);
      if (service.health_check.empty()) continue;
      const auto& check = *checks.at(service.health_check);
      const auto id = key(check, name, backend.address);
      const auto [result, is_new] = index.results.emplace(id, next.standings_.size());
      if (is_new) {
        next.standings_.push_back({.since_start = !started_});
        index.members.emplace_back();
        auto host = check.host;
        if (const auto found = hosts.find(name); sends_rule_address(check) && found != hosts.end())
          host = found->second;
        targets.emplace(id, health::ProbeTarget{id, backend.address, check, std::move(host)});
      }
      auto& standing = next.standings_[result->second];
      // A check by another name or host is a new target, but what was known of the backend counts until it
      // answers.
      const auto before = this->standing(name, backend);
      if (before.state != health::State::unknown) {
        standing.state = before.state;
        standing.reason = before.reason;
      }
      standing.since_start |= before.since_start;
      index.members[result->second].push_back({name, backend.name});
      service.results.emplace(backend.address, result->second);
    }
  }
  next.index_ = std::make_shared<const Index>(std::move(index));
  next.count_unknown();
  std::vector<health::ProbeTarget> list;
  list.reserve(targets.size());
  for (auto& [id, target] : targets) list.push_back(std::move(target));
  *this = std::move(next);
  return list;
}

void HealthBoard::count_unknown() {
  unknown_of_.resize(index_->services.size());
  for (std::size_t i = 0; i < standings_.size(); ++i) {
    if (standings_[i].state != health::State::unknown) continue;
    ++unknown_;
    for (const auto& member : index_->members[i]) ++unknown_of_[index_->services.at(member.service).position];
  }
}

const std::vector<Membership>& HealthBoard::record(const health::StateChange& change) {
  static const std::vector<Membership> nobody;
  const auto found = index_->results.find(change.key);
  if (found == index_->results.end()) return nobody;
  auto& standing = standings_[found->second];
  const auto& members = index_->members[found->second];
  const bool first = standing.state == health::State::unknown && change.state != health::State::unknown;
  standing.state = change.state;
  standing.reason = change.reason;
  if (first) {
    --unknown_;
    for (const auto& member : members) --unknown_of_[index_->services.at(member.service).position];
  }
  return members;
}

HealthBoard::Standing HealthBoard::standing(const std::string& service,
                                            const config::Backend& backend) const {
  const auto known = index_->services.find(service);
  if (known == index_->services.end()) return {};
  if (known->second.health_check.empty()) return {.state = health::State::healthy};
  const auto result = known->second.results.find(backend.address);
  return result == known->second.results.end() ? Standing{} : standings_[result->second];
}

bool HealthBoard::first_round_done(const std::string& service) const {
  const auto known = index_->services.find(service);
  return known == index_->services.end() || unknown_of_[known->second.position] == 0;
}

}  // namespace zonelb::control
