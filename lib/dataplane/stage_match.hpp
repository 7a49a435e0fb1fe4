#pragma once

#include "dataplane/batch.hpp"

namespace zonelb::dataplane {

/// Flows → forwarding rules; the rest of the selection is dropped. Starts the table's memory on its way.
void match(Context& context, Batch& batch);

}  // namespace zonelb::dataplane
