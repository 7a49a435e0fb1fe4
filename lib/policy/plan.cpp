#include "policy/plan.hpp"

#include <algorithm>

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

Choice choice_of(ActivePool pool, const ZonalDecision& zonal) {
  if (pool == ActivePool::last_resort) return Choice::last_resort;
  if (!zonal.on) return Choice::off;
  if (!zonal.match) return Choice::no_match;
  return zonal.spilled ? Choice::spilled : Choice::local;
}

/// Plans zone by zone, and makes each different table once.
class Planner {
 public:
  Planner(const ServiceState& service, std::size_t zone_count, const ServicePlan* previous)
      : service_(service),
        previous_(previous),
        eligibility_(original_eligible(service)),
        zones_(members_by_zone(service, eligibility_, zone_count)) {
    for (const auto& zone : zones_) listed_ += zone.listed;
  }

  [[nodiscard]] ActivePool pool() const { return eligibility_.pool; }
  [[nodiscard]] std::vector<TablePtr>& tables() { return tables_; }

  ZonePlan plan(ZoneId zone) {
    const auto& members = zones_[zone];
    const auto zonal =
        decide(service_, eligibility_.pool, zone, members.matched.size(), members.eligible.size());
    ZonePlan plan;
    plan.choice = choice_of(eligibility_.pool, zonal);
    plan.takes_unhealthy = zonal.takes == Takes::matched;
    switch (zonal.takes) {
      case Takes::original_eligible:
        if (!for_all_) for_all_ = table(eligibility_.original_eligible, listed_, zone);
        plan.table = for_all_;
        break;
      case Takes::eligible_in_zone:
        plan.table = table(members.eligible, members.listed, zone);
        break;
      case Takes::matched:
        plan.table = table(members.matched, members.listed, zone);
        break;
    }
    return plan;
  }

 private:
  TablePtr table(const MemberSet& set, std::size_t expected, ZoneId zone) {
    if (set.empty()) return nullptr;
    std::vector<Contender> contenders;
    contenders.reserve(set.size());
    for (const auto i : set)
      contenders.emplace_back(i, service_.members[i].name.hash(), service_.members[i].weight);
    const auto same = [&](const TablePtr& table) { return table->is_for(contenders, expected); };
    if (const auto made = std::ranges::find_if(tables_, same); made != tables_.end()) return *made;
    tables_.push_back(taken_over(same, zone, [&](const SelectionTable* like) {
      return std::make_shared<const SelectionTable>(std::move(contenders), expected, like);
    }));
    return tables_.back();
  }

  /// The same table of the plan before, or a new one made with what that one had for the zone.
  template <class Same, class Make>
  TablePtr taken_over(const Same& same, ZoneId zone, const Make& make) const {
    if (previous_ == nullptr) return make(nullptr);
    const auto before = std::ranges::find_if(previous_->tables, same);
    if (before != previous_->tables.end()) return *before;
    return make(zone < previous_->by_zone.size() ? previous_->by_zone[zone].table.get() : nullptr);
  }

  const ServiceState& service_;
  const ServicePlan* previous_;
  Eligibility eligibility_;
  std::vector<ZoneMembers> zones_;
  /// Members of the class in all zones.
  std::size_t listed_ = 0;
  TablePtr for_all_;
  std::vector<TablePtr> tables_;
};

}  // namespace

bool is_chosen_though_unhealthy(const ServicePlan& plan, Position position) {
  const bool some_pool = plan.pool == ActivePool::primary || plan.pool == ActivePool::failover;
  const auto& member = plan.state.members[position];
  return some_pool && !member.healthy && !member.draining &&
         member.failover == (plan.pool == ActivePool::failover) && plan.by_zone[member.zone].takes_unhealthy;
}

std::shared_ptr<const ServicePlan> make_plan(ServiceState service, std::size_t zone_count,
                                             const ServicePlan* previous) {
  auto plan = std::make_shared<ServicePlan>();
  Planner planner(service, zone_count, previous);
  plan->pool = planner.pool();
  plan->by_zone.reserve(zone_count);
  for (std::size_t zone = 0; zone < zone_count; ++zone)
    plan->by_zone.push_back(planner.plan(static_cast<ZoneId>(zone)));
  plan->tables = std::move(planner.tables());
  plan->state = std::move(service);
  return plan;
}

TablePtr make_table(const ServiceState& service, std::size_t zone_count, ZoneId zone) {
  return Planner(service, zone_count, nullptr).plan(zone).table;
}

}  // namespace zonelb::policy
