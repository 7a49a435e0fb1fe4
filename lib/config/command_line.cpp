#include "config/command_line.hpp"

#include <algorithm>

#include "config/arguments.hpp"
#include "config/flag_file.hpp"
#include "config/flags.hpp"
#include "config/validate.hpp"

namespace zonelb::config {

namespace {

using Uses = std::vector<FlagUse>;

void append(Uses& uses, const Uses& more) {
  uses.insert(uses.end(), more.begin(), more.end());
}

/// Files come before the command line, whatever the order of the arguments.
Uses with_files_read(const Uses& arguments) {
  Uses uses;
  Uses direct;
  for (const auto& use : arguments) {
    if (use.flag == "flagfile") {
      append(uses, read_flag_file(use.value.value_or(""), Tier::flag_file, use.origin));
    } else if (use.flag == "pmd-config") {
      append(uses, read_flag_file(use.value.value_or(""), Tier::pmd_config, use.origin));
    } else {
      direct.push_back(use);
    }
  }
  append(uses, direct);
  std::stable_sort(uses.begin(), uses.end(),
                   [](const FlagUse& a, const FlagUse& b) { return a.tier < b.tier; });
  return uses;
}

/// Of two uses of a single flag in one tier only equal ones are let through. `uses` are sorted by tier.
void refuse_contradictions(const Uses& uses) {
  std::map<std::string, const FlagUse*> last;
  for (const auto& use : uses) {
    if (find_flag(use.flag)->repeatable) continue;
    const auto*& earlier = last[use.flag];
    if (earlier != nullptr && earlier->tier == use.tier && earlier->value != use.value)
      throw Place{use.origin, {}}.error(fmt::format("{} '{}' contradicts '{}' given at {}", use.flag,
                                                    use.value.value_or("true"),
                                                    earlier->value.value_or("true"), earlier->origin));
    earlier = &use;
  }
}

/// What follows from several flags together.
void complete(Draft& draft) {
  Config& config = draft.config;
  if (!draft.has("connections6")) config.machine.connections6 = config.machine.connections / 2;
  for (auto& network : config.client_networks) {
    // zone= says more than the own region's name.
    if (!network.zone.empty() && network.region == config.region) network.region.clear();
    if (!network.zone.empty()) config.zones.push_back(network.zone);
  }
  std::sort(config.zones.begin(), config.zones.end());
  config.zones.erase(std::unique(config.zones.begin(), config.zones.end()), config.zones.end());
}

Config build(const Uses& uses, Ports ports) {
  refuse_contradictions(uses);
  Draft draft;
  for (const auto& use : uses)
    if (const auto& apply = find_flag(use.flag)->apply) apply(draft, use);
  complete(draft);
  validate(draft, ports);
  return std::move(draft.config);
}

/// Asking for help must work whatever else is wrong.
bool asks_for_help_or_version(const std::string& argument, CommandLine& result) {
  if (argument == "--version") {
    result.action = Action::version;
  } else if (argument == "--help") {
    result.action = Action::help;
  } else if (argument.starts_with("--help=")) {
    result.action = Action::help;
    result.help_topic = argument.substr(argument.find('=') + 1);
  } else {
    return false;
  }
  return true;
}

}  // namespace

CommandLine read_command_line(std::span<const std::string> arguments) {
  CommandLine result;
  for (const auto& argument : arguments)
    if (asks_for_help_or_version(argument, result)) return result;
  const auto uses = read_arguments(arguments);
  for (const auto& use : uses)
    if (use.flag == "check") result.action = Action::check;
  result.config = build(with_files_read(uses), Ports::required);
  return result;
}

Config read_flag_files(std::span<const std::string> paths) {
  Uses uses;
  for (const auto& path : paths)
    uses.push_back(
        {.flag = "flagfile", .value = path, .origin = "argument --flagfile", .tier = Tier::command_line});
  return build(with_files_read(uses), Ports::optional);
}

void require_same_machine(const Config& running, const Config& reloaded) {
  Words differences;
  for (const auto& flag : flags()) {
    if (!flag.start_only) continue;
    const auto before = flag.start_only(running);
    const auto after = flag.start_only(reloaded);
    if (before != after)
      differences.push_back(fmt::format("{} (running: '{}', asked for: '{}')", flag.name, before, after));
  }
  if (!differences.empty())
    throw ConfigError(
        fmt::format("a reload cannot change {}; restart zonelb to change it", fmt::join(differences, ", ")));
}

}  // namespace zonelb::config
