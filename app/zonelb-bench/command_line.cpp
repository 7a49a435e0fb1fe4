#include "command_line.hpp"

#include <sstream>

#include <fmt/format.h>

namespace zonelb::bench {

namespace options_lib = boost::program_options;

bool read_command_line(options_lib::options_description& all, int argc, char** argv,
                       options_lib::variables_map& values) {
  bool help_wanted = false;
  all.add_options()("help", options_lib::bool_switch(&help_wanted), "this text");
  options_lib::store(options_lib::parse_command_line(argc, argv, all), values);
  options_lib::notify(values);
  if (!help_wanted) return true;
  std::ostringstream text;
  text << all;
  fmt::print("{}", text.str());
  return false;
}

void require_counts(const options_lib::variables_map& values, const std::vector<std::string>& names) {
  for (const auto& name : names)
    if (values[name].as<unsigned>() == 0)
      throw options_lib::error(fmt::format("--{} must be 1 or more", name));
}

std::vector<std::string> eal_arguments(unsigned lcores, const std::string& more) {
  std::vector<std::string> arguments{"--no-huge",
                                     "--no-shconf",
                                     "--no-pci",
                                     "--no-telemetry",
                                     "--log-level=4",
                                     "-m",
                                     "256",
                                     "-l",
                                     fmt::format("0-{}", lcores - 1)};
  std::istringstream words(more);
  for (std::string word; words >> word;) arguments.push_back(word);
  return arguments;
}

}  // namespace zonelb::bench
