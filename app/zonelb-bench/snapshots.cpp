#include "snapshots.hpp"

#include <random>

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command_line.hpp"
#include "control/state.hpp"
#include "scenario.hpp"
#include "times.hpp"

namespace zonelb::bench {
namespace {

namespace options_lib = boost::program_options;
using control::Clock;

struct SnapshotOptions {
  unsigned services = 1000;
  /// Over all services.
  unsigned backends = 10'000;
  unsigned zones = 16;
  unsigned client_networks = 1000;
  unsigned flips = 1000;
  unsigned reloads = 5;
  bool json = false;
};

net::IpAddress address(unsigned base, unsigned number) {
  return net::IpAddress::v4(net::be32((base << 24) + number));
}

config::Backend backend(unsigned number, const SnapshotOptions& options) {
  config::Backend backend;
  backend.name = fmt::format("rack-{:03}-backend-{:05}", number / 40, number);
  backend.services = {fmt::format("service-{}", number % options.services)};
  backend.address = address(10, 0x10000 + number);
  backend.zone = fmt::format("zone-{:02}", number / options.services % options.zones);
  return backend;
}

config::Config configuration(const SnapshotOptions& options) {
  config::Config config;
  config::Port port;
  port.name = "bench";
  port.v4 = config::InterfaceAddress{address(10, 1), *net::Prefix::parse("10.0.0.0/8"), {}};
  config.machine.ports = {port};
  for (unsigned i = 0; i < options.zones; ++i) config.zones.push_back(fmt::format("zone-{:02}", i));
  for (unsigned i = 0; i < options.client_networks; ++i) {
    config::ClientNetwork network;
    network.prefixes = {*net::Prefix::parse(fmt::format("20.{}.{}.0/24", i / 256 % 256, i % 256))};
    network.zone = config.zones[i % options.zones];
    config.client_networks.push_back(network);
  }
  for (unsigned i = 0; i < options.services; ++i) {
    config::BackendService service;
    service.name = fmt::format("service-{}", i);
    service.zonal_affinity = config::ZonalAffinity::spill_cross_zone;
    config::ForwardingRule rule;
    rule.name = fmt::format("rule-{}", i);
    rule.address = address(10, 0xff0000 + i);
    rule.ports = {{80, 80}};
    rule.backend_service = service.name;
    config.backend_services.push_back(std::move(service));
    config.forwarding_rules.push_back(std::move(rule));
  }
  for (unsigned i = 0; i < options.backends; ++i) config.backends.push_back(backend(i, options));
  check_health(config);
  return config;
}

struct Result {
  Times full_build;
  /// A probe's result to a snapshot that could be published, and freeing the one before it.
  Times flip;
  Times reclaim;
  /// A configuration that differs in one backend's weight.
  Times reload;
  std::size_t table_bytes = 0;
};

/// Stands for the main core: State and what it needs to make snapshots.
class MainCore {
 public:
  explicit MainCore(config::Config config)
      : config_(std::move(config)),
        state_({dataplane::PortView{net::Mac({2, 0, 0, 0, 0, 1}), 1500, packet::no_vlan, address(10, 1), {}}},
               1),
        neighbours_([](const auto&, const auto&) {}) {
    state_.end_start();
  }

  void build() {
    targets_ = state_.configure(config_, now_);
    publish();
  }

  void resolve_all() {
    const auto next_hops = state_.next_hops();
    neighbours_.need(next_hops, now_);
    for (const auto& hop : next_hops)
      neighbours_.hear({hop.address, net::Mac({2, 0, 0, 0, 1, 1}), hop.port, true, true}, now_);
    publish();
    reclaim();
  }

  void flip(std::size_t target, health::State state) {
    state_.record({targets_[target].key, state, "connection refused", false});
    publish();
  }

  void change_weight(std::size_t backend) { ++config_.backends[backend].weight; }
  void reclaim() { old_.reset(); }
  [[nodiscard]] std::size_t targets() const { return targets_.size(); }
  [[nodiscard]] std::size_t table_bytes() const { return state_.table_bytes(); }

 private:
  void publish() {
    control::Events events;
    old_ = std::move(current_);
    current_ = state_.make_snapshot(neighbours_, now_, events);
  }

  config::Config config_;
  control::State state_;
  dataplane::Neighbours neighbours_;
  Clock::time_point now_ = Clock::now();
  std::vector<health::ProbeTarget> targets_;
  std::unique_ptr<const dataplane::Snapshot> current_;
  std::unique_ptr<const dataplane::Snapshot> old_;
};

Result measure(const SnapshotOptions& options) {
  Result result;
  const auto config = configuration(options);
  for (unsigned i = 0; i < options.reloads; ++i) {
    MainCore fresh(config);
    result.full_build.measure([&] { fresh.build(); });
  }
  MainCore core(config);
  core.build();
  core.resolve_all();
  std::mt19937 random(1);
  for (unsigned i = 0; i < options.flips; ++i) {
    const auto target = random() % core.targets();
    for (const auto state : {health::State::unhealthy, health::State::healthy}) {
      result.flip.measure([&] { core.flip(target, state); });
      result.reclaim.measure([&] { core.reclaim(); });
    }
  }
  for (unsigned i = 0; i < options.reloads; ++i) {
    core.change_weight(random() % options.backends);
    result.reload.measure([&] { core.build(); });
    core.reclaim();
  }
  result.table_bytes = core.table_bytes();
  return result;
}

void print(const SnapshotOptions& options, const Result& result) {
  if (options.json) {
    const nlohmann::ordered_json json{{"services", options.services},
                                      {"backends", options.backends},
                                      {"zones", options.zones},
                                      {"client_networks", options.client_networks},
                                      {"full_build", result.full_build.json()},
                                      {"flip", result.flip.json()},
                                      {"reclaim", result.reclaim.json()},
                                      {"reload", result.reload.json()},
                                      {"table_bytes", result.table_bytes}};
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print("{} services, {} backends, {} zones, {} client networks\n", options.services, options.backends,
             options.zones, options.client_networks);
  fmt::print("  full build              {}\n", result.full_build.text());
  fmt::print("  one backend's flip      {}\n", result.flip.text());
  fmt::print("  freeing the old one     {}\n", result.reclaim.text());
  fmt::print("  reload of one weight    {}\n", result.reload.text());
  fmt::print("  Maglev tables           {:.1f} MB\n", static_cast<double>(result.table_bytes) / 1e6);
}

}  // namespace

int measure_snapshots(int argc, char** argv) {
  SnapshotOptions options;
  bool chosen = false;
  options_lib::options_description all("zonelb-bench --snapshots: what decisions cost the main core", 100);
  const auto number = [](unsigned& value) { return options_lib::value(&value)->default_value(value); };
  auto add = all.add_options();
  add("snapshots", options_lib::bool_switch(&chosen), "measure snapshots instead of packets");
  add("services", number(options.services), "");
  add("backends", number(options.backends), "over all services");
  add("zones", number(options.zones), "");
  add("client-networks", number(options.client_networks), "");
  add("flips", number(options.flips), "backends that fail and come back");
  add("reloads", number(options.reloads), "full builds, and reloads of one weight");
  add("json", options_lib::bool_switch(&options.json), "one JSON object");
  options_lib::variables_map values;
  if (!read_command_line(all, argc, argv, values)) return 0;
  require_counts(values, {"services", "backends", "zones", "client-networks", "flips", "reloads"});
  print(options, measure(options));
  return 0;
}

}  // namespace zonelb::bench
