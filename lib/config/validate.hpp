#pragma once

#include "config/draft.hpp"

namespace zonelb::config {

/// Must there be a port? Without one, what depends on ports is not checked.
enum class Ports { required, optional };

/// Checks all that no single key can tell: references, families, overlaps, limits. Throws ConfigError with
/// the place of the culprit.
void validate(const Draft& draft, Ports ports);

}  // namespace zonelb::config
