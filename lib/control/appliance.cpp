#include "control/appliance.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include <boost/asio/post.hpp>

#include "config/command_line.hpp"
#include "config/log.hpp"
#include "control/api.hpp"
#include "dataplane/machine_error.hpp"

namespace zonelb::control {
namespace {

using config::log;

constexpr auto tick_interval = std::chrono::milliseconds(5);
/// Ticks between two looks at neighbours and target numbers.
constexpr std::uint64_t neighbour_ticks = 20;
constexpr std::uint64_t release_ticks = 200;
/// So that a flood of ARP does not keep the loop from its other work.
constexpr unsigned reports_per_tick = 1024;
/// Addresses are announced again, as a link may take its time to come up.
constexpr std::array announce_after{std::chrono::seconds(0), std::chrono::seconds(1),
                                    std::chrono::seconds(3)};
/// A service forwards after its first round of probes or this long (semantics.md section 8).
constexpr auto first_round_limit = std::chrono::seconds(1);
/// So that backends that fail together, as a rack does, make one snapshot and not a hundred.
constexpr auto settling_time = std::chrono::milliseconds(2);

std::vector<dataplane::PortView> views(const dataplane::Engine& engine) {
  std::vector<dataplane::PortView> result;
  for (const auto& port : engine.ports()) result.push_back(port.view());
  return result;
}

}  // namespace

Appliance::Appliance(config::Config config, ReadConfig read_again, dataplane::Engine& engine)
    : signals_(io_, SIGTERM, SIGINT, SIGHUP),
      ticker_(io_),
      start_limit_(io_),
      read_again_(std::move(read_again)),
      engine_(engine),
      state_(views(engine), engine.workers()),
      link_(engine),
      neighbours_([this](const auto& key, const auto& last_known) { link_.ask(key, last_known); }),
      changes_(io_, settling_time, [this] { publish(); }),
      server_(io_,
              [this](const http::Request& request) {
                // What is told is in force: no answer shows a probe's result that workers do not know yet.
                if (changes_.pending()) publish();
                return answer(*this, request);
              }),
      prober_([this](const health::StateChange& change) {
        boost::asio::post(io_, [this, change] { probe_changed(change); });
      }) {
  configure(config);
}

void Appliance::configure(const config::Config& config) {
  const auto now = Clock::now();
  auto targets = state_.configure(config, now);
  totals_.begin(state_.layout(), state_.counters());
  link_.configure(config.machine.ports);
  neighbours_.need(state_.next_hops(), now);
  for (const auto& service : config.backend_services)
    if (service.health_check.empty() && told_unchecked_.insert(service.name).second)
      log("service {} has no health check: its backends count as healthy", service.name);
  prober_.set_targets(std::move(targets), {config.probe_source, config.probe_device});
}

void Appliance::run() {
  listen();
  wait_for_signal();
  start_limit_.expires_after(first_round_limit);
  start_limit_.async_wait([this](auto error) {
    if (!error) begin_forwarding("after a second, with probes outstanding");
  });
  publish();
  engine_.start();
  for (const auto delay : announce_after) announcements_.push_back(Clock::now() + delay);
  if (state_.first_round_done()) begin_forwarding("at once");
  schedule_tick();
  io_.run();
  engine_.stop();
}

/// Ends the start: no service waits for probes any more.
void Appliance::begin_forwarding(const char* cause) {
  if (forwarding_) return;
  forwarding_ = true;
  start_limit_.cancel();
  state_.end_start();
  publish();
  log("forwarding {}: {} rules, {} services, {} backends, {} workers", cause,
      state_.config().forwarding_rules.size(), state_.config().backend_services.size(),
      state_.config().backends.size(), engine_.workers());
}

void Appliance::probe_changed(const health::StateChange& change) {
  const auto backends = state_.record(change);
  if (backends.empty()) return;
  if (!change.first_result || change.state == health::State::unhealthy)
    log("{} {}{}{}", backends, change.state == health::State::healthy ? "healthy" : "unhealthy",
        change.reason.empty() ? "" : ": ", change.reason);
  if (!forwarding_ && state_.first_round_done()) {
    begin_forwarding("after the first round of probes");
  } else {
    changes_.request();
  }
}

void Appliance::listen() {
  const auto& machine = state_.config().machine;
  try {
    if (!machine.control_socket.empty()) server_.listen_unix(machine.control_socket);
    if (machine.http_listen.empty()) return;
    const auto bound = server_.listen_tcp(*net::Endpoint::parse(machine.http_listen));
    log("http://{}/metrics", bound.to_string());
  } catch (const http::ListenError& error) {
    throw dataplane::MachineError(
        fmt::format("{}\n  see who holds it: ss -lnpxt; or choose another: --control-socket PATH, "
                    "--http-listen ADDRESS:PORT",
                    error.what()));
  }
}

void Appliance::wait_for_signal() {
  signals_.async_wait([this](auto error, int signal) {
    if (error) return;
    if (signal != SIGHUP) {
      log("leaving on {}", signal == SIGTERM ? "SIGTERM" : "SIGINT");
      io_.stop();
      return;
    }
    try {
      reload();
    } catch (const std::exception& refusal) {
      log("reload refused, the old configuration stays: {}", refusal.what());
    }
    wait_for_signal();
  });
}

void Appliance::reload() {
  const auto config = read_again_();
  config::require_same_machine(state_.config(), config);
  const auto known_vips = state_.vips();
  configure(config);
  log("reloaded: {} rules, {} services, {} backends", config.forwarding_rules.size(),
      config.backend_services.size(), config.backends.size());
  publish();
  auto vips = state_.vips();
  std::erase_if(vips, [&](const auto& vip) { return known_vips.contains(vip); });
  if (!vips.empty()) link_.announce(vips);
}

void Appliance::set_drained(const std::string& backend, bool drained) {
  state_.set_drained(backend, drained, Clock::now());
  log("backend {} {}", backend, drained ? "drains" : "is back");
  publish();
}

void Appliance::schedule_tick() {
  ticker_.expires_after(tick_interval);
  ticker_.async_wait([this](auto error) {
    if (error) return;
    tick();
    schedule_tick();
  });
}

void Appliance::tick() {
  const auto now = Clock::now();
  ++ticks_;
  bool changed = hear_neighbours(now);
  if (ticks_ % neighbour_ticks == 0) changed |= confirm_neighbours(now);
  if (!announcements_.empty() && announcements_.front() <= now) {
    announcements_.pop_front();
    link_.announce(state_.vips());
  }
  if (ticks_ % release_ticks == 0) release_targets();
  if (const auto deadline = state_.next_deadline(); deadline && *deadline <= now) changed = true;
  engine_.publication().reclaim();
  totals_.fold();
  if (changed) publish();
}

bool Appliance::hear_neighbours(Clock::time_point now) {
  bool changed = false;
  dataplane::NeighbourReport report;
  for (unsigned i = 0; i < reports_per_tick && engine_.receive(report); ++i) {
    const auto before = neighbours_.find({report.port, report.address});
    if (!neighbours_.hear(report, now)) continue;
    changed = true;
    if (before)
      log("neighbour {} has moved from {} to {}", report.address.to_string(), before->to_string(),
          report.mac.to_string());
  }
  return changed;
}

bool Appliance::confirm_neighbours(Clock::time_point now) {
  const auto lost = neighbours_.tick(now);
  for (const auto& key : lost)
    log("neighbour {} on port {} no longer answers; what goes by it is dropped until it does",
        key.address.to_string(), state_.config().machine.ports[key.port].name);
  return !lost.empty();
}

void Appliance::release_targets() {
  if (!state_.roster().has_departed()) return;
  const auto connections = totals_.connections();
  state_.release([&](dataplane::TargetId id) {
    const auto count = connections.find(id);
    return count != connections.end() && count->second != 0;
  });
}

void Appliance::publish() {
  changes_.cancel();
  const auto begin = Clock::now();
  Events events;
  auto snapshot = state_.make_snapshot(neighbours_, begin, events);
  engine_.publication().publish(std::move(snapshot));
  last_swap_seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
  for (const auto& event : events) log("{}", event);
}

std::shared_ptr<const Picture> Appliance::picture() const {
  auto picture = std::make_shared<Picture>(Picture{engine_});
  picture->config = state_.kept_config();
  picture->layout = state_.layout();
  picture->plans = state_.plans();
  picture->health = state_.health();
  picture->known_targets = state_.roster().in_use();
  picture->totals = totals_;
  neighbours_.for_each([&](const auto& key, const auto& mac) { picture->neighbours.emplace_back(key, mac); });
  picture->probes = prober_.statistics();
  picture->forwarding = forwarding_;
  picture->generation = state_.generation();
  picture->failovers = state_.failovers();
  picture->last_swap_seconds = last_swap_seconds_;
  return picture;
}

}  // namespace zonelb::control
