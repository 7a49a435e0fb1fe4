#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace zonelb::bench {

/// Counts values in buckets whose width grows with the value: 128 to a power of two, so that a quantile is
/// right to less than one part in a hundred.
class Histogram {
 public:
  void add(std::uint64_t value) { ++counts_[bucket(value)]; }
  void add(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }

  [[nodiscard]] std::uint64_t count() const;
  /// The value that `share` (0 to 1) of all values do not exceed; 0 when there is none.
  [[nodiscard]] double quantile(double share) const;
  /// Values from `from` up to and without `to`, both powers of two or, from 128 on, multiples of a
  /// hundred-and-twenty-eighth of the power of two below.
  [[nodiscard]] std::uint64_t count(std::uint64_t from, std::uint64_t to) const;

  /// Calls `visit(least value, count)` for each bucket that is not empty.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] != 0) visit(least(i), counts_[i]);
  }

 private:
  static constexpr unsigned bits = 7;
  static constexpr std::size_t per_octave = std::size_t{1} << bits;

  /// Below 128 each value has a bucket.
  static std::size_t bucket(std::uint64_t value) {
    if (value < per_octave) return value;
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - bits - 1;
    return shift * per_octave + (value >> shift);
  }
  static std::uint64_t least(std::size_t bucket) {
    if (bucket < 2 * per_octave) return bucket;
    const std::size_t shift = bucket / per_octave - 1;
    return (bucket - shift * per_octave) << shift;
  }

  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>((64 - bits + 1) * per_octave);
};

}  // namespace zonelb::bench
