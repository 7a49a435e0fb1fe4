#include "control/roster.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "config/error.hpp"
#include "conntrack/entry.hpp"

namespace zonelb::control {

using policy::ActivePool;

namespace {

/// Members of a service, counting those that drain, are numbered with 16 bits in snapshots.
constexpr std::size_t most_members = 65'535;

using Identity = std::tuple<std::string, std::string, net::IpAddress>;

Identity identity(const std::string& service, const config::Backend& backend) {
  return {service, backend.name, backend.address};
}

bool is_over(const RosterItem& item) {
  return item.ending[false] == Ending::over && item.ending[true] == Ending::over;
}

/// Is a pool of healthy backends active, and not the item's own?
bool other_pool_active(const RosterItem& item, ActivePool pool) {
  return pool == (item.backend.failover ? ActivePool::primary : ActivePool::failover);
}

}  // namespace

dataplane::TargetId Roster::take_id() {
  if (!free_ids_.empty()) {
    const auto id = free_ids_.back();
    free_ids_.pop_back();
    return id;
  }
  epochs_.emplace_back();
  return static_cast<dataplane::TargetId>(epochs_.size() - 1);
}

void Roster::configure(const config::Config& config, Clock::time_point now) {
  std::size_t members = items_.size();
  for (const auto& backend : config.backends) members += backend.services.size();
  if (members > conntrack::Entry::max_targets)
    throw config::ConfigError(
        fmt::format("{} members of services, counting those that still drain; at most {} are accepted",
                    members, conntrack::Entry::max_targets));
  std::map<Identity, std::size_t> positions;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    items_[i].configured = false;
    positions.emplace(identity(items_[i].service.name, items_[i].backend), i);
  }
  std::map<std::string, const config::BackendService*> services;
  for (const auto& service : config.backend_services) services.emplace(service.name, &service);

  for (const auto& backend : config.backends) {
    for (const auto& name : backend.services) {
      const auto [known, is_new] = positions.emplace(identity(name, backend), items_.size());
      if (is_new) {
        RosterItem item;
        item.id = take_id();
        std::ranges::copy(epochs_[item.id].value, item.epoch);
        items_.push_back(item);
      }
      RosterItem& item = items_[known->second];
      item.configured = true;
      item.service = *services.at(name);
      item.backend = backend;
    }
  }
  std::map<std::string, std::size_t> sizes;
  for (auto& item : items_) {
    if (!item.configured && !item.drained_since) item.drained_since = now;
    if (++sizes[item.service.name] > most_members)
      throw config::ConfigError(
          fmt::format("service {}: more than {} backends, counting those that have left and still drain; try "
                      "again when they "
                      "are through",
                      item.service.name, most_members));
  }
  std::erase_if(items_, [&](const auto& item) {
    if (services.contains(item.service.name)) return false;
    epochs_[item.id] = {
        {static_cast<std::uint16_t>(item.epoch[0] + 1), static_cast<std::uint16_t>(item.epoch[1] + 1)}};
    free_ids_.push_back(item.id);
    return true;
  });
  std::erase_if(deadlines_, [&](const auto& deadline) { return !services.contains(deadline.first); });
  index();
}

void Roster::index() {
  services_.clear();
  departed_ = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    auto& service = services_[items_[i].service.name];
    service.items.push_back(i);
    ++(items_[i].configured ? service.configured : departed_);
  }
  for (auto& [name, service] : services_)
    std::ranges::sort(service.items, {}, [this](std::size_t i) {
      return std::tuple(!items_[i].configured, std::string_view(items_[i].backend.name), items_[i].id);
    });
}

std::vector<const RosterItem*> Roster::members(const std::string& service) const {
  std::vector<const RosterItem*> result;
  const auto known = services_.find(service);
  if (known == services_.end()) return result;
  result.reserve(known->second.items.size());
  for (const auto i : known->second.items) result.push_back(&items_[i]);
  return result;
}

void Roster::drain(const std::set<std::string>& backends, Clock::time_point now) {
  for (auto& item : items_) {
    const bool drained = !item.configured || item.backend.drain || backends.contains(item.backend.name);
    if (!drained) {
      item.drained_since.reset();
    } else if (!item.drained_since) {
      item.drained_since = now;
    }
  }
}

std::optional<Clock::time_point> Roster::drain_end(const RosterItem& item) const {
  if (!item.drained_since) return std::nullopt;
  return *item.drained_since + item.service.connection_draining_timeout;
}

std::optional<Clock::time_point> Roster::failover_end(const RosterItem& item) const {
  if (!item.idle_pool_since) return std::nullopt;
  return *item.idle_pool_since + (item.service.connection_drain_on_failover ? Clock::duration(failover_drain)
                                                                            : Clock::duration::zero());
}

Ending Roster::ending(const RosterItem& item, bool tcp, const Situation& situation,
                      Clock::time_point now) const {
  const auto over = [now](const std::optional<Clock::time_point>& end) { return end && *end <= now; };
  if (over(drain_end(item))) return Ending::over;
  if (item.healthy) return over(failover_end(item)) ? Ending::over : Ending::none;
  // DEFAULT_FOR_PROTOCOL with PER_CONNECTION: TCP stays with an unhealthy backend, the rest moves to a
  // healthy one.
  const bool somebody_healthy =
      situation.pool == ActivePool::primary || situation.pool == ActivePool::failover;
  if (tcp || !somebody_healthy) return Ending::none;
  return situation.chosen_though_unhealthy(item) ? Ending::moved : Ending::over;
}

void Roster::evaluate(RosterItem& item, const Situation& situation, Clock::time_point now) {
  // Of one that has left the configuration nothing new is known.
  if (item.configured) item.healthy = situation.healthy(item);
  if (!item.healthy || !other_pool_active(item, situation.pool)) {
    item.idle_pool_since.reset();
  } else if (!item.idle_pool_since) {
    item.idle_pool_since = now;
  }
  for (const bool tcp : {false, true}) {
    const Ending now_ending = ending(item, tcp, situation, now);
    if (now_ending > item.ending[tcp]) item.epoch[tcp] = ++epochs_[item.id].value[tcp];
    item.ending[tcp] = now_ending;
  }
}

void Roster::evaluate(const std::string& service, const Situation& situation, Clock::time_point now) {
  deadlines_.erase(service);
  const auto known = services_.find(service);
  if (known == services_.end()) return;
  std::optional<Clock::time_point> earliest;
  for (const auto i : known->second.items) {
    auto& item = items_[i];
    evaluate(item, situation, now);
    const bool will_end = item.drained_since || item.idle_pool_since;
    if (!will_end || is_over(item)) continue;
    for (const auto& end : {drain_end(item), failover_end(item)})
      if (end && (!earliest || *end < *earliest)) earliest = end;
  }
  if (earliest) deadlines_.emplace(service, *earliest);
}

std::optional<Clock::time_point> Roster::next_deadline() const {
  const auto earliest = std::ranges::min_element(deadlines_, {}, &Deadlines::value_type::second);
  return earliest == deadlines_.end() ? std::nullopt : std::optional(earliest->second);
}

std::vector<std::string> Roster::due(Clock::time_point now) const {
  std::vector<std::string> services;
  for (const auto& [service, deadline] : deadlines_)
    if (deadline <= now) services.push_back(service);
  return services;
}

void Roster::release(const std::function<bool(dataplane::TargetId)>& has_connections) {
  const auto released = std::erase_if(items_, [&](const auto& item) {
    const bool over = !item.configured && is_over(item) && !has_connections(item.id);
    if (over) free_ids_.push_back(item.id);
    return over;
  });
  if (released > 0) index();
}

std::vector<bool> Roster::in_use() const {
  std::vector<bool> result(id_limit());
  for (const auto& item : items_) result[item.id] = true;
  return result;
}

const RosterItem* Roster::find(const std::string& service, const std::string& backend) const {
  const auto known = services_.find(service);
  if (known == services_.end()) return nullptr;
  const auto configured = std::span(known->second.items).first(known->second.configured);
  const auto name = [this](std::size_t i) -> const std::string& { return items_[i].backend.name; };
  const auto found = std::ranges::lower_bound(configured, backend, {}, name);
  return found == configured.end() || name(*found) != backend ? nullptr : &items_[*found];
}

}  // namespace zonelb::control
