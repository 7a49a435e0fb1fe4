// The whole appliance in this process, on a port that receives nothing, asked many things at once.

#include "control/appliance.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <future>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "config/command_line.hpp"
#include "dataplane/eal.hpp"
#include "http/client.hpp"

using namespace zonelb;

namespace {

constexpr unsigned services = 400;
constexpr unsigned backends_each = 10;

std::string socket_path() {
  static const auto path =
      (std::filesystem::temp_directory_path() / fmt::format("zonelb-appliance-{}.sock", getpid())).string();
  return path;
}

/// `backends` of each service, without health checks.
config::Config configuration(unsigned backends) {
  std::vector<std::string> words{
      "--eal",
      "--no-huge --no-shconf --no-pci --no-telemetry -m 128 --lcores 0@(0-1),1@(0-1) "
      "--vdev=net_null0,no-rx=1"};
  const auto add = [&](const char* flag, const std::string& value) {
    words.emplace_back(flag);
    words.push_back(value);
  };
  add("--port", "name=net_null0,address=10.0.0.2/8");
  add("--connections", "1k");
  add("--connections6", "1k");
  add("--http-listen", "");
  add("--control-socket", socket_path());
  add("--zone", "z");
  for (unsigned i = 0; i < services; ++i) {
    add("--backend-service", fmt::format("name=s{}", i));
    add("--forwarding-rule",
        fmt::format("name=r{0},address=10.255.{1}.{2},protocol=TCP,ports=80,backend-service=s{0}", i, i / 256,
                    i % 256));
    for (unsigned n = 0; n < backends; ++n)
      add("--backend",
          fmt::format("service=s{0},name=s{0}-b{1},address=10.{2}.{3}.{1},zone=z,mac=02:00:00:00:00:01", i, n,
                      1 + i / 256, i % 256));
  }
  return config::read_command_line(words).config;
}

/// Runs on a thread until the test program ends; a closed port does not come back, so there is one for all
/// tests.
class Lab {
 public:
  Lab()
      : eal_(config_.machine.eal),
        engine_(config_.machine),
        appliance_(
            config_, [this] { return configuration(next_backends); }, engine_),
        thread_([this] { appliance_.run(); }) {
    sigaction(SIGTERM, nullptr, &leave_);
    while (ask("GET", "/readyz").status != 200) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ~Lab() {
    // Catch has put back the handler that there was before the test in which this was made.
    sigaction(SIGTERM, &leave_, nullptr);
    kill(getpid(), SIGTERM);
    thread_.join();
  }
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  /// Status 0: it does not listen yet.
  static http::Response ask(const std::string& method, const std::string& target,
                            const std::string& body = {}) {
    try {
      return http::request_unix(socket_path(), method, target, body, std::chrono::minutes(2));
    } catch (const http::ClientError&) {
      return {0, {}, {}};
    }
  }

  /// What a reload finds.
  std::atomic<unsigned> next_backends{backends_each};

 private:
  config::Config config_ = configuration(backends_each);
  dataplane::Eal eal_;
  dataplane::Engine engine_;
  control::Appliance appliance_;
  struct sigaction leave_ {};
  std::thread thread_;
};

Lab& lab() {
  static Lab only;
  return only;
}

/// Asks for `target` again and again, on `threads` threads.
class Crowd {
 public:
  Crowd(std::string target, unsigned threads) : target_(std::move(target)) {
    for (unsigned i = 0; i < threads; ++i)
      threads_.emplace_back([this] {
        while (!enough_) {
          const auto response = Lab::ask("GET", target_);
          if (response.status != 200) ++failed;
          ++served;
        }
      });
  }
  ~Crowd() {
    enough_ = true;
    for (auto& thread : threads_) thread.join();
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  std::atomic<unsigned> served{0};
  std::atomic<unsigned> failed{0};

 private:
  const std::string target_;
  std::atomic<bool> enough_{false};
  std::vector<std::thread> threads_;
};

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("decisions do not wait for the pages that are being made") {
  lab();
  constexpr unsigned decisions = 40;
  Crowd crowd("/metrics", 6);
  while (crowd.served == 0) std::this_thread::yield();
  const auto before = crowd.served.load();
  for (unsigned i = 0; i < decisions; ++i) {
    const auto response =
        Lab::ask("POST", i % 2 == 0 ? "/v1/drain?backend=s7-b1" : "/v1/undrain?backend=s7-b1");
    CHECK(response.status == 200);
  }
  // Where they share the loop, each of them waits for several pages.
  CHECK(crowd.served - before < decisions);
  CHECK(crowd.failed == 0);
}

TEST_CASE("a page shows what was in force when it was asked for, whatever happens while it is made") {
  auto& here = lab();
  {
    Crowd metrics("/metrics", 1);
    Crowd list("/v1/services", 1);
    Crowd status("/v1/status", 1);
    Crowd connections("/v1/connections?backend=s1-b1", 1);
    for (unsigned i = 0; i < 6; ++i) {
      here.next_backends = backends_each + i % 2;
      CHECK(Lab::ask("POST", "/v1/reload").status == 200);
      const auto page = std::async(std::launch::async, [] { return Lab::ask("GET", "/metrics"); });
      CHECK(Lab::ask("POST", "/v1/drain?backend=s9-b2").status == 200);
      CHECK(Lab::ask("POST", "/v1/undrain?backend=s9-b2").status == 200);
      page.wait();
    }
    for (const auto* crowd : {&metrics, &list, &status, &connections}) CHECK(crowd->failed == 0);
  }
  for (const unsigned backends : {backends_each, backends_each + 1}) {
    here.next_backends = backends;
    auto earlier = std::async(std::launch::async, [] { return Lab::ask("GET", "/v1/services").body; });
    CHECK(Lab::ask("POST", "/v1/reload").status == 200);
    const auto seen = occurrences(earlier.get(), "\"address\"");
    CHECK((seen == services * backends_each || seen == services * (backends_each + 1)));
    CHECK(occurrences(Lab::ask("GET", "/v1/services").body, "\"address\"") == services * backends);
    CHECK(occurrences(Lab::ask("GET", "/metrics").body, "\nzonelb_backend_healthy{") == services * backends);
  }
}

TEST_CASE("errors of pages made beside the loop are named as elsewhere") {
  lab();
  CHECK(Lab::ask("POST", "/v1/explain", "{}").status == 400);
  CHECK(Lab::ask("POST", "/v1/explain", "nonsense").status == 400);
  const auto unknown = Lab::ask("POST", "/v1/explain", R"({"rule": "none", "client": "10.0.0.9:1"})");
  CHECK(unknown.status == 400);
  CHECK(nlohmann::json::parse(unknown.body)["error"].get<std::string>().find("none") != std::string::npos);
  const auto known = Lab::ask("POST", "/v1/explain", R"({"rule": "r3", "client": "10.0.0.9:1"})");
  CHECK(known.status == 200);
  CHECK(nlohmann::json::parse(known.body)["service"] == "s3");
}
