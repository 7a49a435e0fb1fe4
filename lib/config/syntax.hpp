#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "config/limits.hpp"
#include "config/suggest.hpp"

/// How single values are written.
namespace zonelb::config {

template <class V>
struct Syntax {
  /// What help and errors say is accepted.
  std::string accepted;
  std::function<std::optional<V>(std::string_view)> parse;
  std::function<std::string(const V&)> format;
  /// The words of a choice, to suggest the nearest.
  Words options = {};
  /// Words that are known and not supported yet.
  Words later = {};
};

/// Digits only; nullopt for anything else and above 2^64-1.
std::optional<std::uint64_t> parse_number(std::string_view text);
/// "500ms", "5s"
std::string to_string(Duration value);
/// "1s to 300s"
std::string to_string(const DurationRange& range);

template <std::unsigned_integral V>
Syntax<V> number(V low, V high) {
  return {.accepted = fmt::format("a number from {} to {}", low, high),
          .parse = [low, high](std::string_view text) -> std::optional<V> {
            const auto value = parse_number(text);
            if (!value || *value < low || *value > high) return std::nullopt;
            return static_cast<V>(*value);
          },
          .format = [](const V& value) { return fmt::format("{}", value); }};
}

/// A choice of words, read in any case and with `-` or `_`; `prefix` may be left out.
template <class V>
Syntax<V> choice(std::vector<std::pair<std::string, V>> words, Words later = {}, std::string prefix = {}) {
  Syntax<V> syntax;
  for (const auto& [word, value] : words) syntax.options.push_back(word);
  syntax.accepted = fmt::format("{}", fmt::join(syntax.options, ", "));
  syntax.later = std::move(later);
  syntax.parse = [words, prefix](std::string_view text) -> std::optional<V> {
    auto given = normalised(text);
    if (!prefix.empty() && given.starts_with(prefix)) given.erase(0, prefix.size());
    for (const auto& [word, value] : words)
      if (given == normalised(word)) return value;
    return std::nullopt;
  };
  syntax.format = [words](const V& wanted) {
    for (const auto& [word, value] : words)
      if (value == wanted) return word;
    return std::string();
  };
  return syntax;
}

Syntax<bool> boolean();
/// Entries of a table: "64k", "2M" (thousands and millions).
Syntax<std::uint64_t> count(std::uint64_t low, std::uint64_t high);
Syntax<Duration> duration(const DurationRange& range);
/// Reads any duration: which range holds is only known when all flags are.
Syntax<Duration> duration(const DurationRange& range, const DurationRange& relaxed);
Syntax<Ratio> ratio();
Syntax<net::IpAddress> address();
Syntax<net::Prefix> network();
Syntax<net::Mac> mac();
/// Of a resource, zone, region: letters, digits, `.`, `_`, `-`.
Syntax<std::string> name();
/// Of a DPDK port: a name's letters and `:`.
Syntax<std::string> port_name();
Syntax<std::string> device_name();
Syntax<std::string> request_path();
Syntax<std::string> host_name();
Syntax<std::string> probe_text();
Syntax<std::string> http_listen();
Syntax<std::string> socket_path();

}  // namespace zonelb::config
