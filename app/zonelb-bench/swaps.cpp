#include "swaps.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <random>
#include <thread>

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "command_line.hpp"
#include "dataplane/eal.hpp"
#include "feeder.hpp"
#include "histogram.hpp"
#include "times.hpp"

namespace zonelb::bench {
namespace {

namespace options_lib = boost::program_options;
using std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct SwapOptions {
  Options bench;
  unsigned per_second = 1000;
  /// Of each kind.
  unsigned phases = 32;
  /// Short: other users of the machine come and go, and do it to both kinds.
  double phase_seconds = 0.25;
};

constexpr std::array<std::pair<const char*, double>, 5> quantiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}}};

struct Result {
  Histogram with;
  Histogram without;
  /// A probe's result to a published snapshot, the old ones freed.
  Times flip;
  double swapping_seconds = 0;

  [[nodiscard]] double ratio(double share) const { return with.quantile(share) / without.quantile(share); }
  [[nodiscard]] double swaps_per_second() const {
    return static_cast<double>(flip.count()) / swapping_seconds;
  }
};

/// The worker's side: bursts without a pause, counted in the histogram of the moment.
class Load {
 public:
  explicit Load(Shared& shared) : feeder_(shared, 0), histogram_(&discarded_) {
    rte_eal_remote_launch(
        [](void* load) {
          static_cast<Load*>(load)->run();
          return 0;
        },
        this, dataplane::worker_lcores().front());
    // acquire: pairs with run()
    while (!established_.load(std::memory_order_acquire) && !ended_.load(std::memory_order_acquire))
      std::this_thread::yield();
  }
  ~Load() { stop(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // release: the histogram is made before it is used
  void count_in(Histogram& histogram) { histogram_.store(&histogram, std::memory_order_release); }

  /// No burst is counted after this. Rethrows what has stopped the worker before.
  void end() {
    stop();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run() {
    try {
      feeder_.establish();
      // release: so is all that came before
      established_.store(true, std::memory_order_release);
      // acquire: pairs with count_in()
      while (auto* histogram = histogram_.load(std::memory_order_acquire)) histogram->add(feeder_.burst());
    } catch (...) {
      failure_ = std::current_exception();
    }
    ended_.store(true, std::memory_order_release);
  }

  void stop() {
    histogram_.store(nullptr, std::memory_order_release);
    rte_eal_mp_wait_lcore();
  }

  Feeder feeder_;
  Histogram discarded_;
  std::atomic<Histogram*> histogram_;
  std::atomic<bool> established_{false};
  std::atomic<bool> ended_{false};
  std::exception_ptr failure_;
};

/// The main core's side: one backend after the other fails and comes back.
class Flips {
 public:
  Flips(Shared& shared, Times& times) : shared_(shared), times_(times) {}

  /// Flips from now to `end`, evenly, or one after the other when they take longer than that. All backends
  /// are healthy in the end.
  void run(steady_clock::time_point end, unsigned per_second) {
    const auto period = std::chrono::duration_cast<steady_clock::duration>(Seconds(1.0 / per_second));
    auto next = steady_clock::now();
    while (next < end || down_) {
      std::this_thread::sleep_until(next);
      flip();
      next = std::max(next + period, steady_clock::now());
    }
  }

 private:
  void flip() {
    if (!down_) target_ = random_() % shared_.scenario.targets.size();
    down_ = !down_;
    const health::StateChange change{shared_.scenario.targets[target_].key,
                                     down_ ? health::State::unhealthy : health::State::healthy,
                                     down_ ? "connection refused" : "", false};
    times_.measure([&] {
      shared_.scenario.state.record(change);
      shared_.publication.publish(shared_.scenario.make_snapshot());
    });
  }

  Shared& shared_;
  Times& times_;
  std::mt19937 random_{1};
  std::size_t target_ = 0;
  bool down_ = false;
};

Result measure(const SwapOptions& options) {
  Result result;
  Shared shared(options.bench);
  Load load(shared);
  Flips flips(shared, result.flip);
  const auto length = std::chrono::duration_cast<steady_clock::duration>(Seconds(options.phase_seconds));
  for (unsigned phase = 0; phase < 2 * options.phases; ++phase) {
    const auto begin = steady_clock::now();
    // Without, with, with, without: a machine that slows down does it to both.
    if (phase % 4 == 1 || phase % 4 == 2) {
      load.count_in(result.with);
      flips.run(begin + length, options.per_second);
      result.swapping_seconds += Seconds(steady_clock::now() - begin).count();
    } else {
      load.count_in(result.without);
      std::this_thread::sleep_until(begin + length);
    }
  }
  load.end();
  return result;
}

nlohmann::ordered_json to_json(const Histogram& histogram) {
  nlohmann::ordered_json json{{"bursts", histogram.count()}};
  for (const auto& [name, share] : quantiles) json[name] = histogram.quantile(share);
  auto& buckets = json["histogram"] = nlohmann::ordered_json::array();
  histogram.for_each([&](std::uint64_t least, std::uint64_t count) { buckets.push_back({least, count}); });
  return json;
}

void print_json(const SwapOptions& options, const Result& result) {
  nlohmann::ordered_json ratio;
  for (const auto& [name, share] : quantiles) ratio[name] = result.ratio(share);
  const nlohmann::ordered_json json{{"services", options.bench.services},
                                    {"backends", options.bench.backends},
                                    {"zones", options.bench.zones},
                                    {"flows", options.bench.flows},
                                    {"connections", options.bench.connections},
                                    {"burst", options.bench.burst},
                                    {"phases", options.phases},
                                    {"phase_seconds", options.phase_seconds},
                                    {"swaps", result.flip.count()},
                                    {"swaps_per_second", result.swaps_per_second()},
                                    {"flip", result.flip.json()},
                                    {"without_swaps", to_json(result.without)},
                                    {"with_swaps", to_json(result.with)},
                                    {"ratio", ratio}};
  fmt::print("{}\n", json.dump());
}

/// A bar whose length tells the order of magnitude of a share: five characters for each factor of ten above
/// one in a million.
std::string bar(double share) {
  const double length = share > 0 ? 5 * (std::log10(share) + 6) : 0;
  return std::string(static_cast<std::size_t>(std::max(share > 0 ? 1.0 : 0.0, length)), '#');
}

void print_histograms(const Result& result) {
  fmt::print("\n  cycles per burst, from       without swaps                               with swaps\n");
  const auto all_without = result.without.count();
  const auto all_with = result.with.count();
  // Rows of half a power of two.
  for (std::uint64_t least = 256; least < std::uint64_t{1} << 40; least *= 2) {
    for (const auto& [from, to] : {std::pair(least, least * 3 / 2), std::pair(least * 3 / 2, least * 2)}) {
      const auto without = result.without.count(from, to);
      const auto with = result.with.count(from, to);
      if (without == 0 && with == 0) continue;
      fmt::print("  {:>22} {:>12} {:<30} {:>12} {}\n", from, without,
                 bar(static_cast<double>(without) / static_cast<double>(all_without)), with,
                 bar(static_cast<double>(with) / static_cast<double>(all_with)));
    }
  }
  fmt::print("  (five characters of a bar: a factor of ten, from one burst in a million on)\n");
}

void print_text(const SwapOptions& options, const Result& result) {
  fmt::print("{} services, {} backends, {} zones, {} flows; {} swaps, {:.0f} a second\n",
             options.bench.services, options.bench.backends, options.bench.zones, options.bench.flows,
             result.flip.count(), result.swaps_per_second());
  fmt::print("  a flip, published  {}\n", result.flip.text());
  fmt::print("\n  cycles per burst of {:<6} without swaps    with swaps     ratio\n", options.bench.burst);
  for (const auto& [name, share] : quantiles)
    fmt::print("  {:<26} {:>13.0f} {:>13.0f} {:>9.3f}\n", name, result.without.quantile(share),
               result.with.quantile(share), result.ratio(share));
  print_histograms(result);
}

}  // namespace

int measure_swaps(int argc, char** argv) {
  SwapOptions options;
  Options& bench = options.bench;
  bench.services = 1000;
  bench.backends = 10'000;
  bench.zones = 16;
  bench.flows = 1'000'000;
  bench.health_check = true;
  bool chosen = false;
  options_lib::options_description all(
      "zonelb-bench --swaps: what new snapshots do to a worker's time per burst", 100);
  const auto value = [](auto& of) { return options_lib::value(&of)->default_value(of); };
  auto add = all.add_options();
  add("swaps", options_lib::bool_switch(&chosen), "measure bursts with and without swaps of the snapshot");
  add("services", value(bench.services), "");
  add("backends", value(bench.backends), "over all services");
  add("zones", value(bench.zones), "");
  add("flows", value(bench.flows), "connections in the table");
  add("connections", value(bench.connections), "table entries (0: twice the flows, at least a million)");
  add("per-second", value(options.per_second), "swaps a second; each is a backend that fails or comes back");
  add("phases", value(options.phases), "of each kind, with swaps and without");
  add("phase-seconds", value(options.phase_seconds), "length of a phase");
  add("json", options_lib::bool_switch(&bench.json), "one JSON object");
  options_lib::variables_map values;
  if (!read_command_line(all, argc, argv, values)) return 0;
  require_counts(values, {"services", "backends", "zones", "per-second", "phases"});
  if (bench.flows == 0) throw options_lib::error("--flows must be 1 or more");
  if (!(options.phase_seconds > 0)) throw options_lib::error("--phase-seconds must be more than 0");
  if (bench.connections == 0) bench.connections = std::max<std::uint64_t>(bench.flows * 2, 1'000'000);
  const dataplane::Eal eal(eal_arguments(2));
  const auto result = measure(options);
  if (bench.json)
    print_json(options, result);
  else
    print_text(options, result);
  return 0;
}

}  // namespace zonelb::bench
