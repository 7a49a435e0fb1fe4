#pragma once

#include <optional>
#include <string>
#include <vector>

namespace zonelb::ctl {

/// What follows `zonelbctl` on the command line.
struct Arguments {
  std::string command;
  /// The command's own argument: a backend's name.
  std::vector<std::string> operands;
  std::string socket;
  bool json = false;

  // explain
  std::vector<std::string> flag_files;
  std::string rule;
  std::string client;
  std::optional<std::string> destination;
  std::optional<std::string> protocol;
  std::optional<std::string> unhealthy;
  std::optional<std::string> healthy;
  std::optional<std::string> cases;

  // connections
  std::string backend;
};

}  // namespace zonelb::ctl
