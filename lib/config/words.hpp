#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zonelb::config {

/// Splits at blanks as a shell does: what stands in single or double quotes is kept together and the quotes
/// are taken off. Nullopt when a quote is not closed.
std::optional<std::vector<std::string>> split_words(std::string_view text);

}  // namespace zonelb::config
