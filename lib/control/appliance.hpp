#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "control/debounce.hpp"
#include "control/link.hpp"
#include "control/picture.hpp"
#include "dataplane/engine.hpp"
#include "health/prober.hpp"
#include "http/server.hpp"

namespace zonelb::control {

/// The main core's loop: probe results, neighbours, commands and signals go in, snapshots come out.
/// Everything in it runs on the thread that calls run().
class Appliance {
 public:
  /// Reads the configuration again; throws config::ConfigError.
  using ReadConfig = std::function<config::Config()>;

  Appliance(config::Config config, ReadConfig read_again, dataplane::Engine& engine);

  /// Opens the sockets (throws dataplane::MachineError) and starts the workers; each service forwards after
  /// its first round of probes or a second. Returns after SIGTERM or SIGINT.
  void run();

  /// Takes over the configuration as it reads now. Throws config::ConfigError; the old one stays in force
  /// then.
  void reload();
  /// Throws std::invalid_argument: no such backend.
  void set_drained(const std::string& backend, bool drained);

  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] const dataplane::Engine& engine() const { return engine_; }
  /// Is the start over for all services?
  [[nodiscard]] bool forwarding() const { return forwarding_; }
  [[nodiscard]] std::shared_ptr<const Picture> picture() const;

 private:
  void configure(const config::Config& config);
  void begin_forwarding(const char* cause);
  void probe_changed(const health::StateChange& change);
  void listen();
  void wait_for_signal();
  void tick();
  void schedule_tick();
  /// Takes what workers have heard of neighbours. True: the snapshot is out of date.
  bool hear_neighbours(Clock::time_point now);
  /// Asks neighbours that are due. True: the snapshot is out of date.
  bool confirm_neighbours(Clock::time_point now);
  void publish();
  void release_targets();

  boost::asio::io_context io_{1};
  boost::asio::signal_set signals_;
  boost::asio::steady_timer ticker_;
  boost::asio::steady_timer start_limit_;
  ReadConfig read_again_;
  dataplane::Engine& engine_;
  State state_;
  Totals totals_;
  Link link_;
  dataplane::Neighbours neighbours_;
  /// Publishes what probes have changed.
  Debounce changes_;
  http::Server server_;
  bool forwarding_ = false;
  /// When to announce our addresses (again).
  std::deque<Clock::time_point> announcements_;
  /// Services whose lack of a health check has been mentioned.
  std::set<std::string> told_unchecked_;
  std::uint64_t ticks_ = 0;
  double last_swap_seconds_ = 0;
  // Last, as its thread calls into what is above.
  health::Prober prober_;
};

}  // namespace zonelb::control
