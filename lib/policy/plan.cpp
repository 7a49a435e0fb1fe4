#include "policy/plan.hpp"

#include <algorithm>
#include <map>

namespace zonelb::policy {

std::string_view name(Choice choice) {
  switch (choice) {
    case Choice::last_resort:
      return "last_resort";
    case Choice::off:
      return "off";
    case Choice::no_match:
      return "no_match";
    case Choice::local:
      return "local";
    case Choice::spilled:
      break;
  }
  return "spilled";
}

namespace {

/// Makes each distinct table once, taking those of an earlier plan of the same members.
class TableCache {
 public:
  TableCache(const ServiceState& service, const ServicePlan* previous) : service_(service) {
    if (previous != nullptr && same_names_and_weights(previous->state)) adopt(*previous);
  }

  std::shared_ptr<const MaglevTable> get(const MemberSet& set) {
    if (set.empty()) return nullptr;
    auto& table = tables_[set];
    if (!table) table = make(set);
    return table;
  }

 private:
  [[nodiscard]] bool same_names_and_weights(const ServiceState& other) const {
    return std::ranges::equal(service_.members, other.members, [](const Member& a, const Member& b) {
      return a.name == b.name && a.weight == b.weight;
    });
  }

  void adopt(const ServicePlan& previous) {
    const auto eligibility = original_eligible(previous.state);
    for (std::size_t zone = 0; zone < previous.by_zone.size(); ++zone) {
      auto result = apply_zonal_affinity(previous.state, eligibility, static_cast<ZoneId>(zone));
      tables_.emplace(std::move(result.modified_eligible), previous.by_zone[zone].table);
    }
  }

  [[nodiscard]] std::shared_ptr<const MaglevTable> make(const MemberSet& set) const {
    std::vector<Contender> contenders;
    contenders.reserve(set.size());
    for (const std::uint16_t i : set)
      contenders.push_back({i, service_.members[i].name, service_.members[i].weight});
    return std::make_shared<MaglevTable>(contenders, MaglevTable::size_for(service_.members.size()));
  }

  const ServiceState& service_;
  std::map<MemberSet, std::shared_ptr<const MaglevTable>> tables_;
};

Choice choice_of(ActivePool pool, const ZonalResult& zonal) {
  if (pool == ActivePool::last_resort) return Choice::last_resort;
  if (!zonal.on) return Choice::off;
  if (!zonal.match) return Choice::no_match;
  return zonal.spilled ? Choice::spilled : Choice::local;
}

}  // namespace

bool is_chosen_though_unhealthy(const ServicePlan& plan, const std::string& backend) {
  const auto& state = plan.state;
  const bool some_pool = plan.pool == ActivePool::primary || plan.pool == ActivePool::failover;
  if (state.zonal_affinity != config::ZonalAffinity::stay_within_zone || !some_pool) return false;
  const auto member = std::ranges::find(state.members, backend, &Member::name);
  if (member == state.members.end() || member->healthy) return false;
  const auto matched = apply_zonal_affinity(state, original_eligible(state), member->zone);
  const auto position = static_cast<std::uint16_t>(member - state.members.begin());
  return std::ranges::find(matched.modified_eligible, position) != matched.modified_eligible.end();
}

std::shared_ptr<const ServicePlan> make_plan(ServiceState service, std::size_t zone_count,
                                             const ServicePlan* previous) {
  auto plan = std::make_shared<ServicePlan>();
  const auto eligibility = original_eligible(service);
  plan->pool = eligibility.pool;
  TableCache tables(service, previous);
  for (std::size_t zone = 0; zone < zone_count; ++zone) {
    const auto zonal = apply_zonal_affinity(service, eligibility, static_cast<ZoneId>(zone));
    plan->by_zone.push_back({tables.get(zonal.modified_eligible), choice_of(eligibility.pool, zonal)});
  }
  plan->state = std::move(service);
  return plan;
}

}  // namespace zonelb::policy
