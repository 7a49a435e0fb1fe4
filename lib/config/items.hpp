#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/draft.hpp"

namespace zonelb::config {

/// One `key=value` or `key=[value,value]` of a resource flag.
struct Item {
  std::string key;
  std::vector<std::string> values;
  bool bracketed = false;
  /// As written: "80" or "[80,443]".
  [[nodiscard]] std::string text() const;
};

struct Items {
  std::vector<Item> list;
  [[nodiscard]] const Item* find(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  /// The value of `key` in upper case with `_`; empty when it is not given.
  [[nodiscard]] std::string word(std::string_view key) const;
};

/// Reads `key=value,key=[v1,v2],key="a,b"`. Throws ConfigError at `place`.
Items read_items(std::string_view text, const Place& place);

/// The text between double quotes that `text` starts with, its escapes (\" \\ \r \n \t) resolved; takes it
/// off `text`. Throws ConfigError at `place` when it is not closed.
std::string take_quoted(std::string_view& text, const Place& place);

std::string_view trimmed(std::string_view text);

}  // namespace zonelb::config
