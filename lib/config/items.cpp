#include "config/items.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "config/syntax.hpp"

namespace zonelb::config {

namespace {

constexpr std::string_view blanks = " \t\r\n";

/// An unquoted value ends at one of `ends`.
std::string take_value(std::string_view& text, std::string_view ends, const Place& place) {
  text = trimmed(text);
  if (text.starts_with('"')) return take_quoted(text, place);
  const auto length = std::min(text.find_first_of(ends), text.size());
  std::string value(trimmed(text.substr(0, length)));
  text.remove_prefix(length);
  return value;
}

void take_list(std::string_view& text, Item& item, const Place& place) {
  item.bracketed = true;
  do {
    text.remove_prefix(1);
    item.values.push_back(take_value(text, ",]", place));
    if (item.values.back().empty()) throw place.error(fmt::format("{}: an empty value in [...]", item.key));
    text = trimmed(text);
  } while (text.starts_with(','));
  if (!text.starts_with(']')) throw place.error(fmt::format("{}: no closing ']'", item.key));
  text.remove_prefix(1);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string take_quoted(std::string_view& text, const Place& place) {
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] != '\\') {
      value += text[i];
      continue;
    }
    constexpr std::string_view letters = "\"\\rnt";
    constexpr std::string_view meanings = "\"\\\r\n\t";
    const auto escape = i + 1 < text.size() ? letters.find(text[i + 1]) : std::string_view::npos;
    if (escape == std::string_view::npos)
      throw place.error("'\\' in double quotes must be followed by one of \" \\ r n t");
    value += meanings[escape];
    ++i;
  }
  throw place.error("no closing '\"'");
}

std::string Item::text() const {
  return bracketed ? fmt::format("[{}]", fmt::join(values, ",")) : values.front();
}

const Item* Items::find(std::string_view key) const {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Item& item) { return item.key == key; });
  return found == list.end() ? nullptr : &*found;
}

std::string Items::word(std::string_view key) const {
  const Item* const item = find(key);
  return item == nullptr ? std::string() : normalised(item->text());
}

Items read_items(std::string_view text, const Place& place) {
  Items items;
  text = trimmed(text);
  while (true) {
    const auto equals = text.find_first_of("=,");
    if (equals == std::string_view::npos || text[equals] == ',' || trimmed(text.substr(0, equals)).empty())
      throw place.error(fmt::format("expected key=value, got '{}'", trimmed(text.substr(0, text.find(',')))));
    Item item;
    item.key = trimmed(text.substr(0, equals));
    if (items.has(item.key)) throw place.error(fmt::format("key '{}' is given twice", item.key));
    text = trimmed(text.substr(equals + 1));
    if (text.starts_with('[')) {
      take_list(text, item, place);
    } else {
      item.values.push_back(take_value(text, ",", place));
    }
    items.list.push_back(std::move(item));
    text = trimmed(text);
    if (text.empty()) return items;
    if (!text.starts_with(',')) throw place.error(fmt::format("expected ',' before '{}'", text));
    text.remove_prefix(1);
  }
}

}  // namespace zonelb::config
