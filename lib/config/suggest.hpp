#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zonelb::config {

using Words = std::vector<std::string>;

/// Upper case, `-` as `_`: how words are compared where their case does not matter.
std::string normalised(std::string_view text);

/// "did you mean 'zone'? " when one of `known` is within a third of its letters of `text`, else nothing.
std::string did_you_mean(std::string_view text, const Words& known);

/// "a, b, c", cut after a dozen words; "none" when there are none.
std::string listing(const Words& words);

/// "zone 'x' is not declared; did you mean …? known zones: a, b".
std::string unknown_reference(std::string_view key, std::string_view name, std::string_view what,
                              const Words& known);

}  // namespace zonelb::config
