#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
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
  // First what each look at a service's items goes through.
  dataplane::TargetId id = 0;
  /// In the configuration in force.
  bool configured = true;
  bool healthy = false;
  /// What has become of its tracked connections. By is_tcp.
  Ending ending[2] = {Ending::none, Ending::none};
  std::uint16_t epoch[2] = {0, 0};
  /// No new connections since then: drained by flag or command, or removed.
  std::optional<Clock::time_point> drained_since;
  /// Healthy, while the other pool is active, since then.
  std::optional<Clock::time_point> idle_pool_since;
  config::Backend backend;
  config::BackendService service;
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

  /// What is known of a service when its connections are looked at. Called for items of that service alone.
  struct Situation {
    policy::ActivePool pool = policy::ActivePool::dropped;
    std::function<bool(const RosterItem&)> healthy;
    /// Is an unhealthy backend sent new connections all the same?
    std::function<bool(const RosterItem&)> chosen_though_unhealthy;
  };
  /// Looks again at whose connections to a service's backends have to end, and moves their epochs on.
  void evaluate(const std::string& service, const Situation& situation, Clock::time_point now);
  /// When evaluate() may next have a different answer by time alone.
  [[nodiscard]] std::optional<Clock::time_point> next_deadline() const;
  /// The services for which that time has come.
  [[nodiscard]] std::vector<std::string> due(Clock::time_point now) const;

  /// Forgets items that left the configuration, have ended and whose connections are gone.
  void release(const std::function<bool(dataplane::TargetId)>& has_connections);

  [[nodiscard]] const std::vector<RosterItem>& items() const { return items_; }
  /// A service's items by position: the configured ones sorted by name, as in a plan, then those that still
  /// drain.
  [[nodiscard]] std::vector<const RosterItem*> members(const std::string& service) const;
  /// Has anything left the configuration that connections may still know?
  [[nodiscard]] bool has_departed() const { return departed_ > 0; }
  [[nodiscard]] const RosterItem* find(const std::string& service, const std::string& backend) const;
  /// The epochs of a number, also of one that is not in use.
  [[nodiscard]] std::span<const std::uint16_t, 2> epoch(dataplane::TargetId id) const {
    return epochs_[id].value;
  }
  /// By number: does an item have it?
  [[nodiscard]] std::vector<bool> in_use() const;
  /// One more than the highest number ever used.
  [[nodiscard]] std::size_t id_limit() const { return epochs_.size(); }

 private:
  struct Epochs {
    std::uint16_t value[2] = {0, 0};
  };

  dataplane::TargetId take_id();
  [[nodiscard]] std::optional<Clock::time_point> drain_end(const RosterItem& item) const;
  [[nodiscard]] std::optional<Clock::time_point> failover_end(const RosterItem& item) const;
  [[nodiscard]] Ending ending(const RosterItem& item, bool tcp, const Situation& situation,
                              Clock::time_point now) const;
  void evaluate(RosterItem& item, const Situation& situation, Clock::time_point now);
  /// Notes where each service's items are.
  void index();

  struct Service {
    /// Positions in items_, in the order of members().
    std::vector<std::size_t> items;
    std::size_t configured = 0;
  };

  std::vector<RosterItem> items_;
  /// By number, also of those not in use: a number goes on where it left off.
  std::vector<Epochs> epochs_;
  std::vector<dataplane::TargetId> free_ids_;
  std::unordered_map<std::string, Service> services_;
  std::size_t departed_ = 0;
  /// By service that has one: when time alone will next end connections.
  using Deadlines = std::map<std::string, Clock::time_point>;
  Deadlines deadlines_;
};

}  // namespace zonelb::control
