#pragma once

#include <string>

#include "control/picture.hpp"

namespace zonelb::control {

/// All metrics of interface.md in Prometheus' text format.
std::string render_metrics(const Picture& picture);

}  // namespace zonelb::control
