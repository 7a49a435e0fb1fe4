#include "config/suggest.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace zonelb::config {

namespace {

/// Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string normalised(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (c == '-') c = '_';
  }
  return result;
}

std::string did_you_mean(std::string_view text, const Words& known) {
  const std::string* best = nullptr;
  std::size_t least = 0;
  for (const auto& word : known) {
    const auto steps = distance(normalised(text), normalised(word));
    if (steps * 3 > std::max(text.size(), word.size())) continue;
    if (best == nullptr || steps < least) {
      best = &word;
      least = steps;
    }
  }
  return best == nullptr ? std::string() : fmt::format("did you mean '{}'? ", *best);
}

std::string listing(const Words& words) {
  constexpr std::size_t most = 12;
  if (words.empty()) return "none";
  if (words.size() <= most) return fmt::format("{}", fmt::join(words, ", "));
  return fmt::format("{} and {} more", fmt::join(words.begin(), words.begin() + most, ", "),
                     words.size() - most);
}

std::string unknown_reference(std::string_view key, std::string_view name, std::string_view what,
                              const Words& known) {
  return fmt::format("{} '{}' is not {}; {}known: {}", key, name, what, did_you_mean(name, known),
                     listing(known));
}

}  // namespace zonelb::config
