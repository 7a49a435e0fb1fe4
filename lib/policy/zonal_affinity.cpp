#include "policy/zonal_affinity.hpp"

#include <algorithm>
#include <iterator>

namespace zonelb::policy {
namespace {

using config::ZonalAffinity;

bool failover_class(ActivePool pool) {
  return pool == ActivePool::failover;
}

MemberSet of_class(const ServiceState& service, bool failover) {
  MemberSet result;
  Position position = 0;
  for (const Member& member : service.members) {
    if (!member.draining && member.failover == failover) result.push_back(position);
    ++position;
  }
  return result;
}

MemberSet in_zone(const ServiceState& service, const MemberSet& set, ZoneId zone) {
  MemberSet result;
  std::ranges::copy_if(set, std::back_inserter(result),
                       [&](std::uint16_t i) { return service.members[i].zone == zone; });
  return result;
}

bool has_a_say(const ServiceState& service, ActivePool pool, ZoneId client_zone) {
  return service.zonal_affinity != ZonalAffinity::disabled && client_zone != no_zone &&
         pool != ActivePool::dropped;
}

/// Does traffic stay in the zone?
bool stays(const ServiceState& service, std::size_t matched, std::size_t eligible) {
  if (service.zonal_affinity == ZonalAffinity::stay_within_zone) return true;
  if (service.spillover_ratio.is_zero()) return eligible > 0;
  return service.spillover_ratio.reached_by(eligible, matched);
}

}  // namespace

ZonalDecision decide(const ServiceState& service, ActivePool pool, ZoneId client_zone, std::size_t matched,
                     std::size_t eligible) {
  ZonalDecision decision;
  decision.on = has_a_say(service, pool, client_zone);
  decision.match = decision.on && matched > 0;
  if (!decision.match) return decision;
  decision.spilled = !stays(service, matched, eligible);
  if (!decision.spilled) decision.takes = eligible == 0 ? Takes::matched : Takes::eligible_in_zone;
  return decision;
}

ZonalResult apply_zonal_affinity(const ServiceState& service, const Eligibility& eligibility,
                                 ZoneId client_zone) {
  ZonalResult result;
  if (!has_a_say(service, eligibility.pool, client_zone)) {
    result.modified_eligible = eligibility.original_eligible;
    return result;
  }
  result.match_test = of_class(service, failover_class(eligibility.pool));
  result.matched = in_zone(service, result.match_test, client_zone);
  MemberSet eligible = in_zone(service, eligibility.original_eligible, client_zone);
  const auto decision =
      decide(service, eligibility.pool, client_zone, result.matched.size(), eligible.size());
  result.on = decision.on;
  result.match = decision.match;
  result.spilled = decision.spilled;
  if (result.match)
    result.ratio = static_cast<double>(eligible.size()) / static_cast<double>(result.matched.size());
  switch (decision.takes) {
    case Takes::original_eligible:
      result.modified_eligible = eligibility.original_eligible;
      break;
    case Takes::eligible_in_zone:
      result.modified_eligible = std::move(eligible);
      break;
    case Takes::matched:
      result.modified_eligible = result.matched;
      break;
  }
  return result;
}

std::vector<ZoneMembers> members_by_zone(const ServiceState& service, const Eligibility& eligibility,
                                         std::size_t zone_count) {
  std::vector<ZoneMembers> zones(zone_count);
  const bool failover = failover_class(eligibility.pool);
  Position position = 0;
  for (const Member& member : service.members) {
    const auto i = position++;
    if (member.failover != failover) continue;
    ++zones[member.zone].listed;
    if (!member.draining) zones[member.zone].matched.push_back(i);
  }
  for (const auto i : eligibility.original_eligible) zones[service.members[i].zone].eligible.push_back(i);
  return zones;
}

}  // namespace zonelb::policy
