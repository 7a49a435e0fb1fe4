#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>  // std::exchange, which awaitable.hpp of Boost 1.74 forgets
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "health/probe.hpp"
#include "health/statistics.hpp"
#include "health/threshold.hpp"

namespace zonelb::health {

/// A target's state became another, or its first result is there.
struct StateChange {
  std::string key;
  State state = State::unknown;
  /// Why the last probe failed; empty when it passed.
  std::string reason;
  bool first_result = false;
};

/// Probes targets on a thread of its own (semantics.md section 8).
class Prober {
 public:
  /// Called on the prober's thread; must not throw. A change of a target that set_targets has just removed or
  /// restarted may still arrive; a restarted target then reports its first result.
  using Callback = std::function<void(const StateChange&)>;

  static constexpr std::size_t default_in_flight = 512;

  /// At most `in_flight` probes (sockets) are open at a time; further ones wait for their turn.
  explicit Prober(Callback callback, std::size_t in_flight = default_in_flight);
  /// Abandons probes in flight; no callback runs after it.
  ~Prober();
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  /// From now on these are probed. Targets that are equal keep state and schedule; one whose parameters
  /// differ under the same key starts anew as unknown; absent ones stop. Of equal keys the first counts.
  /// Callable from any thread.
  void set_targets(std::vector<ProbeTarget> targets, ProbeOrigin origin = {});

  [[nodiscard]] ProbeStatistics statistics() const;

 private:
  struct Watch;
  using WatchPtr = std::shared_ptr<Watch>;

  void run();
  void replace_targets(std::vector<ProbeTarget>& targets);
  boost::asio::awaitable<void> watch(WatchPtr watch);
  boost::asio::awaitable<void> probe_once(const WatchPtr& watch);
  boost::asio::awaitable<bool> acquire_slot(WatchPtr watch);
  void release_slot();

  Callback callback_;
  const std::size_t slots_;

  mutable std::mutex statistics_mutex_;
  ProbeStatistics statistics_;

  // All below is touched on the prober's thread alone. Pending coroutines die with the context, after
  // everything declared behind it.
  boost::asio::io_context io_{1};
  ProbeOrigin origin_;
  std::unordered_map<std::string, WatchPtr> watches_;
  std::size_t slots_used_ = 0;
  std::deque<WatchPtr> waiting_;

  std::thread thread_;
};

}  // namespace zonelb::health
