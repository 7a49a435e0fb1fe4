#pragma once

#include <stdexcept>

namespace zonelb::dataplane {

/// The machine cannot do what it was asked to: exit code 3. The text says what is missing and the command
/// that mends it.
class MachineError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace zonelb::dataplane
