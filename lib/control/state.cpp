#include "control/state.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

namespace zonelb::control {

using policy::ActivePool;

std::vector<health::ProbeTarget> State::configure(const config::Config& config, Clock::time_point now) {
  // All that can fail happens beside what is in force.
  std::unordered_set<std::string_view> names;
  for (const auto& backend : config.backends) names.insert(backend.name);
  auto kept = std::make_shared<const config::Config>(config);
  auto drained = drained_;
  std::erase_if(drained, [&](const auto& name) { return !names.contains(name); });
  auto roster = roster_;
  roster.configure(config, now);
  roster.drain(drained, now);
  auto built = build_layout(config, roster, ports_, known_zones());
  auto counters = std::make_shared<dataplane::CounterBlock>(workers_, built.layout->counter_size);
  auto health = health_;
  auto targets = health.configure(config);

  std::unordered_map<std::string, std::shared_ptr<const policy::ServicePlan>> old_plans;
  for (const auto& plan : plans_)
    if (plan) old_plans.emplace(plan->state.name, plan);
  config_ = std::move(kept);
  drained_ = std::move(drained);
  roster_ = std::move(roster);
  built_ = std::move(built);
  counters_ = std::move(counters);
  health_ = std::move(health);

  targets_ = built_.targets;
  for (dataplane::TargetId id = 0; id < targets_.size(); ++id)
    std::ranges::copy(roster_.epoch(id), targets_[id].epoch);
  published_targets_ = dataplane::Targets(targets_);
  resolved_at_.reset();
  services_.clear();
  service_positions_.clear();
  plans_.clear();
  auto backends = policy::backends_by_service(*config_);
  for (std::size_t i = 0; i < backends.size(); ++i) {
    const auto& service = config_->backend_services[i];
    auto state =
        policy::make_state(service, backends[i], built_.layout->zones,
                           [&](const config::Backend& backend) { return condition(service.name, backend); });
    services_.push_back({std::move(state), std::move(backends[i])});
    service_positions_.emplace(service.name, i);
    plans_.push_back(old_plans[service.name]);
    changed_.insert(i);
  }
  return targets;
}

std::vector<std::string> State::known_zones() const {
  return built_.layout ? built_.layout->zones.names() : std::vector<std::string>{std::string()};
}

void State::set_drained(const std::string& backend, bool drained, Clock::time_point now) {
  if (std::ranges::find(config_->backends, backend, &config::Backend::name) == config_->backends.end()) {
    std::vector<std::string> known;
    for (const auto& other : config_->backends) known.push_back(other.name);
    throw std::invalid_argument(
        fmt::format("no backend '{}'; known backends: {}", backend, fmt::join(known, ", ")));
  }
  const auto& flags = *std::ranges::find(config_->backends, backend, &config::Backend::name);
  if (!drained && flags.drain)
    throw std::invalid_argument(
        fmt::format("backend {} is drained by drain=true in its flags; change them and reload", backend));
  if (drained) {
    drained_.insert(backend);
  } else {
    drained_.erase(backend);
  }
  roster_.drain(drained_, now);
  for (const auto& service : flags.services) update(service, backend);
}

std::string State::record(const health::StateChange& change) {
  std::string backends;
  for (const auto& [service, backend] : health_.record(change)) {
    update(service, backend);
    backends += fmt::format("{}backend {} of {}", backends.empty() ? "" : ", ", backend, service);
  }
  return backends;
}

void State::end_start() {
  starting_ = false;
  for (std::size_t i = 0; i < plans_.size(); ++i)
    if (!plans_[i]) changed_.insert(i);
}

policy::BackendCondition State::condition(const std::string& service, const config::Backend& backend) const {
  const auto standing = health_.standing(service, backend);
  const bool healthy = standing.state == health::State::unknown
                           ? standing.since_start && config_->initial_health == config::InitialHealth::healthy
                           : standing.state == health::State::healthy;
  return {healthy, drained_.contains(backend.name)};
}

void State::update(const std::string& service, const std::string& backend) {
  const auto position = service_positions_.at(service);
  auto& [state, backends] = services_[position];
  const auto found = std::ranges::lower_bound(backends, backend, {}, &config::Backend::name);
  const auto now = condition(service, **found);
  auto& member = state.members[static_cast<std::size_t>(found - backends.begin())];
  member.healthy = now.healthy;
  member.draining = now.draining || (*found)->drain;
  changed_.insert(position);
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

void State::make_plan(std::size_t service, Events& events) {
  const auto& state = services_[service].state;
  auto& plan = plans_[service];
  if (!plan && starting_ && !health_.first_round_done(state.name)) return;
  const auto zones = built_.layout->zones.zone_count();
  if (plan && plan->by_zone.size() == zones && plan->state == state) return;
  auto after = policy::make_plan(state, zones, plan.get());
  note_pool(plan.get(), *after, events);
  plan = std::move(after);
}

void State::end_connections(std::size_t service, Clock::time_point now) {
  const auto& state = services_[service].state;
  const auto& plan = plans_[service];
  const auto position = [this](const RosterItem& item) { return targets_[item.id].member; };
  Roster::Situation situation;
  if (plan) situation.pool = plan->pool;
  situation.healthy = [&](const RosterItem& item) { return state.members[position(item)].healthy; };
  situation.chosen_though_unhealthy = [&](const RosterItem& item) {
    return item.configured && plan && policy::is_chosen_though_unhealthy(*plan, position(item));
  };
  roster_.evaluate(state.name, situation, now);
  for (const auto id : built_.layout->services[service].targets) {
    if (std::ranges::equal(roster_.epoch(id), targets_[id].epoch)) continue;
    std::ranges::copy(roster_.epoch(id), targets_[id].epoch);
    stale_chunks_.insert(id / dataplane::Targets::per_chunk);
  }
}

void State::resolve_next_hops(const dataplane::Neighbours& neighbours) {
  if (resolved_at_ == neighbours.changes()) return;
  resolved_at_ = neighbours.changes();
  for (dataplane::TargetId id = 0; id < targets_.size(); ++id) {
    const auto& route = built_.routes[id];
    if (!route) continue;
    const auto mac = route->mac ? route->mac : neighbours.find(*route->neighbour);
    auto& target = targets_[id];
    if (target.resolved == mac.has_value() && target.macs.destination == mac.value_or(net::Mac())) continue;
    target.resolved = mac.has_value();
    target.macs.destination = mac.value_or(net::Mac());
    stale_chunks_.insert(id / dataplane::Targets::per_chunk);
  }
}

std::unique_ptr<const dataplane::Snapshot> State::make_snapshot(const dataplane::Neighbours& neighbours,
                                                                Clock::time_point now, Events& events) {
  for (const auto& service : roster_.due(now)) changed_.insert(service_positions_.at(service));
  for (const auto service : changed_) {
    make_plan(service, events);
    end_connections(service, now);
  }
  changed_.clear();
  resolve_next_hops(neighbours);

  auto snapshot = std::make_unique<dataplane::Snapshot>();
  snapshot->generation = ++generation_;
  snapshot->layout = built_.layout;
  snapshot->counters = counters_;
  snapshot->plans = plans_;
  for (const auto chunk : stale_chunks_) published_targets_.renew(chunk, targets_);
  stale_chunks_.clear();
  snapshot->targets = published_targets_;
  return snapshot;
}

std::size_t table_bytes(const Plans& plans) {
  std::size_t total = 0;
  for (const auto& plan : plans)
    if (plan)
      for (const auto& table : plan->tables) total += table->bytes();
  return total;
}

std::set<dataplane::NeighbourKey> State::next_hops() const {
  std::set<dataplane::NeighbourKey> keys;
  for (const auto& route : built_.routes)
    if (route && route->neighbour) keys.insert(*route->neighbour);
  return keys;
}

std::set<net::IpAddress> State::vips() const {
  std::set<net::IpAddress> result;
  for (const auto& rule : config_->forwarding_rules) result.insert(rule.address);
  return result;
}

}  // namespace zonelb::control
