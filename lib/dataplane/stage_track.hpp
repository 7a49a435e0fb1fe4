#pragma once

#include "dataplane/batch.hpp"

namespace zonelb::dataplane {

/// Connections → targets, to which their packets are sent at once: a tracked connection keeps its backend,
/// another is placed by its service's plan and recorded, or dropped when the policy refuses it (semantics.md
/// section 4). Packets of one flow keep their order; those of new connections come after the others.
template <class Table>
void track(Context& context, Batch& batch, const Selection& flows, Table& table);

extern template void track(Context&, Batch&, const Selection&, conntrack::Table4&);
extern template void track(Context&, Batch&, const Selection&, conntrack::Table6&);

/// Has the connection that `entry` records been ended by a change of configuration or health?
/// `unknown`: the entry is of a newer snapshot than this worker's, so it is for others to judge.
enum class Standing : std::uint8_t { live, ended, unknown };

[[nodiscard]] inline Standing standing(const Snapshot& snapshot, const conntrack::Entry& entry, bool tcp) {
  if (entry.target >= snapshot.targets.size()) return Standing::unknown;
  const Target& target = snapshot.targets[entry.target];
  // Epochs go round; half of the circle lies behind.
  const auto ahead = static_cast<std::int16_t>(entry.epoch - target.epoch[tcp ? 1 : 0]);
  if (ahead < 0) return Standing::ended;
  return target.in_use() ? Standing::live : Standing::unknown;
}

}  // namespace zonelb::dataplane
