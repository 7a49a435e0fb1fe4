#include "policy/eligibility.hpp"

namespace zonelb::policy {

std::string_view name(ActivePool pool) {
  switch (pool) {
    case ActivePool::primary:
      return "primary";
    case ActivePool::failover:
      return "failover";
    case ActivePool::last_resort:
      return "last_resort";
    case ActivePool::dropped:
      break;
  }
  return "dropped";
}

namespace {

struct Pools {
  MemberSet primaries;
  MemberSet failovers;
  MemberSet healthy_primaries;
  MemberSet healthy_failovers;
};

Pools split(const ServiceState& service) {
  Pools pools;
  Position position = 0;
  for (const Member& member : service.members) {
    const Position i = position++;
    if (member.draining) continue;
    (member.failover ? pools.failovers : pools.primaries).push_back(i);
    if (member.healthy) (member.failover ? pools.healthy_failovers : pools.healthy_primaries).push_back(i);
  }
  return pools;
}

}  // namespace

Eligibility original_eligible(const ServiceState& service) {
  Pools pools = split(service);
  Eligibility primary{ActivePool::primary, pools.healthy_primaries};
  Eligibility failover{ActivePool::failover, pools.healthy_failovers};

  if (pools.healthy_primaries.empty() && pools.healthy_failovers.empty()) {
    if (service.drop_traffic_if_unhealthy || pools.primaries.empty()) return {ActivePool::dropped, {}};
    return {ActivePool::last_resort, std::move(pools.primaries)};
  }
  if (pools.failovers.empty()) return primary;
  if (pools.healthy_primaries.empty()) return failover;
  if (pools.healthy_failovers.empty()) return primary;
  if (service.failover_ratio.is_zero()) return primary;
  return service.failover_ratio.reached_by(pools.healthy_primaries.size(), pools.primaries.size()) ? primary
                                                                                                   : failover;
}

MemberSet configured(const ServiceState& service) {
  MemberSet result;
  Position position = 0;
  for (const Member& member : service.members) {
    if (!member.draining) result.push_back(position);
    ++position;
  }
  return result;
}

}  // namespace zonelb::policy
