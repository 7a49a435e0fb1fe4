#pragma once

#include <stdexcept>

namespace zonelb::ctl {

/// The command was given in a way it cannot be understood: exit code 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace zonelb::ctl
