#include "policy/zonal_affinity.hpp"

#include <algorithm>
#include <iterator>

namespace zonelb::policy {
namespace {

using config::ZonalAffinity;

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

/// Does traffic stay in the zone, given its matched members and those of them that are eligible?
bool stays(const ServiceState& service, const MemberSet& matched, const MemberSet& eligible) {
  if (service.zonal_affinity == ZonalAffinity::stay_within_zone) return true;
  if (service.spillover_ratio.is_zero()) return !eligible.empty();
  return service.spillover_ratio.reached_by(eligible.size(), matched.size());
}

}  // namespace

ZonalResult apply_zonal_affinity(const ServiceState& service, const Eligibility& eligibility,
                                 ZoneId client_zone) {
  ZonalResult result;
  result.modified_eligible = eligibility.original_eligible;
  if (service.zonal_affinity == ZonalAffinity::disabled || client_zone == no_zone ||
      eligibility.pool == ActivePool::dropped)
    return result;

  result.on = true;
  result.match_test = of_class(service, eligibility.pool == ActivePool::failover);
  result.matched = in_zone(service, result.match_test, client_zone);
  result.match = !result.matched.empty();
  if (!result.match) return result;

  MemberSet eligible = in_zone(service, eligibility.original_eligible, client_zone);
  result.ratio = static_cast<double>(eligible.size()) / static_cast<double>(result.matched.size());
  result.spilled = !stays(service, result.matched, eligible);
  if (!result.spilled) result.modified_eligible = eligible.empty() ? result.matched : std::move(eligible);
  return result;
}

}  // namespace zonelb::policy
