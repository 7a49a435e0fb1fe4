#include "histogram.hpp"

#include <cmath>
#include <numeric>

namespace zonelb::bench {

std::uint64_t Histogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::uint64_t Histogram::count(std::uint64_t from, std::uint64_t to) const {
  std::uint64_t sum = 0;
  for (auto i = bucket(from); i < bucket(to); ++i) sum += counts_[i];
  return sum;
}

double Histogram::quantile(double share) const {
  const double rank = share * static_cast<double>(count());
  double below = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const auto here = static_cast<double>(counts_[i]);
    if (here > 0 && below + here >= rank) {
      // As if the values of a bucket lay evenly in it.
      const auto begin = static_cast<double>(least(i));
      return begin + (static_cast<double>(least(i + 1)) - begin) * (rank - below) / here;
    }
    below += here;
  }
  return 0;
}

}  // namespace zonelb::bench
