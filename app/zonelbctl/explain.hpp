#pragma once

#include "arguments.hpp"

namespace zonelb::ctl {

/// Who would get a packet, and why: from flag files, or from the running appliance when none are given. With
/// --cases, a JSON line out for each one in; a line that cannot be answered gives {"error": …}. Returns the
/// exit code.
int explain(const Arguments& arguments);

}  // namespace zonelb::ctl
