#include "config/arguments.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "config/flags.hpp"

namespace zonelb::config {

namespace {

namespace options = boost::program_options;

std::string origin_of(std::string_view flag) {
  return fmt::format("argument --{}", flag);
}

ConfigError needs_value(const Flag& flag) {
  return ConfigError(fmt::format("{}: needs a value: --{} {}", origin_of(flag.name), flag.name, flag.form));
}

options::options_description describe_flags() {
  options::options_description described;
  for (const auto& flag : flags()) {
    auto* const value = options::value<std::string>();
    const bool may_stand_alone = flag.form.empty() || flag.form.starts_with('[');
    described.add_options()(flag.name.c_str(), may_stand_alone ? value->implicit_value({}) : value);
  }
  return described;
}

/// Program_options refuses `--name=`, which says that the value is empty.
std::vector<std::string> with_empty_values_apart(std::span<const std::string> arguments) {
  std::vector<std::string> result;
  for (const auto& argument : arguments) {
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) {
      result.push_back(argument.substr(0, argument.size() - 1));
      result.emplace_back();
    } else {
      result.push_back(argument);
    }
  }
  return result;
}

FlagUse to_use(const options::option& option) {
  if (option.position_key >= 0)
    throw ConfigError(
        fmt::format("argument '{}': expected a flag such as --flagfile FILE; zonelb --help lists all",
                    option.value.front()));
  const Flag* const flag = find_flag(option.string_key);
  if (option.unregistered || flag == nullptr)
    throw ConfigError(
        fmt::format("argument {}: {}", option.original_tokens.front(), unknown_flag(option.string_key)));
  const auto& tokens = option.original_tokens;
  if (tokens.size() > 1 && tokens[1].starts_with("--") &&
      find_flag(std::string_view(tokens[1]).substr(2, tokens[1].find('=') - 2)) != nullptr)
    throw needs_value(*flag);
  FlagUse use{.flag = flag->name, .value = {}, .origin = origin_of(flag->name), .tier = Tier::command_line};
  if (!option.value.empty()) use.value = option.value.front();
  if (use.value && flag->command_line_only && flag->form.empty())
    throw ConfigError(fmt::format("{}: takes no value, got '{}'", use.origin, *use.value));
  return use;
}

}  // namespace

std::vector<FlagUse> read_arguments(std::span<const std::string> arguments) {
  namespace style = options::command_line_style;
  const auto described = describe_flags();
  std::vector<FlagUse> uses;
  try {
    const auto parsed = options::command_line_parser(with_empty_values_apart(arguments))
                            .options(described)
                            .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
                            .allow_unregistered()
                            .run();
    for (const auto& option : parsed.options) uses.push_back(to_use(option));
  } catch (const options::error_with_option_name& error) {
    const auto name = error.get_option_name();
    const Flag* const flag = find_flag(std::string_view(name).substr(name.find_first_not_of('-')));
    if (flag == nullptr) throw ConfigError(error.what());
    throw needs_value(*flag);
  }
  return uses;
}

}  // namespace zonelb::config
