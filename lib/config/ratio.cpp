#include "config/ratio.hpp"

#include <fmt/format.h>

namespace zonelb::config {

std::optional<Ratio> Ratio::parse(std::string_view text) {
  if (text.empty() || text == ".") return std::nullopt;
  std::uint64_t value = 0;
  std::uint64_t unit = one;
  bool after_point = false;
  for (const char c : text) {
    if (c == '.' && !after_point) {
      after_point = true;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (after_point) {
      unit /= 10;
      if (unit == 0 && digit != 0) return std::nullopt;
      value += digit * unit;
    } else {
      value = value * 10 + digit * one;
    }
    if (value > one) return std::nullopt;
  }
  Ratio ratio;
  ratio.billionths_ = value;
  return ratio;
}

std::string Ratio::to_string() const {
  auto text = fmt::format("{}.{:09}", billionths_ / one, billionths_ % one);
  while (text.back() == '0' && text[text.size() - 2] != '.') text.pop_back();
  return text;
}

}  // namespace zonelb::config
