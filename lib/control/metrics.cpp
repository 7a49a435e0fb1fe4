#include "control/metrics.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "control/port_statistics.hpp"

namespace zonelb::control {
namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

/// Collects families in the order of the page.
class Page {
 public:
  void family(std::string name, std::string help, prometheus::MetricType type) {
    families_.push_back({std::move(name), std::move(help), type, {}});
  }
  void counter(std::string name, std::string help) {
    family(std::move(name), std::move(help), prometheus::MetricType::Counter);
  }
  void gauge(std::string name, std::string help) {
    family(std::move(name), std::move(help), prometheus::MetricType::Gauge);
  }
  /// One value of the family begun last.
  void value(double number, Labels labels = {}) {
    auto& family = families_.back();
    prometheus::ClientMetric metric;
    metric.label = std::move(labels);
    if (family.type == prometheus::MetricType::Counter) {
      metric.counter.value = number;
    } else {
      metric.gauge.value = number;
    }
    family.metric.push_back(std::move(metric));
  }
  void histogram(prometheus::ClientMetric::Histogram histogram) {
    prometheus::ClientMetric metric;
    metric.histogram = std::move(histogram);
    families_.back().metric.push_back(std::move(metric));
  }
  [[nodiscard]] std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  std::vector<prometheus::MetricFamily> families_;
};

double number(std::uint64_t value) {
  return static_cast<double>(value);
}

void add_traffic(const Sums& sums, Page& page) {
  const auto labels = [](const FlowLabels& flow) {
    return Labels{{"rule", flow.rule},
                  {"service", flow.service},
                  {"backend", flow.backend},
                  {"backend_zone", flow.backend_zone},
                  {"client_zone", flow.client_zone},
                  {"direction", "to_backend"}};
  };
  page.counter("zonelb_packets_total", "Packets forwarded to backends.");
  for (const auto& [flow, total] : sums.flows) page.value(number(total.packets), labels(flow));
  page.counter("zonelb_bytes_total", "Bytes of the frames forwarded to backends, as they were received.");
  for (const auto& [flow, total] : sums.flows) page.value(number(total.bytes), labels(flow));
  page.counter("zonelb_new_connections_total",
               "Connections placed, and what zonal affinity had to do with it.");
  for (const auto& [choice, value] : sums.choices)
    page.value(number(value), {{"service", choice.service},
                               {"backend", choice.backend},
                               {"client_zone", choice.client_zone},
                               {"choice", std::string(policy::name(choice.choice))}});
}

void add_connections(const Picture& picture, const Sums& sums, Page& page) {
  page.gauge("zonelb_connections", "Connections in the table, by backend.");
  std::map<std::pair<std::string, std::string>, std::int64_t> connections;
  for (const auto& service : picture.layout->services) {
    for (std::size_t i = 0; i < service.targets.size(); ++i) {
      const auto id = service.targets[i];
      if (!picture.known_targets[id]) continue;
      const auto count = sums.connections.find(id);
      connections[{service.name, service.members[i].backend}] +=
          count == sums.connections.end() ? 0 : count->second;
    }
  }
  for (const auto& [names, count] : connections)
    page.value(static_cast<double>(count), {{"service", names.first}, {"backend", names.second}});
}

void add_backends(const Picture& picture, Page& page) {
  // Of services that do not wait for their first round of probes.
  auto plans = picture.plans;
  std::erase(plans, nullptr);
  const auto each_member = [&](auto&& visit) {
    for (const auto& plan : plans)
      for (const auto& member : plan->state.members)
        page.value(visit(member), {{"service", plan->state.name}, {"backend", member.name.str()}});
  };
  page.gauge("zonelb_backend_healthy", "1: may get new connections.");
  each_member([](const policy::Member& member) { return member.healthy && !member.draining ? 1.0 : 0.0; });
  page.gauge("zonelb_backend_weight", "Weight in force.");
  each_member([](const policy::Member& member) { return static_cast<double>(member.weight); });

  page.gauge("zonelb_active_pool", "1: this pool gets new connections.");
  for (const auto& plan : plans)
    for (const auto pool : {policy::ActivePool::primary, policy::ActivePool::failover,
                            policy::ActivePool::last_resort, policy::ActivePool::dropped})
      page.value(plan->pool == pool ? 1 : 0,
                 {{"service", plan->state.name}, {"pool", std::string(policy::name(pool))}});
  page.counter("zonelb_failovers_total", "Changes between primary and failover pool.");
  page.value(number(picture.failovers));
}

using WorkerSum = std::function<std::uint64_t(const dataplane::WorkerCounters&)>;

std::uint64_t sum(const dataplane::Engine& engine, const WorkerSum& of) {
  std::uint64_t total = 0;
  for (unsigned worker = 0; worker < engine.workers(); ++worker) total += of(engine.counters(worker));
  return total;
}

void add_appliance(const dataplane::Engine& engine, Page& page) {
  page.counter("zonelb_drops_total", "Packets dropped, by reason.");
  for (std::size_t i = 0; i < packet::drop_reasons; ++i)
    page.value(number(sum(engine, [i](const auto& counters) { return counters.drops[i].value(); })),
               {{"reason", std::string(packet::name(static_cast<packet::DropReason>(i)))}});
  page.counter("zonelb_local_packets_total", "Packets for the appliance itself.");
  static constexpr const char* kinds[dataplane::local_kinds] = {"arp", "nd", "echo"};
  for (std::size_t i = 0; i < dataplane::local_kinds; ++i)
    page.value(number(sum(engine, [i](const auto& counters) { return counters.local[i].value(); })),
               {{"kind", kinds[i]}});
  page.counter("zonelb_received_packets_total", "Packets received on all ports.");
  page.value(number(sum(engine, [](const auto& counters) { return counters.received.value(); })));
  page.counter("zonelb_transmitted_packets_total", "Packets sent on all ports.");
  page.value(number(sum(engine, [](const auto& counters) { return counters.transmitted.value(); })));
  page.counter("zonelb_icmp_errors_total", "ICMP errors sent: packet too big.");
  page.value(number(sum(engine, [](const auto& counters) { return counters.icmp_errors.value(); })));
}

void add_table(const dataplane::Engine& engine, Page& page) {
  page.gauge("zonelb_connection_table_entries", "Entries in the connection tables.");
  // In this order, as workers go on meanwhile.
  const auto removed = sum(engine, [](const auto& counters) { return counters.entries_removed.value(); });
  const auto made = sum(engine, [](const auto& counters) { return counters.entries_made.value(); });
  page.value(number(made) - number(removed));
  page.gauge("zonelb_connection_table_capacity", "Entries the connection tables have room for.");
  page.value(number(engine.table4().capacity()), {{"family", "ipv4"}});
  page.value(number(engine.table6().capacity()), {{"family", "ipv6"}});
  page.counter("zonelb_connection_table_evictions_total", "Unconfirmed entries that had to make room.");
  page.value(number(sum(engine, [](const auto& counters) { return counters.evictions.value(); })));
  page.counter("zonelb_untracked_connections_total",
               "Connections placed without an entry: the table was full.");
  page.value(number(sum(engine, [](const auto& counters) { return counters.untracked.value(); })));
}

void add_workers(const dataplane::Engine& engine, Page& page) {
  page.gauge("zonelb_worker_cycles_per_packet", "Cycles per received packet, over turns that received any.");
  for (unsigned i = 0; i < engine.workers(); ++i) {
    const auto& counters = engine.counters(i);
    const auto packets = counters.received.value();
    page.value(packets == 0 ? 0 : number(counters.busy_cycles.value()) / number(packets),
               {{"worker", std::to_string(i)}});
  }
  page.gauge("zonelb_worker_busy_ratio", "Share of cycles in turns that received packets, since the start.");
  for (unsigned i = 0; i < engine.workers(); ++i) {
    const auto total = engine.counters(i).total_cycles.value();
    page.value(total == 0 ? 0 : number(engine.counters(i).busy_cycles.value()) / number(total),
               {{"worker", std::to_string(i)}});
  }
}

void add_probes(const health::ProbeStatistics& probes, Page& page) {
  page.family("zonelb_probe_duration_seconds", "Duration of health probes.",
              prometheus::MetricType::Histogram);
  prometheus::ClientMetric::Histogram histogram;
  std::uint64_t cumulative = 0;
  for (std::size_t i = 0; i < probes.durations.size(); ++i) {
    cumulative += probes.durations[i];
    const double bound = i < health::ProbeStatistics::bounds.size() ? health::ProbeStatistics::bounds[i]
                                                                    : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back({cumulative, bound});
  }
  histogram.sample_count = cumulative;
  histogram.sample_sum = probes.duration_sum_seconds;
  page.histogram(std::move(histogram));
  page.counter("zonelb_probes_total", "Health probes, by outcome.");
  for (std::size_t i = 0; i < health::outcome_count; ++i)
    page.value(number(probes.outcomes[i]), {{"outcome", health::to_string(static_cast<health::Outcome>(i))}});
}

/// Nobody else asks the ports for anything while workers run.
void add_ports(const config::Config& config, const dataplane::Engine& engine, Page& page) {
  std::map<std::string, std::vector<std::pair<std::string, std::uint64_t>>> by_statistic;
  for (std::size_t i = 0; i < engine.ports().size(); ++i)
    for (const auto& [name, value] : port_statistics(engine.ports()[i].id()))
      by_statistic[name].emplace_back(config.machine.ports[i].name, value);
  for (const auto& [name, values] : by_statistic) {
    page.counter("zonelb_port_" + name + "_total", "DPDK's " + name + " of the port.");
    for (const auto& [port, value] : values) page.value(number(value), {{"port", port}});
  }
}

}  // namespace

std::string render_metrics(const Picture& picture) {
  const auto sums = picture.totals.sums();
  Page page;
  add_traffic(sums, page);
  add_connections(picture, sums, page);
  add_backends(picture, page);
  add_appliance(picture.engine, page);
  add_table(picture.engine, page);
  add_workers(picture.engine, page);
  page.gauge("zonelb_snapshot_generation", "Number of the snapshot in force.");
  page.value(number(picture.generation));
  page.gauge("zonelb_snapshot_swap_seconds", "Time the last snapshot took to be made and published.");
  page.value(picture.last_swap_seconds);
  page.gauge("zonelb_maglev_table_bytes", "Memory of the tables that place new connections.");
  page.value(static_cast<double>(table_bytes(picture.plans)));
  page.gauge("zonelb_neighbours_unresolved", "Next hops whose MAC address is not known.");
  page.value(static_cast<double>(
      std::ranges::count_if(picture.neighbours, [](const auto& neighbour) { return !neighbour.second; })));
  add_probes(picture.probes, page);
  add_ports(*picture.config, picture.engine, page);
  return page.text();
}

}  // namespace zonelb::control
