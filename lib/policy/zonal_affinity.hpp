#pragma once

#include <optional>

#include "policy/eligibility.hpp"

namespace zonelb::policy {

/// Which set becomes the modified eligible one.
enum class Takes : std::uint8_t {
  original_eligible,
  /// The eligible members of the client's zone.
  eligible_in_zone,
  /// All members of the zone's, though none is eligible.
  matched
};

struct ZonalDecision {
  /// False: zonal affinity had no say (disabled, client not compatible, traffic dropped).
  bool on = false;
  bool match = false;
  bool spilled = false;
  Takes takes = Takes::original_eligible;
};

/// Decides for clients of a zone that has `matched` members in the match test, `eligible` of them originally
/// eligible (semantics.md section 2).
ZonalDecision decide(const ServiceState& service, ActivePool pool, ZoneId client_zone, std::size_t matched,
                     std::size_t eligible);

/// What zonal affinity makes of the original eligible backends for clients of one zone, with all the sets
/// that semantics.md section 2 names.
struct ZonalResult {
  /// False: zonal affinity had no say; the sets but modified_eligible are then empty.
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

/// Members of one zone, as far as they are of the class that the original eligible ones come from.
struct ZoneMembers {
  MemberSet matched;
  MemberSet eligible;
  /// Those of `matched` and the draining ones.
  std::size_t listed = 0;
};

/// The match test for all zones at once, by zone.
std::vector<ZoneMembers> members_by_zone(const ServiceState& service, const Eligibility& eligibility,
                                         std::size_t zone_count);

}  // namespace zonelb::policy
