#pragma once

#include <string_view>

#include "http/message.hpp"

namespace zonelb::http {

/// Splits a request target (RFC 9112 section 3.2.1, "/path?key=value&…") into path and query of `request`.
/// False when it is not in that form or badly percent-encoded.
bool read_target(std::string_view target, Request& request);

}  // namespace zonelb::http
