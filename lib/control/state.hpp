#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/config.hpp"
#include "control/health_board.hpp"
#include "control/layout_builder.hpp"
#include "control/roster.hpp"
#include "dataplane/neighbours.hpp"
#include "dataplane/snapshot.hpp"
#include "policy/service_state.hpp"

namespace zonelb::control {

/// By service, as in the layout; null: it waits for its first round of probes.
using Plans = std::vector<std::shared_ptr<const policy::ServicePlan>>;

/// Bytes of all tables that new connections are placed by.
std::size_t table_bytes(const Plans& plans);

/// What happened to services, for the log.
using Events = std::vector<std::string>;

/// What the main core knows, and the snapshot that follows from it. No clock, socket or DPDK port of its own:
/// time, probe results and neighbours are told to it.
class State {
 public:
  State(std::vector<dataplane::PortView> ports, unsigned workers)
      : ports_(std::move(ports)), workers_(workers) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Takes over a configuration, the first one or a reload. Returns what is to be probed. Throws ConfigError
  /// with the old configuration still in force.
  std::vector<health::ProbeTarget> configure(const config::Config& config, Clock::time_point now);

  /// Notes a probe's result; returns whom it is about, or nothing when nobody has that target.
  std::string record(const health::StateChange& change);
  [[nodiscard]] bool first_round_done() const { return health_.first_round_done(); }
  /// From now on no service waits for its first round of probes (semantics.md section 8).
  void end_start();

  /// Backends drained by command. Throws std::invalid_argument naming the known ones.
  void set_drained(const std::string& backend, bool drained, Clock::time_point now);

  /// The snapshot of what is known now; what has not changed since the last one is shared with it. `events`
  /// gets a line for each change of an active pool.
  std::unique_ptr<const dataplane::Snapshot> make_snapshot(const dataplane::Neighbours& neighbours,
                                                           Clock::time_point now, Events& events);
  /// Next hops that have to be resolved.
  [[nodiscard]] std::set<dataplane::NeighbourKey> next_hops() const;
  [[nodiscard]] std::set<net::IpAddress> vips() const;
  [[nodiscard]] std::optional<Clock::time_point> next_deadline() const { return roster_.next_deadline(); }
  /// See Roster::release.
  void release(const std::function<bool(dataplane::TargetId)>& has_connections) {
    roster_.release(has_connections);
  }
  [[nodiscard]] std::size_t table_bytes() const { return control::table_bytes(plans_); }

  [[nodiscard]] const config::Config& config() const { return *config_; }
  /// The same, to be kept: a reload puts another one in its place.
  [[nodiscard]] const std::shared_ptr<const config::Config>& kept_config() const { return config_; }
  [[nodiscard]] const Roster& roster() const { return roster_; }
  [[nodiscard]] const HealthBoard& health() const { return health_; }
  [[nodiscard]] const std::set<std::string>& drained() const { return drained_; }
  [[nodiscard]] const std::shared_ptr<const dataplane::Layout>& layout() const { return built_.layout; }
  [[nodiscard]] const std::shared_ptr<dataplane::CounterBlock>& counters() const { return counters_; }
  [[nodiscard]] const Plans& plans() const { return plans_; }
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  /// Changes between primary and failover pool so far.
  [[nodiscard]] std::uint64_t failovers() const { return failovers_; }

 private:
  /// What decides where a service's new connections go, as it is known now.
  struct Service {
    policy::ServiceState state;
    /// The members' flags, in *config_.
    policy::Backends backends;
  };

  [[nodiscard]] policy::BackendCondition condition(const std::string& service,
                                                   const config::Backend& backend) const;
  /// Looks again at the condition of a service's backend.
  void update(const std::string& service, const std::string& backend);
  void make_plan(std::size_t service, Events& events);
  void note_pool(const policy::ServicePlan* before, const policy::ServicePlan& after, Events& events);
  void end_connections(std::size_t service, Clock::time_point now);
  void resolve_next_hops(const dataplane::Neighbours& neighbours);
  [[nodiscard]] std::vector<std::string> known_zones() const;

  std::vector<dataplane::PortView> ports_;
  unsigned workers_;
  bool starting_ = true;
  std::shared_ptr<const config::Config> config_ = std::make_shared<config::Config>();
  std::set<std::string> drained_;
  HealthBoard health_;
  Roster roster_;
  BuiltLayout built_;
  /// built_.targets with what health, neighbours and epochs say.
  std::vector<dataplane::Target> targets_;
  /// The same for snapshots, but for these chunks, which have changed since.
  dataplane::Targets published_targets_;
  std::set<std::size_t> stale_chunks_;
  /// Neighbours::changes() when next hops were last looked up; nullopt: not yet for this layout.
  std::optional<std::uint64_t> resolved_at_;
  std::shared_ptr<dataplane::CounterBlock> counters_;
  std::unordered_map<std::string, std::size_t> service_positions_;
  /// By service, as in the layout.
  std::vector<Service> services_;
  Plans plans_;
  /// Services whose plan or ended connections may be out of date.
  std::set<std::size_t> changed_;
  std::uint64_t generation_ = 0;
  std::uint64_t failovers_ = 0;
};

}  // namespace zonelb::control
