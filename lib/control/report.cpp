#include "control/report.hpp"

#include <rte_cycles.h>

#include "dataplane/table_clock.hpp"

namespace zonelb::control {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t listed_connections = 100;

std::string state_name(const policy::Member& member, const HealthBoard::Standing& standing) {
  if (member.draining) return "draining";
  if (standing.state == health::State::unknown)
    return member.healthy ? "healthy (not probed yet)" : "not probed yet";
  return member.healthy ? "healthy" : "unhealthy";
}

/// A service's `position`th backend, which is `member` in its plan.
ordered_json backend_report(const Picture& picture, std::size_t service, const config::Backend& backend,
                            std::size_t position, const ConnectionCounts& connections) {
  const auto& state = picture.plans[service]->state;
  const auto& member = state.members[position];
  const auto standing = picture.health.standing(state.name, backend);
  const auto count = connections.find(picture.layout->services[service].targets[position]);
  ordered_json report{{"name", member.name.str()}};
  report["address"] = backend.address.to_string();
  report["zone"] = picture.layout->zones.name(member.zone);
  report["failover"] = member.failover;
  report["weight"] = member.weight;
  report["state"] = state_name(member, standing);
  if (!standing.reason.empty()) report["reason"] = standing.reason;
  report["connections"] = count == connections.end() ? 0 : count->second;
  return report;
}

const char* state_name(conntrack::State state) {
  static constexpr const char* names[] = {"syn", "single", "confirmed", "fin", "rst", "removed"};
  return names[static_cast<std::size_t>(state)];
}

net::Endpoint endpoint4(std::uint32_t raw, std::uint16_t port) {
  return {net::IpAddress::v4(net::be32::from_raw(raw)), net::be16::from_raw(port).value()};
}

net::Endpoint endpoint6(const std::uint64_t* words, std::uint16_t port) {
  net::IpAddress::Bytes bytes;
  std::memcpy(bytes.data(), words, bytes.size());
  return {net::IpAddress::v6(bytes), net::be16::from_raw(port).value()};
}

/// Goes through a table and lists what belongs to a backend.
class ConnectionList {
 public:
  ConnectionList(const Picture& picture, const std::string& backend) {
    names_.resize(picture.known_targets.size());
    for (const auto& service : picture.layout->services)
      for (std::size_t i = 0; i < service.targets.size(); ++i)
        if (picture.known_targets[service.targets[i]] &&
            (backend.empty() || service.members[i].backend == backend))
          names_[service.targets[i]] = {&service.name, &service.members[i].backend};
    now_ = dataplane::table_seconds(rte_rdtsc());
  }

  template <class Table, class Ends>
  void add(const Table& table, Ends ends) {
    table.for_each(
        now_, [&](const conntrack::FlowKey& key, const conntrack::Entry& entry, std::uint32_t idle) {
          if (entry.target >= names_.size() || names_[entry.target].backend == nullptr) return;
          ++count_;
          if (list_.size() == listed_connections) return;
          const auto [source, destination] = ends(key);
          list_.push_back({{"source", source.to_string()},
                           {"destination", destination.to_string()},
                           {"protocol", key.ports_protocol >> 32 == packet::ip_protocol::tcp ? "TCP" : "UDP"},
                           {"service", *names_[entry.target].service},
                           {"backend", *names_[entry.target].backend},
                           {"state", state_name(entry.state)},
                           {"idle_seconds", idle}});
        });
  }

  [[nodiscard]] ordered_json report() const {
    return {{"count", count_}, {"listed", list_.size()}, {"connections", list_}};
  }

 private:
  /// Null: not wanted.
  struct Names {
    const std::string* service = nullptr;
    const std::string* backend = nullptr;
  };

  /// By TargetId.
  std::vector<Names> names_;
  std::uint32_t now_ = 0;
  std::uint64_t count_ = 0;
  ordered_json list_ = ordered_json::array();
};

}  // namespace

ordered_json report_status(const Picture& picture) {
  const auto& engine = picture.engine;
  const auto& config = *picture.config;
  ordered_json ports = ordered_json::array();
  for (std::size_t i = 0; i < engine.ports().size(); ++i) {
    const auto& port = engine.ports()[i];
    ports.push_back({{"name", config.machine.ports[i].name},
                     {"mac", port.view().mac.to_string()},
                     {"rx_queues", port.rx_queues()},
                     {"tx_queues", port.tx_queues()},
                     {"mtu", port.view().mtu}});
  }
  ordered_json neighbours = ordered_json::array();
  for (const auto& [key, mac] : picture.neighbours)
    neighbours.push_back({{"address", key.address.to_string()},
                          {"port", config.machine.ports[key.port].name},
                          {"mac", mac ? ordered_json(mac->to_string()) : ordered_json(nullptr)}});
  ordered_json services = ordered_json::array();
  for (const auto& plan : picture.plans) {
    if (!plan) continue;
    const auto healthy = std::ranges::count_if(
        plan->state.members, [](const auto& member) { return member.healthy && !member.draining; });
    services.push_back({{"name", plan->state.name},
                        {"active_pool", policy::name(plan->pool)},
                        {"healthy", healthy},
                        {"backends", plan->state.members.size()}});
  }
  return {{"forwarding", picture.forwarding}, {"generation", picture.generation},
          {"workers", engine.workers()},      {"ports", ports},
          {"neighbours", neighbours},         {"services", services}};
}

ordered_json report_services(const Picture& picture) {
  const auto connections = picture.totals.connections();
  const auto members = policy::backends_by_service(*picture.config);
  ordered_json services = ordered_json::array();
  for (std::size_t service = 0; service < picture.plans.size(); ++service) {
    const auto& plan = picture.plans[service];
    if (!plan) continue;
    ordered_json rules = ordered_json::array();
    for (const auto& rule : picture.config->forwarding_rules)
      if (rule.backend_service == plan->state.name) rules.push_back(rule.name);
    ordered_json backends = ordered_json::array();
    for (std::size_t i = 0; i < plan->state.members.size(); ++i)
      backends.push_back(backend_report(picture, service, *members[service][i], i, connections));
    services.push_back({{"name", plan->state.name},
                        {"active_pool", policy::name(plan->pool)},
                        {"rules", rules},
                        {"backends", backends}});
  }
  return {{"services", services}};
}

ordered_json report_drops(const dataplane::Engine& engine) {
  ordered_json drops = ordered_json::object();
  for (std::size_t i = 0; i < packet::drop_reasons; ++i) {
    std::uint64_t total = 0;
    for (unsigned worker = 0; worker < engine.workers(); ++worker)
      total += engine.counters(worker).drops[i].value();
    if (total > 0) drops[std::string(packet::name(static_cast<packet::DropReason>(i)))] = total;
  }
  return {{"drops", drops}};
}

ordered_json report_connections(const Picture& picture, const std::string& backend) {
  ConnectionList list(picture, backend);
  const auto port = [](const conntrack::FlowKey& key, unsigned shift) {
    return static_cast<std::uint16_t>(key.ports_protocol >> shift);
  };
  list.add(picture.engine.table4(), [&](const conntrack::FlowKey& key) {
    return std::pair(endpoint4(static_cast<std::uint32_t>(key.addresses[0]), port(key, 0)),
                     endpoint4(static_cast<std::uint32_t>(key.addresses[0] >> 32), port(key, 16)));
  });
  list.add(picture.engine.table6(), [&](const conntrack::FlowKey& key) {
    return std::pair(endpoint6(&key.addresses[0], port(key, 0)), endpoint6(&key.addresses[2], port(key, 16)));
  });
  return list.report();
}

}  // namespace zonelb::control
