#pragma once

#include <chrono>
#include <cstdio>
#include <string_view>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace zonelb::config {

/// One line to standard error, for whoever keeps the log: "2026-01-31T12:00:00Z text". Main core only.
template <class... Arguments>
void log(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const auto line = fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}\n", fmt::gmtime(now),
                                fmt::format(format, std::forward<Arguments>(arguments)...));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace zonelb::config
