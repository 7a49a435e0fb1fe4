#include "config/key_table.hpp"

#include <algorithm>

namespace zonelb::config {

namespace {

/// Long values are cut.
std::string brief(std::string_view value) {
  constexpr std::size_t longest = 60;
  if (value.size() <= longest) return std::string(value);
  return fmt::format("{}…", value.substr(0, longest));
}

}  // namespace

Refusal refusal(std::string_view key, std::string_view value, std::string_view accepted, const Words& options,
                const Words& later) {
  const auto is_value = [given = normalised(value)](const std::string& word) {
    return given == normalised(word);
  };
  if (std::any_of(later.begin(), later.end(), is_value))
    return {fmt::format("{} '{}' is not supported yet; accepted: {}", key, brief(value), accepted), true};
  return {fmt::format("{} '{}' is not accepted; {}accepted: {}", key, brief(value),
                      did_you_mean(value, options), accepted)};
}

std::string with_later(std::string_view accepted, const Words& later) {
  if (later.empty()) return std::string(accepted);
  return fmt::format("{} ({}: not supported yet)", accepted, fmt::join(later, ", "));
}

Refusal takes_one_value(std::string_view key, const Item& item) {
  return {fmt::format("{} '{}' is not accepted; it takes one value without [ ]", key, item.text())};
}

std::size_t find_key(const Item& item, const Words& known, const Place& place) {
  const auto found = std::find(known.begin(), known.end(), item.key);
  if (found == known.end())
    throw place.error(fmt::format("unknown key '{}'; {}accepted keys: {}", item.key,
                                  did_you_mean(item.key, known), fmt::join(known, ", ")));
  return static_cast<std::size_t>(found - known.begin());
}

}  // namespace zonelb::config
