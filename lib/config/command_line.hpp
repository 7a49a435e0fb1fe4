#pragma once

#include <span>
#include <string>

#include "config/config.hpp"
#include "config/error.hpp"

namespace zonelb::config {

enum class Action { run, check, help, version };

struct CommandLine {
  Action action = Action::run;
  /// For help(); empty: the overview.
  std::string help_topic;
  /// Validated with `run` and `check`, untouched with the others.
  Config config;
};

/// Reads zonelb's arguments (without the program's name) and the files they name. --help and --version win
/// over everything else. Throws ConfigError.
CommandLine read_command_line(std::span<const std::string> arguments);

/// Reads flag files for a policy decision: like read_command_line, but ports may be missing.
/// Throws ConfigError.
Config read_flag_files(std::span<const std::string> paths);

/// Throws ConfigError naming everything that only a start can change and that differs (interface.md: a
/// reload that touches such a thing is refused whole).
void require_same_machine(const Config& running, const Config& reloaded);

}  // namespace zonelb::config
