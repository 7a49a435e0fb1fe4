#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace zonelb::bench {

/// How long the same work took each time, in milliseconds.
class Times {
 public:
  template <class Work>
  void measure(Work&& work) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    work();
    values_.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  [[nodiscard]] std::size_t count() const { return values_.size(); }
  [[nodiscard]] nlohmann::ordered_json json() const {
    return {{"median_ms", quantile(0.5)}, {"p99_ms", quantile(0.99)}, {"max_ms", quantile(1)}};
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("median {:8.3f} ms, p99 {:8.3f} ms, max {:8.3f} ms", quantile(0.5), quantile(0.99),
                       quantile(1));
  }

 private:
  [[nodiscard]] double quantile(double share) const {
    if (values_.empty()) return 0;
    auto sorted = values_;
    std::ranges::sort(sorted);
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }

  std::vector<double> values_;
};

}  // namespace zonelb::bench
