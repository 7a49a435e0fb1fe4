#include "config/words.hpp"

namespace zonelb::config {

std::optional<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  char quote = 0;
  bool inside = false;
  for (const char c : text) {
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) return std::nullopt;
  return words;
}

}  // namespace zonelb::config
