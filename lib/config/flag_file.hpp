#pragma once

#include <string>
#include <vector>

#include "config/draft.hpp"

namespace zonelb::config {

/// The flags of a file and of the files it names, in order. `tier` is flag_file or pmd_config; a file of the
/// latter may hold port tuning only. `origin` is where the file was asked for.
/// Throws ConfigError: not readable, not `name = value`, an unknown flag, a file that includes itself.
std::vector<FlagUse> read_flag_file(const std::string& path, Tier tier, const std::string& origin);

}  // namespace zonelb::config
