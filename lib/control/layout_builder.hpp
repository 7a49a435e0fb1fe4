#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "control/roster.hpp"
#include "control/routes.hpp"
#include "dataplane/snapshot.hpp"

namespace zonelb::control {

/// A layout, and what the main core needs to fill in targets.
struct BuiltLayout {
  std::shared_ptr<const dataplane::Layout> layout;
  /// By TargetId, of all items of the roster: everything but what health, neighbours and epochs say.
  std::vector<dataplane::Target> targets;
  /// By TargetId; nullopt: no way, or no such item.
  std::vector<std::optional<Route>> routes;
};

/// Turns a configuration into what workers read. `ports` are the views of the opened ports in the
/// configuration's order, `known_zones` the zones of the layout before, whose numbers stay.
BuiltLayout build_layout(const config::Config& config, const Roster& roster,
                         const std::vector<dataplane::PortView>& ports,
                         const std::vector<std::string>& known_zones);

}  // namespace zonelb::control
