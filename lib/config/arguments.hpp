#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/draft.hpp"

namespace zonelb::config {

/// The flags of a command line (without the program's name), files not yet read: `--name value` or
/// `--name=value`, names in full. Throws ConfigError: an unknown flag, a missing value, a stray word.
std::vector<FlagUse> read_arguments(std::span<const std::string> arguments);

}  // namespace zonelb::config
