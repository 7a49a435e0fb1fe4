#pragma once

#include "arguments.hpp"

namespace zonelb::ctl {

/// Asks or tells the running appliance: status, services, connections, drops, drain, undrain, reload. Returns
/// the exit code: 0, or 1 when the appliance refused.
int ask_appliance(const Arguments& arguments);

/// Is this a command of ask_appliance's?
bool is_live_command(const std::string& command);

}  // namespace zonelb::ctl
