#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "dataplane/snapshot.hpp"
#include "policy/eligibility.hpp"

namespace zonelb::control {

using Clock = std::chrono::steady_clock;

/// How far the connections tracked to a target have been ended; a step up ends those there are.
enum class Ending : std::uint8_t {
  none,
  /// Moved away from an unhealthy backend that new ones may still be sent to (STAY_WITHIN_ZONE with nothing
  /// healthy in the zone).
  moved,
  over
};

/// A backend as a member of one service, for as long as any tracked connection may know it. Its identity is
/// service, name and address: a name that comes back with another address is another backend.
struct RosterItem {
  dataplane::TargetId id = 0;
  config::BackendService service;
  config::Backend backend;
  /// In the configuration in force.
  bool configured = true;
  /// No new connections since then: drained by flag or command, or removed.
  std::optional<Clock::time_point> drained_since;
  /// Healthy, while the other pool is active, since then.
  std::optional<Clock::time_point> idle_pool_since;
  bool healthy = false;
  /// What has become of its tracked connections. By is_tcp.
  Ending ending[2] = {Ending::none, Ending::none};
  std::uint16_t epoch[2] = {0, 0};
};

/// All targets: their numbers, and when the connections tracked to them end (semantics.md sections 4 and 5).
/// A number is given to another backend only when no connection remembers the last one.
class Roster {
 public:
  static constexpr auto failover_drain = std::chrono::minutes(10);

  /// Takes over a new configuration; what has left it drains.
  void configure(const config::Config& config, Clock::time_point now);
  /// `backends` are drained by command, besides those with drain=true.
  void drain(const std::set<std::string>& backends, Clock::time_point now);

  using HealthOf = std::function<bool(const RosterItem&)>;
  using PoolOf = std::function<policy::ActivePool(const std::string& service)>;
  /// Is an unhealthy backend sent new connections all the same?
  using ChosenThoughUnhealthy = std::function<bool(const RosterItem&)>;
  /// Looks again at whose connections have to end, and moves their epochs on.
  void evaluate(const HealthOf& healthy, const PoolOf& pool, const ChosenThoughUnhealthy& chosen,
                Clock::time_point now);
  /// When evaluate() may next have a different answer by time alone.
  [[nodiscard]] std::optional<Clock::time_point> next_deadline() const;

  /// Forgets items that left the configuration, have ended and whose connections are gone.
  void release(const std::function<bool(dataplane::TargetId)>& has_connections);

  [[nodiscard]] const std::vector<RosterItem>& items() const { return items_; }
  [[nodiscard]] const RosterItem* find(const std::string& service, const std::string& backend) const;
  /// The epochs of a number, also of one that is not in use.
  [[nodiscard]] std::span<const std::uint16_t, 2> epoch(dataplane::TargetId id) const {
    return epochs_[id].value;
  }
  /// One more than the highest number ever used.
  [[nodiscard]] std::size_t id_limit() const { return epochs_.size(); }

 private:
  struct Epochs {
    std::uint16_t value[2] = {0, 0};
  };

  dataplane::TargetId take_id();
  [[nodiscard]] std::optional<Clock::time_point> drain_end(const RosterItem& item) const;
  [[nodiscard]] std::optional<Clock::time_point> failover_end(const RosterItem& item) const;
  [[nodiscard]] Ending ending(const RosterItem& item, bool tcp, policy::ActivePool pool,
                              const ChosenThoughUnhealthy& chosen, Clock::time_point now) const;

  std::vector<RosterItem> items_;
  /// By number, also of those not in use: a number goes on where it left off.
  std::vector<Epochs> epochs_;
  std::vector<dataplane::TargetId> free_ids_;
};

}  // namespace zonelb::control
