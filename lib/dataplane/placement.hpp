#pragma once

#include <optional>

#include "dataplane/batch.hpp"
#include "policy/plan.hpp"

namespace zonelb::dataplane {

/// Where the plan sends a new connection, or why it goes nowhere; then nothing else is set.
struct Placement {
  conntrack::Entry entry;
  policy::Choice choice;
  std::optional<packet::DropReason> refusal;
};

/// A backend for the new connection at position `i`, or a refusal.
void place(const Context& context, const Batch& batch, std::uint16_t i, Placement& placement);

/// Counts a new connection that goes to its placement's target.
void count_placed(const Context& context, const Rule& rule, const Placement& placement);

/// Sends for the memory that placing these flows reads and counts in. What is read leads to what is read
/// next, so this waits as often as one flow has steps, and not for each flow by itself.
void prefetch_placements(const Context& context, const Batch& batch, const Selection& flows);

}  // namespace zonelb::dataplane
