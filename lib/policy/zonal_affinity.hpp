#pragma once

#include <optional>

#include "policy/eligibility.hpp"

namespace zonelb::policy {

/// What zonal affinity makes of the original eligible backends for clients of one zone (semantics.md section
/// 2).
struct ZonalResult {
  /// False: zonal affinity had no say (disabled, client not compatible, traffic dropped); the sets but
  /// modified_eligible are then empty.
  bool on = false;
  MemberSet match_test;
  MemberSet matched;
  MemberSet modified_eligible;
  bool match = false;
  bool spilled = false;
  /// Eligible members of the zone over all of them; null without a match.
  std::optional<double> ratio;
};

ZonalResult apply_zonal_affinity(const ServiceState& service, const Eligibility& eligibility,
                                 ZoneId client_zone);

}  // namespace zonelb::policy
