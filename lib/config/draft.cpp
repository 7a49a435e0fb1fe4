#include "config/draft.hpp"

#include <fmt/format.h>

namespace zonelb::config {

ConfigError Place::error(std::string_view message) const {
  return ConfigError(label.empty() ? fmt::format("{}: {}", origin, message)
                                   : fmt::format("{}: {}: {}", origin, label, message));
}

const Place& Draft::place(std::string_view flag, std::size_t index) const {
  return places.find(flag)->second.at(index);
}

void Draft::add_named(const Place& place) {
  const auto [earlier, added] = named.emplace(place.label, place.origin);
  if (!added) throw place.error(fmt::format("already given at {}", earlier->second));
}

}  // namespace zonelb::config
