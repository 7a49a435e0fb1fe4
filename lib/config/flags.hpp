#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/draft.hpp"
#include "config/key_table.hpp"

/// The one table of flags: parsing, precedence, reload and help all come from it.
namespace zonelb::config {

struct Flag {
  std::string name;
  /// What follows the name: "FILE", "N"; empty: nothing.
  std::string form;
  /// Where help shows it, one of topics().
  std::string topic;
  std::string description;
  /// What its value may be, and the default as text; empty for resource flags, whose keys say it.
  std::string accepted = {};
  std::string fallback = {};
  bool repeatable = false;
  /// Not in a flag file.
  bool command_line_only = false;
  /// May stand in a pmd-config file.
  bool port_tuning = false;
  std::vector<KeyHelp> keys = {};
  /// Adds one use to the draft; throws ConfigError. Empty for those that say where to read or what to do.
  std::function<void(Draft&, const FlagUse&)> apply = {};
  /// The value, for those that only a start can change.
  std::function<std::string(const Config&)> start_only = {};
};

struct Topic {
  std::string name;
  std::string title;
};

const std::vector<Topic>& topics();
const std::vector<Flag>& flags();
/// Nullptr when there is no such flag.
const Flag* find_flag(std::string_view name);
Words flag_names();
/// The keys of a resource flag; empty for the others.
Words key_names(std::string_view flag);
/// "unknown flag 'x'; did you mean …"
std::string unknown_flag(std::string_view name);

}  // namespace zonelb::config
