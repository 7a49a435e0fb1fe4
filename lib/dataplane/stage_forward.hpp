#pragma once

#include "dataplane/batch.hpp"

namespace zonelb::dataplane {

/// Targets → frames on the wire: MAC rewrite or encapsulation, and the counters of what was sent.
void forward(Context& context, Batch& batch, const Selection& flows);

}  // namespace zonelb::dataplane
