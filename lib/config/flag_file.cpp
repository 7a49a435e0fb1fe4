#include "config/flag_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "config/flags.hpp"
#include "config/items.hpp"

namespace zonelb::config {

namespace {

namespace fs = std::filesystem;

/// The line without its comment: a '#' at the start or after a blank, outside double quotes.
std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  bool after_blank = true;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == '#' && !quoted && after_blank) {
      return line.substr(0, i);
    }
    after_blank = c == ' ' || c == '\t';
  }
  return line;
}

/// `name`, `name = value` or `--name = value`, the value perhaps in double quotes as a whole.
FlagUse read_line(std::string_view line, const Place& place, Tier tier) {
  if (line.starts_with("--")) line.remove_prefix(2);
  const auto end = std::min(line.find_first_of("= \t"), line.size());
  FlagUse use{.flag = std::string(line.substr(0, end)), .value = {}, .origin = place.origin, .tier = tier};
  const auto rest = trimmed(line.substr(end));
  const Flag* const flag = find_flag(use.flag);
  if (flag == nullptr) throw place.error(unknown_flag(use.flag));
  if (flag->command_line_only) throw place.error(fmt::format("{} is for the command line only", use.flag));
  if (tier == Tier::pmd_config && !flag->port_tuning) {
    Words tuning;
    for (const auto& known : flags())
      if (known.port_tuning) tuning.push_back(known.name);
    throw place.error(
        fmt::format("{} is not for a pmd-config file; accepted: {}", use.flag, fmt::join(tuning, ", ")));
  }
  if (rest.empty()) {
    if (!flag->form.empty())
      throw place.error(fmt::format("{0} needs a value: {0} = {1}", use.flag, flag->form));
    return use;
  }
  if (!rest.starts_with('=')) throw place.error(fmt::format("expected '=' after '{}'", use.flag));
  auto value = trimmed(rest.substr(1));
  if (value.starts_with('"')) {
    use.value = take_quoted(value, place);
    value = trimmed(value);
    if (!value.empty())
      throw place.error(fmt::format("expected nothing after the closing '\"', got '{}'", value));
  } else {
    use.value = std::string(value);
  }
  return use;
}

class Reader {
 public:
  std::vector<FlagUse> uses;

  void read(const fs::path& path, Tier tier, const Place& asked_for) {
    auto file = open(path, asked_for);
    const auto identity = fs::weakly_canonical(path);
    if (std::find(open_.begin(), open_.end(), identity) != open_.end())
      throw asked_for.error(fmt::format("'{}' includes itself", path.string()));
    open_.push_back(identity);
    std::string logical;
    std::string physical;
    std::size_t number = 0;
    std::size_t first = 1;
    while (std::getline(file, physical)) {
      ++number;
      if (logical.empty()) first = number;
      auto line = trimmed(without_comment(physical));
      const bool continues = line.ends_with('\\');
      if (continues) line = trimmed(line.substr(0, line.size() - 1));
      logical += line;
      if (continues && file.peek() != std::ifstream::traits_type::eof()) continue;
      if (!logical.empty())
        add(read_line(logical, {fmt::format("{}:{}", path.string(), first), {}}, tier), path);
      logical.clear();
    }
    open_.pop_back();
  }

 private:
  static std::ifstream open(const fs::path& path, const Place& asked_for) {
    const auto refuse = [&](std::string_view why) {
      return asked_for.error(fmt::format("cannot read '{}': {}", path.string(), why));
    };
    if (fs::is_directory(path)) throw refuse("it is a directory");
    errno = 0;
    std::ifstream file(path);
    if (!file) throw refuse(std::strerror(errno));
    return file;
  }

  void add(FlagUse use, const fs::path& path) {
    if (use.flag != "flagfile" && use.flag != "pmd-config") {
      uses.push_back(std::move(use));
      return;
    }
    // An absolute path stays what it is.
    const auto next = path.parent_path() / use.value.value_or("");
    read(next, use.flag == "flagfile" ? Tier::flag_file : Tier::pmd_config, {use.origin, use.flag});
  }

  std::vector<fs::path> open_;
};

}  // namespace

std::vector<FlagUse> read_flag_file(const std::string& path, Tier tier, const std::string& origin) {
  Reader reader;
  reader.read(path, tier, {origin, {}});
  return std::move(reader.uses);
}

}  // namespace zonelb::config
