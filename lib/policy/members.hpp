#pragma once

#include <cstdint>
#include <vector>

#include "config/config.hpp"
#include "policy/member_name.hpp"

namespace zonelb::policy {

/// Number of a zone in the snapshot it belongs to. `no_zone` stands for clients that are not compatible.
using ZoneId = std::uint16_t;
inline constexpr ZoneId no_zone = 0;

/// One backend as one of its services sees it.
struct Member {
  MemberName name;
  ZoneId zone = no_zone;
  bool failover = false;
  std::uint32_t weight = 1;
  bool healthy = true;
  bool draining = false;
  friend bool operator==(const Member&, const Member&) = default;
};

/// A position in ServiceState::members.
using Position = std::uint16_t;
/// Positions, ascending.
using MemberSet = std::vector<Position>;

/// All that decides where a service's new connections go. Members are sorted by name.
struct ServiceState {
  std::string name;
  config::ZonalAffinity zonal_affinity = config::ZonalAffinity::disabled;
  config::Ratio spillover_ratio;
  config::Ratio failover_ratio;
  bool drop_traffic_if_unhealthy = false;
  std::vector<Member> members;
  friend bool operator==(const ServiceState&, const ServiceState&) = default;
};

}  // namespace zonelb::policy
