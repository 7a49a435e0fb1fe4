#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <string_view>

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "dataplane/eal.hpp"
#include "dataplane/machine_error.hpp"
#include "options.hpp"
#include "runner.hpp"
#include "snapshots.hpp"
#include "swaps.hpp"
#include "table_only.hpp"

namespace {

using namespace zonelb;
using namespace zonelb::bench;
namespace options_lib = boost::program_options;

constexpr const char* stage_names[stages] = {"match", "forward"};

struct Statistics {
  double median = 0, min = 0, max = 0;
};

Statistics statistics(const Report& report, const std::function<double(const RunResult&)>& of) {
  std::vector<double> values;
  for (const auto& run : report.runs) values.push_back(of(run));
  std::ranges::sort(values);
  const auto half = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {median, values.front(), values.back()};
}

std::uint64_t interrupted(const Report& report) {
  std::uint64_t sum = 0;
  for (const auto& run : report.runs) sum += run.interrupted;
  return sum;
}

nlohmann::ordered_json to_json(const Statistics& s) {
  return {{"median", s.median}, {"min", s.min}, {"max", s.max}};
}

void print(const Options& options, const Report& report) {
  const auto total = statistics(report, [](const RunResult& r) { return r.total; });
  const auto floor = statistics(report, [](const RunResult& r) { return r.floor; });
  nlohmann::ordered_json stage;
  for (std::size_t i = 0; i < stages; ++i)
    stage[stage_names[i]] = statistics(report, [i](const RunResult& r) { return r.stage[i]; }).median;
  const double mpps = static_cast<double>(report.cycles_per_second) / total.median / 1e6;
  if (options.json) {
    const nlohmann::ordered_json json{{"flows", options.flows},
                                      {"new_percent", options.new_percent},
                                      {"ipv6", options.ipv6},
                                      {"services", options.services},
                                      {"backends", options.backends},
                                      {"zones", options.zones},
                                      {"workers", options.workers},
                                      {"size", options.size},
                                      {"runs", options.runs},
                                      {"cycles_per_packet", to_json(total)},
                                      {"floor", to_json(floor)},
                                      {"ratio_to_floor", total.median / floor.median},
                                      {"mpps_per_core", mpps},
                                      {"stages", stage},
                                      {"entries", report.entries},
                                      {"untracked", report.untracked},
                                      {"evictions", report.evictions},
                                      {"huge_pages", report.huge_pages},
                                      {"interrupted_bursts", interrupted(report)}};
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print(
      "{:.1f} cycles per packet (min {:.1f}, max {:.1f} of {} runs), {:.1f} Mpps per core; floor {:.1f}, "
      "ratio {:.1f}\n",
      total.median, total.min, total.max, report.runs.size(), mpps, floor.median,
      total.median / floor.median);
  for (const auto& [name, cycles] : stage.items())
    fmt::print("  {:<8} {:5.1f}\n", name, cycles.get<double>());
  fmt::print("  table: {} entries, {} untracked, {} evicted, {} pages\n", report.entries, report.untracked,
             report.evictions, report.huge_pages ? "huge" : "ordinary");
  if (const auto left_out = interrupted(report); left_out > 0)
    fmt::print("  {} bursts were interrupted for over 200 µs and are left out\n", left_out);
}

struct Words {
  std::string forwarding = "L2_DSR";
  std::string zonal_affinity = "SPILL_CROSS_ZONE";
  std::string eal;
  std::string table = "kept";
};

/// False: only help was asked for.
bool parse(int argc, char** argv, Words& words, Options& options) {
  options_lib::options_description all(
      "zonelb-bench: cycles per packet of the packet path, without a NIC; with --snapshots, --table-only or "
      "--swaps something else, see their --help",
      100);
  auto add = all.add_options();
  add("flows", options_lib::value(&options.flows)->default_value(options.flows), "connections in the table");
  add("new-percent", options_lib::value(&options.new_percent)->default_value(0),
      "packets that open a connection");
  add("size", options_lib::value(&options.size)->default_value(options.size),
      "bytes of a frame, FCS included");
  add("ipv6", options_lib::bool_switch(&options.ipv6), "IPv6 instead of IPv4");
  add("forwarding", options_lib::value(&words.forwarding)->default_value(words.forwarding),
      "L2_DSR, IPIP or VXLAN");
  add("zonal-affinity", options_lib::value(&words.zonal_affinity)->default_value(words.zonal_affinity),
      "DISABLED, SPILL_CROSS_ZONE or STAY_WITHIN_ZONE");
  add("services", options_lib::value(&options.services)->default_value(options.services), "");
  add("backends", options_lib::value(&options.backends)->default_value(options.backends),
      "over all services");
  add("zones", options_lib::value(&options.zones)->default_value(options.zones), "");
  add("workers", options_lib::value(&options.workers)->default_value(options.workers), "");
  add("packets", options_lib::value(&options.packets)->default_value(options.packets),
      "per worker and run (0: 4 million, or with --table emptied what fills it to 80 %)");
  add("runs", options_lib::value(&options.runs)->default_value(options.runs), "");
  add("burst", options_lib::value(&options.burst)->default_value(options.burst), "packets a burst, up to 64");
  add("connections", options_lib::value(&options.connections)->default_value(0),
      "table entries (0: twice the flows, at least a million)");
  add("table", options_lib::value(&words.table)->default_value(words.table),
      "what a run meets: kept (as the run before left it), emptied, full (of connections of one packet) or "
      "confirmed (full of others)");
  add("json", options_lib::bool_switch(&options.json), "one JSON object");
  add("eal", options_lib::value(&words.eal), "further EAL arguments");
  options_lib::variables_map values;
  if (!read_command_line(all, argc, argv, values)) return false;
  if (options.connections == 0) options.connections = std::max<std::uint64_t>(options.flows * 2, 1'000'000);
  options.burst = std::clamp(options.burst, 1U, unsigned{dataplane::Batch::max_size});
  return true;
}

void apply(const Words& words, Options& options) {
  if (words.table == "emptied") options.table = TableState::emptied;
  if (words.table == "full") options.table = TableState::full;
  if (words.table == "confirmed") options.table = TableState::confirmed;
  if (options.packets == 0)
    options.packets =
        options.table == TableState::emptied ? options.connections * 4 / 5 / options.workers : 4'000'000;
  if (words.forwarding == "IPIP") options.forwarding = config::Forwarding::ipip;
  if (words.forwarding == "VXLAN") options.forwarding = config::Forwarding::vxlan;
  if (words.zonal_affinity == "DISABLED") options.zonal_affinity = config::ZonalAffinity::disabled;
  if (words.zonal_affinity == "STAY_WITHIN_ZONE")
    options.zonal_affinity = config::ZonalAffinity::stay_within_zone;
}

/// What else can be measured, each in its own file and with its own options.
constexpr std::pair<std::string_view, int (*)(int, char**)> modes[] = {
    {"--snapshots", measure_snapshots}, {"--table-only", measure_tables}, {"--swaps", measure_swaps}};

}  // namespace

int main(int argc, char** argv) {
  try {
    for (const auto& [option, measure] : modes)
      if (std::find(argv, argv + argc, option) != argv + argc) return measure(argc, argv);
    Words words;
    Options options;
    if (!parse(argc, argv, words, options)) return 0;
    apply(words, options);
    const dataplane::Eal eal(eal_arguments(options.workers, words.eal));
    print(options, run(options));
    return 0;
  } catch (const options_lib::error& error) {
    fmt::print(stderr, "zonelb-bench: {}\n", error.what());
    return 2;
  } catch (const dataplane::MachineError& error) {
    fmt::print(stderr, "zonelb-bench: {}\n", error.what());
    return 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "zonelb-bench: {}\n", error.what());
    return 1;
  }
}
