#pragma once

#include "control/appliance.hpp"
#include "http/message.hpp"

namespace zonelb::control {

/// Answers /metrics, /healthz, /readyz and /v1/… (README: "API"). What changes the appliance is accepted on
/// the control socket alone.
http::Answer answer(Appliance& appliance, const http::Request& request);

}  // namespace zonelb::control
