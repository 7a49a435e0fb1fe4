#include "control/health_board.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace zonelb::control {
namespace {

/// The Host header when the check names none: the address of the service's first rule by name (semantics.md
/// section 8).
std::string rule_address(const config::Config& config, const std::string& service) {
  const config::ForwardingRule* first = nullptr;
  for (const auto& rule : config.forwarding_rules)
    if (rule.backend_service == service && (first == nullptr || rule.name < first->name)) first = &rule;
  return first == nullptr ? std::string() : first->address.to_string();
}

bool sends_rule_address(const config::HealthCheck& check) {
  return check.protocol == config::ProbeProtocol::http && check.host.empty();
}

}  // namespace

std::string HealthBoard::key(const config::HealthCheck& check, const std::string& service,
                             const net::IpAddress& address) const {
  return fmt::format("{}|{}|{}", check.name, address.to_string(), sends_rule_address(check) ? service : "");
}

std::vector<health::ProbeTarget> HealthBoard::configure(const config::Config& config) {
  const HealthBoard before = *this;
  checks_.clear();
  known_.clear();
  for (const auto& service : config.backend_services) {
    known_.insert(service.name);
    const auto check =
        std::ranges::find(config.health_checks, service.health_check, &config::HealthCheck::name);
    if (check != config.health_checks.end()) checks_.emplace(service.name, *check);
  }
  std::map<std::string, health::ProbeTarget> targets;
  std::map<std::string, Result> found;
  for (const auto& backend : config.backends) {
    for (const auto& service : backend.services) {
      const auto check = checks_.find(service);
      if (check == checks_.end()) continue;
      const auto id = key(check->second, service, backend.address);
      const auto host =
          sends_rule_address(check->second) ? rule_address(config, service) : check->second.host;
      auto& result = found[id];
      result.backends +=
          fmt::format("{}backend {} of {}", result.backends.empty() ? "" : ", ", backend.name, service);
      result.since_start = !started_;
      // A check by another name or host is a new target, but what was known of the backend counts until it
      // answers.
      if (const auto standing = before.standing(service, backend); standing.state != health::State::unknown) {
        result.state = standing.state;
        result.reason = standing.reason;
      }
      result.since_start |= before.standing(service, backend).since_start;
      targets.emplace(id, health::ProbeTarget{id, backend.address, check->second, host});
    }
  }
  results_ = std::move(found);
  std::vector<health::ProbeTarget> list;
  for (auto& [id, target] : targets) list.push_back(std::move(target));
  started_ = true;
  return list;
}

std::string HealthBoard::record(const health::StateChange& change) {
  const auto result = results_.find(change.key);
  if (result == results_.end()) return {};
  result->second.state = change.state;
  result->second.reason = change.reason;
  return result->second.backends;
}

HealthBoard::Standing HealthBoard::standing(const std::string& service,
                                            const config::Backend& backend) const {
  const auto check = checks_.find(service);
  if (check == checks_.end())
    return {.state = known_.contains(service) ? health::State::healthy : health::State::unknown};
  const auto result = results_.find(key(check->second, service, backend.address));
  if (result == results_.end()) return {};
  return {result->second.state, result->second.reason, result->second.since_start};
}

bool HealthBoard::first_round_done(const config::Config& config, const std::string& service) const {
  return std::ranges::none_of(config.backends, [&](const config::Backend& backend) {
    return std::ranges::find(backend.services, service) != backend.services.end() &&
           standing(service, backend).state == health::State::unknown;
  });
}

bool HealthBoard::first_round_done() const {
  return std::ranges::none_of(
      results_, [](const auto& result) { return result.second.state == health::State::unknown; });
}

}  // namespace zonelb::control
