#pragma once

#include "dataplane/batch.hpp"

namespace zonelb::dataplane {

/// Frames → flows. What is no TCP or UDP flow is answered (ARP, neighbour discovery, echo) or dropped here.
void parse(Context& context, Batch& batch);

}  // namespace zonelb::dataplane
