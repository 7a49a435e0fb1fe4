#pragma once

#include <string_view>

#include "policy/members.hpp"

namespace zonelb::policy {

enum class ActivePool : std::uint8_t { primary, failover, last_resort, dropped };
std::string_view name(ActivePool pool);

/// Who may receive a service's new connections before zonal affinity looks at the client's zone.
struct Eligibility {
  ActivePool pool = ActivePool::dropped;
  MemberSet original_eligible;
  friend bool operator==(const Eligibility&, const Eligibility&) = default;
};

/// Failover policy: semantics.md section 1.
Eligibility original_eligible(const ServiceState& service);

/// All members that are not draining: the document's "configured backends".
MemberSet configured(const ServiceState& service);

}  // namespace zonelb::policy
