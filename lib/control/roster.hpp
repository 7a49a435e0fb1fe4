#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "dataplane/snapshot.hpp"
#include "policy/eligibility.hpp"

namespace zonelb::control {

using Clock = std::chrono::steady_clock;

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
  /// Have its tracked connections been ended? By is_tcp.
  bool ended[2] = {false, false};
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
  /// Looks again at who has to end. True: an epoch changed, so workers need to know.
  bool evaluate(const HealthOf& healthy, const PoolOf& pool, Clock::time_point now);
  /// When evaluate() may next have a different answer by time alone.
  [[nodiscard]] std::optional<Clock::time_point> next_deadline() const;

  /// Forgets items that left the configuration, have ended and whose connections are gone.
  void release(const std::function<bool(dataplane::TargetId)>& has_connections);

  [[nodiscard]] const std::vector<RosterItem>& items() const { return items_; }
  [[nodiscard]] const RosterItem* find(const std::string& service, const std::string& backend) const;
  /// One more than the highest number in use.
  [[nodiscard]] std::size_t id_limit() const { return epochs_.size(); }

 private:
  struct Epochs {
    std::uint16_t value[2] = {0, 0};
  };

  dataplane::TargetId take_id();
  [[nodiscard]] std::optional<Clock::time_point> drain_end(const RosterItem& item) const;
  [[nodiscard]] std::optional<Clock::time_point> failover_end(const RosterItem& item) const;
  [[nodiscard]] bool ends(const RosterItem& item, bool tcp, policy::ActivePool pool,
                          Clock::time_point now) const;

  std::vector<RosterItem> items_;
  /// By number, also of those not in use: a number goes on where it left off.
  std::vector<Epochs> epochs_;
  std::vector<dataplane::TargetId> free_ids_;
};

}  // namespace zonelb::control
