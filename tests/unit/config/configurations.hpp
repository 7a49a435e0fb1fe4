#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "config/command_line.hpp"

namespace zonelb::config::test {

using Arguments = std::vector<std::string>;

/// A small good configuration, to be extended.
inline const Arguments base{"--port",
                            "name=0,address=10.0.0.2/16",
                            "--zone",
                            "zone-a",
                            "--zone",
                            "zone-b",
                            "--health-check",
                            "name=hc,protocol=TCP",
                            "--backend-service",
                            "name=web,health-check=hc",
                            "--backend",
                            "service=web,name=web-a1,address=10.0.1.1,zone=zone-a",
                            "--forwarding-rule",
                            "name=web-v4,address=10.0.9.1,protocol=TCP,ports=80,backend-service=web"};

inline Arguments with(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

inline CommandLine read(const Arguments& arguments) {
  return read_command_line(arguments);
}

/// The Config of `base` and `more`.
inline Config read_base_and(const Arguments& more) {
  return read(with(base, more)).config;
}

/// The message of the ConfigError; empty when there is none.
template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}

/// A directory of flag files that is gone afterwards.
class FlagFiles {
 public:
  FlagFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "zonelb-config-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  FlagFiles(const FlagFiles&) = delete;
  FlagFiles& operator=(const FlagFiles&) = delete;
  ~FlagFiles() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace zonelb::config::test
