#pragma once

#include "dataplane/batch.hpp"

namespace zonelb::dataplane {

/// Finds for each new connection at these positions a backend, or a refusal: batch.placement.
void place(const Context& context, Batch& batch, std::span<const std::uint16_t> positions);

/// Sends for the memory that placing these flows reads and counts in. What is read leads to what is read
/// next, so this waits as often as one flow has steps, and not for each flow by itself.
void prefetch_placements(const Context& context, const Batch& batch, const Selection& flows);

}  // namespace zonelb::dataplane
