#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "config/command_line.hpp"
#include "config/flags.hpp"
#include "packet/drop_reason.hpp"

/// The README says what the program does: flags, keys, defaults, drop reasons and metrics, in both
/// directions.
namespace zonelb::config::test {

namespace {

namespace fs = std::filesystem;

using Cells = std::vector<std::string>;

std::string content(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string& readme() {
  static const std::string text = content(README);
  return text;
}

std::set<std::string> matches(const std::string& text, const std::string& pattern, std::size_t group = 0) {
  const std::regex regex(pattern);
  std::set<std::string> result;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match)
    result.insert(match->str(group));
  return result;
}

const std::string option = "--[a-z][a-z0-9-]*";

/// Options of other programs that the README names.
const std::set<std::string>& others_options() {
  static const auto options = matches(
      "--vdev --no-huge --in-memory --file-prefix "                                     // EAL
      "--rule --client --destination --protocol --unhealthy --healthy --cases --json "  // zonelbctl
      "--keep --long --quick --wire --rounds --clients --vip --mac "                    // tools/
      "--flows --snapshots --table-only --swaps "                                       // zonelb-bench
      "--forward-mode --total-num-mbufs --stats-period "                                // testpmd
      "--cflags --unix-socket",                                                         // pkg-config, curl
      option);
  return options;
}

bool mentions(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// What follows `begin` up to `end`.
std::string part(const std::string& begin, const std::string& end) {
  CAPTURE(begin);
  const auto from = readme().find(begin);
  REQUIRE(from != std::string::npos);
  const auto start = from + begin.size();
  return readme().substr(start, readme().find(end, start) - start);
}

/// The rows of all tables in `text` whose first cell is code.
std::vector<Cells> rows(const std::string& text) {
  static const std::string separator = " |";
  std::vector<Cells> result;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    auto line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with("| `")) continue;
    line.erase(0, 1);
    Cells cells;
    for (auto bar = line.find(separator); bar != std::string::npos; bar = line.find(separator)) {
      cells.push_back(bar == 0 ? "" : line.substr(1, bar - 1));
      line.erase(0, bar + separator.size());
    }
    result.push_back(std::move(cells));
  }
  return result;
}

/// The row that begins with `name`, alone or with a form behind it.
std::optional<Cells> row_of(const std::vector<Cells>& table, const std::string& name) {
  for (const auto& cells : table) {
    const auto& first = cells.front();
    if (first.starts_with("`" + name) && mentions("` [", first.substr(name.size() + 1, 1))) return cells;
  }
  return std::nullopt;
}

std::vector<Cells> key_rows(const std::string& flag) {
  const auto section = part("Keys of `--" + flag + "`", "\n#");
  return rows(section.substr(0, section.find("\nKeys of ")));
}

/// Cells: name, values, default, meaning.
void check_row(const Cells& cells, const std::string& accepted, const std::string& fallback) {
  REQUIRE(cells.size() == 4);
  CHECK(mentions(cells[1], not_supported_yet) == mentions(accepted, not_supported_yet));
  CHECK(cells[2] == fallback);
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / "zonelb-readme-test-XXXXXX") {
    auto name = path_.string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("README has a row for every flag, with its default") {
  const auto table = rows(part("\n## Flags by task", "\n## "));
  for (const auto& flag : flags()) {
    CAPTURE(flag.name);
    const auto cells = row_of(table, "--" + flag.name);
    REQUIRE(cells.has_value());
    check_row(*cells, flag.accepted, flag.fallback);
  }
}

TEST_CASE("README has a row for every key of a flag, with its default, and none for another") {
  for (const auto& flag : flags()) {
    if (flag.keys.empty()) continue;
    CAPTURE(flag.name);
    const auto table = key_rows(flag.name);
    CHECK(table.size() == flag.keys.size());
    for (const auto& key : flag.keys) {
      CAPTURE(key.name);
      const auto cells = row_of(table, key.name + "=");
      REQUIRE(cells.has_value());
      check_row(*cells, key.accepted, key.required ? "required" : key.fallback);
    }
  }
}

TEST_CASE("every --flag in README exists") {
  const auto mentioned = matches(readme(), option);
  for (const auto& flag : mentioned) {
    CAPTURE(flag);
    CHECK((others_options().contains(flag) || find_flag(flag.substr(2)) != nullptr));
  }
  for (const auto& flag : others_options()) {
    CAPTURE(flag);
    CHECK(mentioned.contains(flag));
    CHECK(find_flag(flag.substr(2)) == nullptr);
  }
}

TEST_CASE("README has a row for every drop reason, and none for another") {
  const auto table = rows(part("\n### Drops", "\n### "));
  CHECK(table.size() == packet::drop_reasons);
  for (std::size_t i = 0; i < packet::drop_reasons; ++i) {
    const std::string reason(packet::name(static_cast<packet::DropReason>(i)));
    CAPTURE(reason);
    CHECK(row_of(table, reason).has_value());
  }
}

TEST_CASE("README names every metric, and none that is not there") {
  // "zonelb_port_" is followed by DPDK's names.
  const std::string by_port = "zonelb_port_";
  const auto families = matches(content(METRICS), "\"(zonelb_[a-z0-9_]+)\"", 1);
  CHECK(families.size() > 20);
  CHECK(families.contains(by_port));
  const auto table = rows(part("\n### Metrics", "\n### "));
  for (const auto& family : families) {
    CAPTURE(family);
    CHECK(row_of(table, family == by_port ? by_port + "…_total" : family).has_value());
  }
  for (const auto& name : matches(readme(), "zonelb_[a-z0-9_]+")) {
    CAPTURE(name);
    CHECK((name.starts_with(by_port) || families.contains(name)));
  }
}

TEST_CASE("the configuration of README's quick start is valid") {
  const Folder folder;
  fs::create_directory_symlink(PMD_CONFIG, folder.path() / "pmd-config");
  const auto file = folder.path() / "zonelb.flags";
  std::ofstream(file) << part("\n```ini\n", "```\n");
  const std::vector<std::string> arguments{"--flagfile", file.string(), "--check"};
  const auto command = read_command_line(arguments);
  CHECK(command.config.backends.size() == 3);
}

}  // namespace zonelb::config::test
