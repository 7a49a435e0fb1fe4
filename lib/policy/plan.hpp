#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/selection_table.hpp"
#include "policy/zonal_affinity.hpp"

namespace zonelb::policy {

/// Why a new connection went where it went; the label of zonelb_new_connections_total. The first that
/// applies.
enum class Choice : std::uint8_t { last_resort, off, no_match, local, spilled };
inline constexpr std::size_t choice_count = 5;
std::string_view name(Choice choice);

using TablePtr = std::shared_ptr<const SelectionTable>;

/// Where new connections from clients of one zone go.
struct ZonePlan {
  /// Null: dropped.
  TablePtr table;
  Choice choice = Choice::off;
  /// They go to the zone's backends although none of these is eligible.
  bool takes_unhealthy = false;
};

/// A service's decision for every zone, made ahead on the main core: a worker needs one array index and one
/// hash.
struct ServicePlan {
  ActivePool pool = ActivePool::dropped;
  /// By ZoneId, no_zone first.
  std::vector<ZonePlan> by_zone;
  /// The different tables in by_zone.
  std::vector<TablePtr> tables;
  /// The state this plan was made of.
  ServiceState state;
};

/// Does `plan` send new connections to its member at `position`, which is unhealthy while others are not
/// (STAY_WITHIN_ZONE with nothing healthy in the zone)?
bool is_chosen_though_unhealthy(const ServicePlan& plan, Position position);

/// Plans `service` for zones 0..zone_count-1. Identical sets share one table; tables of `previous` (may be
/// null), or their parts, are taken over where their members and weights are unchanged.
std::shared_ptr<const ServicePlan> make_plan(ServiceState service, std::size_t zone_count,
                                             const ServicePlan* previous);

/// The table that make_plan gives clients of one zone, the others left out.
TablePtr make_table(const ServiceState& service, std::size_t zone_count, ZoneId zone);

}  // namespace zonelb::policy
