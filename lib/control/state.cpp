#include "control/state.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "policy/service_state.hpp"

namespace zonelb::control {

using policy::ActivePool;

std::vector<health::ProbeTarget> State::configure(const config::Config& config, Clock::time_point now) {
  roster_.configure(config, now);
  std::erase_if(drained_, [&](const auto& name) {
    return std::ranges::find(config.backends, name, &config::Backend::name) == config.backends.end();
  });
  roster_.drain(drained_, now);

  std::map<std::string, std::shared_ptr<const policy::ServicePlan>> old_plans;
  for (const auto& plan : plans_)
    if (plan) old_plans.emplace(plan->state.name, plan);
  config_ = config;
  built_ =
      build_layout(config_, roster_, ports_,
                   built_.layout ? built_.layout->zones.names() : std::vector<std::string>{std::string()});
  counters_ = std::make_shared<dataplane::CounterBlock>(workers_, built_.layout->counter_size);
  plans_.clear();
  for (const auto& service : config_.backend_services) plans_.push_back(old_plans[service.name]);
  return health_.configure(config_);
}

void State::set_drained(const std::string& backend, bool drained, Clock::time_point now) {
  if (std::ranges::find(config_.backends, backend, &config::Backend::name) == config_.backends.end()) {
    std::vector<std::string> known;
    for (const auto& other : config_.backends) known.push_back(other.name);
    throw std::invalid_argument(
        fmt::format("no backend '{}'; known backends: {}", backend, fmt::join(known, ", ")));
  }
  if (drained) {
    drained_.insert(backend);
  } else {
    drained_.erase(backend);
  }
  roster_.drain(drained_, now);
}

bool State::is_healthy(const std::string& service, const config::Backend& backend) const {
  const auto standing = health_.standing(service, backend);
  if (standing.state == health::State::unknown)
    return standing.since_start && config_.initial_health == config::InitialHealth::healthy;
  return standing.state == health::State::healthy;
}

std::shared_ptr<const policy::ServicePlan> State::plan(
    const config::BackendService& service, const std::shared_ptr<const policy::ServicePlan>& previous) const {
  auto state =
      policy::make_state(config_, service, built_.layout->zones, [&](const config::Backend& backend) {
        return policy::BackendCondition{is_healthy(service.name, backend), drained_.contains(backend.name)};
      });
  const auto zones = built_.layout->zones.zone_count();
  if (previous && previous->state == state && previous->by_zone.size() == zones) return previous;
  return policy::make_plan(std::move(state), zones, previous.get());
}

void State::note_changes(const policy::ServicePlan& before, const policy::ServicePlan& after,
                         Events& events) {
  for (const auto& member : after.state.members) {
    const auto was = std::ranges::find(before.state.members, member.name, &policy::Member::name);
    if (was == before.state.members.end() || was->healthy == member.healthy) continue;
    const auto* item = roster_.find(after.state.name, member.name);
    const auto reason = item == nullptr ? "" : health_.standing(after.state.name, item->backend).reason;
    events.push_back(fmt::format("service {}: backend {} is {}{}{}", after.state.name, member.name,
                                 member.healthy ? "healthy" : "unhealthy", reason.empty() ? "" : ": ",
                                 reason));
  }
  if (before.pool == after.pool) return;
  const auto is_pool = [](ActivePool pool) {
    return pool == ActivePool::primary || pool == ActivePool::failover;
  };
  if (is_pool(before.pool) && is_pool(after.pool)) ++failovers_;
  events.push_back(fmt::format("service {}: active pool {}, was {}", after.state.name,
                               policy::name(after.pool), policy::name(before.pool)));
}

void State::make_plans(Events& events) {
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const auto before = plans_[i];
    auto after = plan(config_.backend_services[i], before);
    if (before && after != before) note_changes(*before, *after, events);
    plans_[i] = std::move(after);
  }
}

std::unique_ptr<const dataplane::Snapshot> State::make_snapshot(const dataplane::Neighbours& neighbours,
                                                                Clock::time_point now, Events& events) {
  make_plans(events);
  std::map<std::string, ActivePool> pools;
  for (const auto& plan : plans_) pools.emplace(plan->state.name, plan->pool);
  roster_.evaluate([&](const RosterItem& item) { return is_healthy(item.service.name, item.backend); },
                   [&](const std::string& service) { return pools.at(service); }, now);

  auto snapshot = std::make_unique<dataplane::Snapshot>();
  snapshot->generation = ++generation_;
  snapshot->layout = built_.layout;
  snapshot->counters = counters_;
  snapshot->plans = plans_;
  snapshot->targets = built_.targets;
  for (const auto& item : roster_.items()) {
    auto& target = snapshot->targets[item.id];
    std::ranges::copy(item.epoch, target.epoch);
    const auto route = built_.routes.find(item.id);
    if (route == built_.routes.end()) continue;
    const auto mac = route->second.mac ? route->second.mac : neighbours.find(*route->second.neighbour);
    target.resolved = mac.has_value();
    target.next_hop = mac.value_or(net::Mac());
  }
  return snapshot;
}

std::set<dataplane::NeighbourKey> State::next_hops() const {
  std::set<dataplane::NeighbourKey> keys;
  for (const auto& [id, route] : built_.routes)
    if (route.neighbour) keys.insert(*route.neighbour);
  return keys;
}

std::set<net::IpAddress> State::vips() const {
  std::set<net::IpAddress> result;
  for (const auto& rule : config_.forwarding_rules) result.insert(rule.address);
  return result;
}

}  // namespace zonelb::control
