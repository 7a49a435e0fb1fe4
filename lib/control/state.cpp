#include "control/state.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "policy/service_state.hpp"

namespace zonelb::control {

using policy::ActivePool;

std::vector<health::ProbeTarget> State::configure(const config::Config& config, Clock::time_point now) {
  // All that can fail happens beside what is in force.
  auto drained = drained_;
  std::erase_if(drained, [&](const auto& name) {
    return std::ranges::find(config.backends, name, &config::Backend::name) == config.backends.end();
  });
  auto roster = roster_;
  roster.configure(config, now);
  roster.drain(drained, now);
  auto built = build_layout(config, roster, ports_, known_zones());
  auto counters = std::make_shared<dataplane::CounterBlock>(workers_, built.layout->counter_size);
  auto health = health_;
  auto targets = health.configure(config);

  std::map<std::string, std::shared_ptr<const policy::ServicePlan>> old_plans;
  for (const auto& plan : plans_)
    if (plan) old_plans.emplace(plan->state.name, plan);
  config_ = config;
  drained_ = std::move(drained);
  roster_ = std::move(roster);
  built_ = std::move(built);
  counters_ = std::move(counters);
  health_ = std::move(health);
  plans_.clear();
  for (const auto& service : config_.backend_services) plans_.push_back(old_plans[service.name]);
  return targets;
}

std::vector<std::string> State::known_zones() const {
  return built_.layout ? built_.layout->zones.names() : std::vector<std::string>{std::string()};
}

void State::set_drained(const std::string& backend, bool drained, Clock::time_point now) {
  if (std::ranges::find(config_.backends, backend, &config::Backend::name) == config_.backends.end()) {
    std::vector<std::string> known;
    for (const auto& other : config_.backends) known.push_back(other.name);
    throw std::invalid_argument(
        fmt::format("no backend '{}'; known backends: {}", backend, fmt::join(known, ", ")));
  }
  const auto& flags = *std::ranges::find(config_.backends, backend, &config::Backend::name);
  if (!drained && flags.drain)
    throw std::invalid_argument(
        fmt::format("backend {} is drained by drain=true in its flags; change them and reload", backend));
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

void State::note_pool(const policy::ServicePlan* before, const policy::ServicePlan& after, Events& events) {
  const auto is_pool = [](ActivePool pool) {
    return pool == ActivePool::primary || pool == ActivePool::failover;
  };
  if (before == nullptr) {
    if (after.pool != ActivePool::primary)
      events.push_back(fmt::format("service {}: active pool {}", after.state.name, policy::name(after.pool)));
  } else if (before->pool != after.pool) {
    if (is_pool(before->pool) && is_pool(after.pool)) ++failovers_;
    events.push_back(fmt::format("service {}: active pool {}, was {}", after.state.name,
                                 policy::name(after.pool), policy::name(before->pool)));
  }
}

bool State::is_waiting(const std::string& service) const {
  return starting_ && !health_.first_round_done(config_, service);
}

void State::make_plans(Events& events) {
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const auto before = plans_[i];
    auto after = plan(config_.backend_services[i], before);
    if (is_waiting(after->state.name)) continue;
    if (after != before) note_pool(before.get(), *after, events);
    plans_[i] = std::move(after);
  }
}

std::unique_ptr<const dataplane::Snapshot> State::make_snapshot(const dataplane::Neighbours& neighbours,
                                                                Clock::time_point now, Events& events) {
  make_plans(events);
  std::map<std::string, const policy::ServicePlan*> plans;
  for (const auto& plan : plans_)
    if (plan) plans.emplace(plan->state.name, plan.get());
  const auto plan_of = [&](const std::string& service) {
    const auto found = plans.find(service);
    return found == plans.end() ? nullptr : found->second;
  };
  roster_.evaluate([&](const RosterItem& item) { return is_healthy(item.service.name, item.backend); },
                   [&](const std::string& service) {
                     const auto* plan = plan_of(service);
                     return plan == nullptr ? ActivePool::dropped : plan->pool;
                   },
                   [&](const RosterItem& item) {
                     const auto* plan = plan_of(item.service.name);
                     return plan != nullptr && policy::is_chosen_though_unhealthy(*plan, item.backend.name);
                   },
                   now);

  auto snapshot = std::make_unique<dataplane::Snapshot>();
  snapshot->generation = ++generation_;
  snapshot->layout = built_.layout;
  snapshot->counters = counters_;
  snapshot->plans = plans_;
  snapshot->targets = built_.targets;
  for (dataplane::TargetId id = 0; id < snapshot->targets.size(); ++id)
    std::ranges::copy(roster_.epoch(id), snapshot->targets[id].epoch);
  for (const auto& item : roster_.items()) {
    auto& target = snapshot->targets[item.id];
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
