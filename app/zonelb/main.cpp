#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <rte_version.h>

#include "config/command_line.hpp"
#include "config/help.hpp"
#include "config/log.hpp"
#include "control/appliance.hpp"
#include "dataplane/eal.hpp"
#include "dataplane/engine.hpp"
#include "dataplane/machine_error.hpp"

namespace {

using namespace zonelb;

enum ExitCode { clean = 0, failed = 1, wrong_use = 2, machine_cannot = 3 };

void forward(const std::vector<std::string>& arguments, const config::Config& config) {
  const dataplane::Eal eal(config.machine.eal);
  dataplane::Engine engine(config.machine);
  control::Appliance appliance(
      config, [&] { return config::read_command_line(arguments).config; }, engine);
  appliance.run();
}

void act(const std::vector<std::string>& arguments) {
  const auto command = config::read_command_line(arguments);
  switch (command.action) {
    case config::Action::help:
      fmt::print("{}", config::help(command.help_topic));
      return;
    case config::Action::version:
      fmt::print("zonelb {} ({} build, {})\n", ZONELB_VERSION, ZONELB_BUILD, rte_version());
      return;
    case config::Action::check:
      fmt::print("configuration is valid\n");
      return;
    case config::Action::run:
      return forward(arguments, command.config);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    act({argv + 1, argv + argc});
    return clean;
  } catch (const config::ConfigError& error) {
    fmt::print(stderr, "zonelb: {}\n", error.what());
    return wrong_use;
  } catch (const dataplane::MachineError& error) {
    fmt::print(stderr, "zonelb: {}\n", error.what());
    return machine_cannot;
  } catch (const std::exception& error) {
    fmt::print(stderr, "zonelb: {}\n", error.what());
    return failed;
  }
}
