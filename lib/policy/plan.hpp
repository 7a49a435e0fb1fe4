#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/maglev.hpp"
#include "policy/zonal_affinity.hpp"

namespace zonelb::policy {

/// Why a new connection went where it went; the label of zonelb_new_connections_total. The first that
/// applies.
enum class Choice : std::uint8_t { last_resort, off, no_match, local, spilled };
inline constexpr std::size_t choice_count = 5;
std::string_view name(Choice choice);

/// Where new connections from clients of one zone go.
struct ZonePlan {
  /// Null: dropped.
  std::shared_ptr<const MaglevTable> table;
  Choice choice = Choice::off;
};

/// A service's decision for every zone, made ahead on the main core: a worker needs one array index and one
/// hash.
struct ServicePlan {
  ActivePool pool = ActivePool::dropped;
  /// By ZoneId, no_zone first.
  std::vector<ZonePlan> by_zone;
  /// The state this plan was made of.
  ServiceState state;
};

/// Does `plan` send new connections to a backend that is unhealthy while others are not (STAY_WITHIN_ZONE
/// with nothing healthy in the zone)?
bool is_chosen_though_unhealthy(const ServicePlan& plan, const std::string& backend);

/// Plans `service` for zones 0..zone_count-1. Identical sets share one table; tables of `previous` (may be
/// null) are taken over where their sets and weights are unchanged.
std::shared_ptr<const ServicePlan> make_plan(ServiceState service, std::size_t zone_count,
                                             const ServicePlan* previous);

}  // namespace zonelb::policy
