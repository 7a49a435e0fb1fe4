#pragma once

#include "dataplane/batch.hpp"

namespace zonelb::dataplane {

/// Connections → targets: a tracked one keeps its backend, another is placed by its service's plan and
/// recorded (semantics.md section 4). Flows that the policy refuses leave the selection.
template <class Table>
void track(Context& context, Batch& batch, Selection& flows, Table& table);

extern template void track(Context&, Batch&, Selection&, conntrack::Table4&);
extern template void track(Context&, Batch&, Selection&, conntrack::Table6&);

/// Has the connection that `entry` records been ended by a change of configuration or health?
[[nodiscard]] inline bool is_ended(const Snapshot& snapshot, const conntrack::Entry& entry, bool tcp) {
  if (entry.target >= snapshot.targets.size()) return true;
  const Target& target = snapshot.targets[entry.target];
  return !target.in_use || target.epoch[tcp ? 1 : 0] != entry.epoch;
}

}  // namespace zonelb::dataplane
