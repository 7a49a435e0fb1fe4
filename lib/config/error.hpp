#pragma once

#include <stdexcept>

namespace zonelb::config {

/// A configuration that cannot be used. The message is complete: where (file:line or argument), which
/// resource, key and value, and what would be accepted.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace zonelb::config
