#include "config/help.hpp"

#include <algorithm>

#include "config/flags.hpp"

namespace zonelb::config {

namespace {

constexpr std::size_t width = 100;

/// `text` in lines of at most `width`, each after `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string result;
  std::string line;
  const auto flush = [&] {
    result += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (!line.empty() && indent + line.size() + 1 + end > width) flush();
    if (!line.empty()) line += ' ';
    line += text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!line.empty()) flush();
  return result;
}

std::string synopsis(const Flag& flag) {
  const bool attached = flag.form.empty() || flag.form.starts_with('[');
  return fmt::format("--{}{}{}", flag.name, attached ? "" : " ", flag.form);
}

/// "accepted (default 5s)", or whatever of it there is.
std::string values(std::string_view accepted, std::string_view fallback) {
  if (fallback.empty()) return std::string(accepted);
  return fmt::format("{} (default: {})", accepted, fallback);
}

std::string key_details(const KeyHelp& key) {
  return fmt::format("      {}=\n", key.name) +
         wrapped((key.required ? "Required: " : "") + values(key.accepted, key.fallback), 10) +
         wrapped(key.description, 10);
}

std::string details(const Flag& flag) {
  Words marks;
  if (flag.repeatable) marks.emplace_back("repeatable");
  if (flag.command_line_only) marks.emplace_back("command line only");
  if (flag.port_tuning) marks.emplace_back("port tuning");
  if (flag.start_only) marks.emplace_back("not changed by a reload");
  std::string text = fmt::format("  {}\n", synopsis(flag)) + wrapped(flag.description, 6);
  if (!flag.accepted.empty()) text += wrapped("Value: " + values(flag.accepted, flag.fallback), 6);
  if (!marks.empty()) text += wrapped(fmt::format("({})", fmt::join(marks, "; ")), 6);
  for (const auto& key : flag.keys) text += key_details(key);
  return text;
}

/// The first sentence.
std::string summary(const Flag& flag) {
  if (flag.accepted == not_supported_yet) return flag.accepted;
  const auto end = flag.description.find_first_of(".:(");
  auto text = flag.description.substr(0, end);
  if (text.ends_with(' ')) text.pop_back();
  if (!flag.fallback.empty()) text += fmt::format(" (default: {})", flag.fallback);
  return text;
}

std::string overview() {
  std::string text =
      "zonelb: a layer-4 load balancer that keeps traffic in the client's zone\n\n"
      "  zonelb --flagfile FILE…             run\n"
      "  zonelb --flagfile FILE… --check     only validate: exit code 0 or 2\n\n"
      "Every flag may stand in a flag file as 'name = value'. A resource is written key=value,key=[v1,v2]; a "
      "value\n"
      "with a comma in double quotes. --help=TOPIC (the words in brackets) or --help=FLAG explains values "
      "and keys.\n";
  for (const auto& topic : topics()) {
    text += fmt::format("\n{} [{}]\n", topic.title, topic.name);
    for (const auto& flag : flags()) {
      if (flag.topic != topic.name) continue;
      const auto shown = synopsis(flag);
      const auto brief = shown.size() <= 34 ? shown : fmt::format("--{} key=value,…", flag.name);
      text += fmt::format("  {:<34}  {}\n", brief, summary(flag));
    }
  }
  return text;
}

std::string topic_page(std::string_view name, std::string_view title) {
  std::string text = fmt::format("{}\n", title);
  for (const auto& flag : flags())
    if (flag.topic == name) text += "\n" + details(flag);
  return text;
}

}  // namespace

std::string help(std::string_view topic) {
  if (topic.empty()) return overview();
  Words known;
  for (const auto& [name, title] : topics()) {
    if (name == topic) return topic_page(name, title);
    known.push_back(name);
  }
  const auto name = topic.starts_with("--") ? topic.substr(2) : topic;
  if (const Flag* const flag = find_flag(name)) return details(*flag);
  auto all = known;
  const auto names = flag_names();
  all.insert(all.end(), names.begin(), names.end());
  throw ConfigError(fmt::format("argument --help: no topic '{}'; {}topics: {}, and every flag's name", topic,
                                did_you_mean(name, all), fmt::join(known, ", ")));
}

}  // namespace zonelb::config
