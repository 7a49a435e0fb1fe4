#pragma once

#include "dataplane/batch.hpp"

namespace zonelb::dataplane {

/// What is not balanced: answers ARP, neighbour solicitations and echo requests for VIPs and own addresses,
/// tells the main core what was heard of neighbours, and drops the rest by name. Takes over `frame`.
void serve_locally(Context& context, rte_mbuf* frame, const packet::Parsed& parsed);

}  // namespace zonelb::dataplane
