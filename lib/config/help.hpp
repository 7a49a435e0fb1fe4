#pragma once

#include <string>
#include <string_view>

namespace zonelb::config {

/// What --help=TOPIC shows: nothing for the overview, a topic ("ports"), or a flag ("backend"; "--eal" where
/// a topic has the same name).
/// Throws ConfigError for other topics, naming those there are.
std::string help(std::string_view topic = {});

}  // namespace zonelb::config
