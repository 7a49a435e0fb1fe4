#include "health/prober.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <numeric>

#include <fmt/format.h>

#include "catch.hpp"
#include "fake_backend.hpp"

using namespace zonelb::health;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

/// Collects what a prober reports.
class Changes {
 public:
  Prober::Callback callback() {
    return [this](const StateChange& change) {
      const std::scoped_lock lock(mutex_);
      changes_.push_back(change);
      arrived_.notify_all();
    };
  }

  /// The first `count` changes; fewer when they do not arrive in time.
  std::vector<StateChange> wait(std::size_t count, Clock::duration timeout = 20s) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, timeout, [&] { return changes_.size() >= count; });
    return changes_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<StateChange> changes_;
};

template <class Condition>
bool eventually(Condition condition) {
  for (const auto end = Clock::now() + 20s; Clock::now() < end; std::this_thread::sleep_for(1ms))
    if (condition()) return true;
  return false;
}

/// An HTTP server whose health is switched, and which counts its probes.
struct SwitchedBackend {
  std::atomic<bool> healthy{true};
  std::atomic<unsigned> probes{0};
  FakeBackend backend{[this](tcp::socket socket) {
    read_to(socket, "\r\n\r\n");
    ++probes;
    send(socket, healthy ? ok("") : "HTTP/1.1 503 Service Unavailable\r\n\r\n");
  }};

  [[nodiscard]] ProbeTarget target(std::chrono::milliseconds interval = 20ms) const {
    auto result = http_target(backend.port());
    result.check.check_interval = interval;
    return result;
  }
};

std::uint64_t count(const ProbeStatistics& statistics, Outcome outcome) {
  return statistics.outcomes[static_cast<std::size_t>(outcome)];
}

}  // namespace

TEST_CASE("the first result is reported at once, a later state after its threshold") {
  SwitchedBackend server;
  auto target = server.target();
  target.check.unhealthy_threshold = 3;
  Changes changes;
  Prober prober(changes.callback());
  const auto start = Clock::now();
  prober.set_targets({target});

  const auto first = changes.wait(1).at(0);
  CHECK(Clock::now() - start < 1s);
  CHECK(first.key == target.key);
  CHECK(first.state == State::healthy);
  CHECK(first.first_result);
  CHECK(first.reason.empty());

  const unsigned before = server.probes;
  server.healthy = false;
  const auto second = changes.wait(2).at(1);
  CHECK(second.state == State::unhealthy);
  CHECK_FALSE(second.first_result);
  CHECK(second.reason == "HTTP status 503");
  CHECK(server.probes - before >= 3);

  server.healthy = true;
  CHECK(changes.wait(3).at(2).state == State::healthy);
}

TEST_CASE("a target without a listener is reported unhealthy by its first probe") {
  Changes changes;
  Prober prober(changes.callback());
  prober.set_targets({tcp_target(closed_port())});
  const auto first = changes.wait(1).at(0);
  CHECK(first.state == State::unhealthy);
  CHECK(first.first_result);
  CHECK(first.reason == "connect: Connection refused");
}

TEST_CASE("an unchanged target keeps its state, a changed one starts anew, a removed one is left alone") {
  SwitchedBackend server;
  const auto target = server.target();
  Changes changes;
  Prober prober(changes.callback());
  prober.set_targets({target});
  changes.wait(1);

  SECTION("unchanged") {
    auto other = target;
    other.key = "other";
    prober.set_targets({other, target});
    const auto seen = changes.wait(2);
    CHECK(seen.at(1).key == "other");
    const unsigned before = server.probes;
    CHECK(eventually([&] { return server.probes > before + 6; }));
    CHECK(changes.wait(3, 0s).size() == 2);
    CHECK(prober.statistics().targets == 2);
  }
  SECTION("changed") {
    auto changed = target;
    changed.check.request_path = "/other";
    prober.set_targets({changed});
    const auto again = changes.wait(2).at(1);
    CHECK(again.key == target.key);
    CHECK(again.first_result);
    CHECK(prober.statistics().targets == 1);
  }
  SECTION("removed") {
    prober.set_targets({});
    CHECK(eventually([&] { return prober.statistics().targets == 0; }));
    std::this_thread::sleep_for(50ms);  // a probe in flight may still end
    const unsigned before = server.probes;
    std::this_thread::sleep_for(100ms);
    CHECK(server.probes == before);
  }
}

TEST_CASE("probes start one interval after the other") {
  SwitchedBackend server;
  Changes changes;
  Prober prober(changes.callback());
  prober.set_targets({server.target(100ms)});
  CHECK(eventually([&] { return server.probes >= 2; }));
  const auto start = Clock::now();
  CHECK(eventually([&] { return server.probes >= 12; }));
  const auto took = Clock::now() - start;
  CHECK(took > 900ms);
  CHECK(took < 1500ms);
}

TEST_CASE("after the first round probes lie spread over the interval") {
  constexpr unsigned targets = 200;
  constexpr auto interval = 1000ms;
  std::mutex mutex;
  std::vector<Clock::time_point> accepted;
  const FakeBackend backend([&](tcp::socket) {
    const std::scoped_lock lock(mutex);
    accepted.push_back(Clock::now());
  });
  Changes changes;
  Prober prober(changes.callback());
  std::vector<ProbeTarget> all(targets, tcp_target(backend.port()));
  for (unsigned i = 0; i < targets; ++i) {
    all[i].key = fmt::format("hc/10.0.0.{}", i);
    all[i].check.check_interval = interval;
  }
  prober.set_targets(all);
  CHECK(eventually([&] {
    const std::scoped_lock lock(mutex);
    return accepted.size() >= 2 * targets;
  }));
  const std::scoped_lock lock(mutex);
  std::array<unsigned, 10> tenths{};
  for (unsigned i = targets; i < 2 * targets; ++i) {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(accepted[i] - accepted[targets]);
    ++tenths[static_cast<std::size_t>(std::min<std::int64_t>(since / 100ms, 9))];
  }
  CHECK(*std::max_element(tenths.begin(), tenths.end()) < targets / 3);
  CHECK(std::count(tenths.begin(), tenths.end(), 0U) < 3);
}

TEST_CASE("no more probes than allowed are in flight, and the others get their turn") {
  std::mutex mutex;
  std::vector<tcp::socket> held;
  const FakeBackend backend([&](tcp::socket socket) {
    const std::scoped_lock lock(mutex);
    held.push_back(std::move(socket));
  });
  const auto connections = [&] {
    const std::scoped_lock lock(mutex);
    return held.size();
  };
  std::vector<ProbeTarget> targets(12, tcp_target(backend.port()));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    targets[i].key = fmt::format("{}", i);
    targets[i].check.response = "never";
    targets[i].check.timeout = 500ms;
    targets[i].check.check_interval = 60s;
  }
  Changes changes;
  Prober prober(changes.callback(), 4);
  prober.set_targets(targets);
  CHECK(eventually([&] { return connections() >= 4; }));
  std::this_thread::sleep_for(100ms);
  CHECK(connections() == 4);

  const auto all = changes.wait(12);
  CHECK(all.size() == 12);
  CHECK(std::all_of(all.begin(), all.end(), [](const auto& c) { return c.state == State::unhealthy; }));
  const auto statistics = prober.statistics();
  CHECK(statistics.queued == 8);
  CHECK(count(statistics, Outcome::timed_out) == 12);
  CHECK(std::accumulate(statistics.durations.begin(), statistics.durations.end(), std::uint64_t{0}) == 12);
  CHECK(statistics.duration_sum_seconds > 12 * 0.5);
  const std::scoped_lock lock(mutex);
  held.clear();  // while the backend they came from lives
}

TEST_CASE("targets removed while they wait for their turn are not probed") {
  const FakeBackend backend([](tcp::socket socket) { wait_for_close(socket); });
  std::vector<ProbeTarget> targets(4, tcp_target(backend.port()));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    targets[i].key = fmt::format("{}", i);
    targets[i].check.response = "never";
    targets[i].check.timeout = 200ms;
  }
  Changes changes;
  Prober prober(changes.callback(), 1);
  prober.set_targets(targets);
  CHECK(eventually([&] { return prober.statistics().queued == 3; }));
  auto last = tcp_target(backend.port());
  last.key = "last";
  prober.set_targets({last});
  const auto seen = changes.wait(1);
  CHECK(seen.at(0).key == "last");
  CHECK(eventually([&] { return count(prober.statistics(), Outcome::passed) == 1; }));
  CHECK(count(prober.statistics(), Outcome::timed_out) == 1);
}

TEST_CASE("a prober goes away at once, with probes in flight and in line") {
  const FakeBackend backend([](tcp::socket socket) { wait_for_close(socket); });
  std::vector<ProbeTarget> targets(50, tcp_target(backend.port()));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    targets[i].key = fmt::format("{}", i);
    targets[i].check.response = "never";
    targets[i].check.timeout = 60s;
  }
  Changes changes;
  const auto start = Clock::now();
  {
    Prober prober(changes.callback(), 20);
    prober.set_targets(targets);
    CHECK(eventually([&] { return prober.statistics().queued == 30; }));
  }
  CHECK(Clock::now() - start < 5s);
  CHECK(changes.wait(1, 0s).empty());
}

TEST_CASE("ten thousand targets get their first result within seconds") {
  std::atomic<unsigned> accepted{0};
  const FakeBackend backend([&](tcp::socket) { ++accepted; });
  std::vector<ProbeTarget> targets(10'000, tcp_target(backend.port()));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto address = fmt::format("127.1.{}.{}", i / 250, i % 250 + 1);
    targets[i].key = "hc/" + address;
    targets[i].address = *zonelb::net::IpAddress::parse(address);
  }
  Changes changes;
  Prober prober(changes.callback());
  const auto start = Clock::now();
  prober.set_targets(targets);
  const auto all = changes.wait(targets.size(), 60s);
  const std::chrono::duration<double> took = Clock::now() - start;
  INFO(fmt::format("took {:.2f} s", took.count()));
  CHECK(took < 15s);
  CHECK(all.size() == targets.size());
  CHECK(std::all_of(all.begin(), all.end(), [](const auto& c) { return c.state == State::healthy; }));
}
