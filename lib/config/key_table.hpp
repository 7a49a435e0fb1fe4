#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/items.hpp"
#include "config/syntax.hpp"

namespace zonelb::config {

/// Stands for what is accepted of flags and keys of later releases.
inline constexpr std::string_view not_supported_yet = "not supported yet";

/// What help says of a key.
struct KeyHelp {
  std::string name;
  std::string accepted;
  /// The default as text; empty: none.
  std::string fallback;
  std::string description;
  bool required = false;
};

struct Refusal {
  std::string text;
  /// Known, but not supported yet: reported only when nothing else is wrong.
  bool later = false;
};

/// One key of a T: how it is read into one, shown from one, and explained.
template <class T>
struct Key : KeyHelp {
  std::function<std::optional<Refusal>(T&, const Item&)> read;
  std::function<std::string(const T&)> show;
};

/// "weight 'x' is not accepted; accepted: …", or that it is not supported yet.
Refusal refusal(std::string_view key, std::string_view value, std::string_view accepted, const Words& options,
                const Words& later);
/// "A, B (C: not supported yet)"
std::string with_later(std::string_view accepted, const Words& later);
Refusal takes_one_value(std::string_view key, const Item& item);
/// The key that `item` names. Throws ConfigError at `place`, suggesting one of `known`.
std::size_t find_key(const Item& item, const Words& known, const Place& place);

template <class V>
inline constexpr bool is_optional = false;
template <class V>
inline constexpr bool is_optional<std::optional<V>> = true;

/// A key with one value. `access` is a member of T, or a function from T to one.
template <class T, class Access, class V>
Key<T> key(const std::string& name, Access access, const Syntax<V>& syntax, const std::string& description) {
  Key<T> result;
  result.show = [access, format = syntax.format](const T& object) -> std::string {
    const auto& value = std::invoke(access, object);
    if constexpr (is_optional<std::decay_t<decltype(value)>>) {
      return value ? format(*value) : std::string();
    } else {
      return format(value);
    }
  };
  result.name = name;
  result.accepted = with_later(syntax.accepted, syntax.later);
  result.fallback = result.show(T{});
  result.description = description;
  result.read = [access, name, syntax](T& object, const Item& item) -> std::optional<Refusal> {
    if (item.bracketed) return takes_one_value(name, item);
    auto value = syntax.parse(item.values.front());
    if (!value) return refusal(name, item.values.front(), syntax.accepted, syntax.options, syntax.later);
    std::invoke(access, object) = *std::move(value);
    return std::nullopt;
  };
  return result;
}

/// A key with one or more values, none of them twice.
template <class T, class V>
Key<T> list_key(const std::string& name, std::vector<V> T::*member, const Syntax<V>& syntax,
                const std::string& description) {
  Key<T> result;
  result.name = name;
  result.accepted = syntax.accepted + "; several as [a,b]";
  result.description = description;
  result.read = [member, name, syntax](T& object, const Item& item) -> std::optional<Refusal> {
    auto& list = object.*member;
    for (const auto& text : item.values) {
      const auto value = syntax.parse(text);
      if (!value) return refusal(name, text, syntax.accepted, syntax.options, syntax.later);
      if (std::find(list.begin(), list.end(), *value) != list.end())
        return Refusal{fmt::format("{} '{}' is given twice", name, text)};
      list.push_back(*value);
    }
    return std::nullopt;
  };
  result.show = [member, format = syntax.format](const T& object) {
    Words words;
    for (const auto& value : object.*member) words.push_back(format(value));
    return fmt::format("{}", fmt::join(words, ","));
  };
  return result;
}

/// A key whose other values come later: only its default is accepted.
template <class T>
Key<T> fixed_key(const std::string& name, const std::string& value, const Words& later,
                 const std::string& description) {
  Key<T> result;
  result.name = name;
  result.accepted = with_later(value, later);
  result.fallback = value;
  result.description = description;
  result.read = [name, value, later](T&, const Item& item) -> std::optional<Refusal> {
    if (item.bracketed) return takes_one_value(name, item);
    const auto& given = item.values.front();
    if (normalised(given) == normalised(value)) return std::nullopt;
    return refusal(name, given, value, {value}, later);
  };
  result.show = [value](const T&) { return value; };
  return result;
}

/// A key that comes later as a whole.
template <class T>
Key<T> later_key(const std::string& name, const std::string& description) {
  Key<T> result;
  result.name = name;
  result.accepted = not_supported_yet;
  result.description = description;
  result.read = [name](T&, const Item&) -> std::optional<Refusal> {
    return Refusal{fmt::format("key '{}' is {}", name, not_supported_yet), true};
  };
  result.show = [](const T&) { return std::string(); };
  return result;
}

template <class T>
Key<T> required(Key<T> key) {
  key.required = true;
  key.fallback.clear();
  return key;
}

template <class T>
Key<T> defaulting_to(std::string text, Key<T> key) {
  key.fallback = std::move(text);
  return key;
}

/// All keys of one kind of resource.
template <class T>
struct KeyTable {
  std::string flag;
  /// The key that tells one resource from another in messages.
  std::string identity;
  std::vector<Key<T>> keys;
  /// What is wrong with this combination of values; empty: nothing. Sees values of later releases as well.
  std::function<std::string(const T&, const Items&)> forbidden = [](const T&, const Items&) {
    return std::string();
  };

  [[nodiscard]] Words names() const {
    Words result;
    for (const auto& key : keys) result.push_back(key.name);
    return result;
  }

  /// Throws ConfigError. `place` is that of the flag on entry and that of the resource on return.
  [[nodiscard]] T read(std::string_view text, Place& place) const {
    place.label = fmt::format("{} '{}'", flag, text.substr(0, 60));
    const Items items = read_items(text, place);
    if (const Item* const id = items.find(identity)) place.label = fmt::format("{} {}", flag, id->text());
    T object;
    std::optional<Refusal> not_yet;
    for (const auto& item : items.list) {
      const auto refused = keys[find_key(item, names(), place)].read(object, item);
      if (refused && !refused->later) throw place.error(refused->text);
      if (refused && !not_yet) not_yet = refused;
    }
    if (const auto problem = forbidden(object, items); !problem.empty()) throw place.error(problem);
    if (not_yet) throw place.error(not_yet->text);
    for (const auto& key : keys)
      if (key.required && !items.has(key.name))
        throw place.error(fmt::format("key '{}' is missing; accepted: {}", key.name, key.accepted));
    return object;
  }

  /// `key=value,…` of what is not empty.
  [[nodiscard]] std::string show(const T& object) const {
    Words words;
    for (const auto& key : keys)
      if (const auto value = key.show(object); !value.empty())
        words.push_back(fmt::format("{}={}", key.name, value));
    return fmt::format("{}", fmt::join(words, ","));
  }
};

}  // namespace zonelb::config
