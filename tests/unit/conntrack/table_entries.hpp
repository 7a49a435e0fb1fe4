#pragma once

#include <cstdint>

#include "conntrack/table.hpp"

/// Keys and entries for tests of a table by one thread.
namespace zonelb::conntrack {

inline Patience patience;

inline FlowKey key(std::uint64_t number) {
  return {{number, number * 3, number * 5, number * 7}, (number * 11) & 0xffffffffffULL};
}

inline constexpr Entry confirmed{1, 2, 3, State::confirmed};

template <class T>
std::uint64_t count(const T& table) {
  std::uint64_t entries = 0;
  table.for_each(0, [&](const FlowKey&, const Entry&, std::uint32_t) { ++entries; });
  return entries;
}

template <class T>
void fill(T& table, const Entry& entry, std::uint64_t attempts) {
  for (std::uint64_t i = 0; i < attempts; ++i) table.insert(key(i), table.hash(key(i)), entry, 1, patience);
}

}  // namespace zonelb::conntrack
