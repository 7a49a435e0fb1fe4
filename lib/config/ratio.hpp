#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zonelb::config {

/// A ratio of 0.0 to 1.0 kept as the decimal number the user wrote, so that 0.7 of 10 is exactly 7
/// (semantics.md section 1). At most nine decimals.
class Ratio {
 public:
  static constexpr std::uint64_t one = 1'000'000'000;

  constexpr Ratio() = default;
  /// Reads "0.7", "1", "0", ".25"; nullopt when it is no decimal, above 1 or has more than nine decimals.
  static std::optional<Ratio> parse(std::string_view text);

  [[nodiscard]] constexpr bool is_zero() const { return billionths_ == 0; }
  /// Is part/whole at or above this ratio? `whole` must not be zero.
  [[nodiscard]] constexpr bool reached_by(std::uint64_t part, std::uint64_t whole) const {
    return part * one >= billionths_ * whole;
  }
  [[nodiscard]] std::string to_string() const;
  friend constexpr bool operator==(Ratio, Ratio) = default;

 private:
  std::uint64_t billionths_ = 0;
};

}  // namespace zonelb::config
