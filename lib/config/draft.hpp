#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/config.hpp"
#include "config/error.hpp"

namespace zonelb::config {

/// Where something was written and what it is: "backends.flags:12" and "backend web-a1".
struct Place {
  std::string origin;
  std::string label;
  [[nodiscard]] ConfigError error(std::string_view message) const;
};

/// Later ones win over earlier ones.
enum class Tier { pmd_config, flag_file, command_line };

/// One appearance of a flag.
struct FlagUse {
  std::string flag;
  std::optional<std::string> value;
  /// "main.flags:3" or "argument --port".
  std::string origin;
  Tier tier = Tier::command_line;
};

/// A Config that is not yet validated, with the place of everything in it.
struct Draft {
  Config config;
  /// By flag, in the order of the Config's lists.
  std::map<std::string, std::vector<Place>, std::less<>> places;
  /// Origin of each named resource, by label.
  std::unordered_map<std::string, std::string> named;

  [[nodiscard]] const Place& place(std::string_view flag, std::size_t index = 0) const;
  [[nodiscard]] bool has(std::string_view flag) const { return places.contains(flag); }
  /// Throws ConfigError when a resource of this label was added before.
  void add_named(const Place& place);
};

}  // namespace zonelb::config
