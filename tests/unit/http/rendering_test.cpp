// Responses that take long to make are made beside the event loop.

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include <fmt/format.h>

#include "catch.hpp"
#include "running_server.hpp"

using namespace zonelb::http;

namespace {

/// Closed until somebody opens it.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  /// Returns once so many have come, whether or not they have been let through.
  void wait_for_arrivals(unsigned count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= count; });
  }
  [[nodiscard]] unsigned arrived() {
    const std::lock_guard lock(mutex_);
    return arrived_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  unsigned arrived_ = 0;
};

/// /slow… is rendered once the gate is open; anything else is answered on the loop with the number of
/// requests.
struct Site {
  Gate gate;
  std::atomic<unsigned> requests{0};

  Handler handler() {
    return [this](const Request& request) -> Answer {
      const auto number = ++requests;
      if (!request.path.starts_with("/slow")) return Response{200, "text/plain", fmt::format("={}", number)};
      return [this, path = request.path] {
        gate.pass();
        if (path == "/slow/throw") throw std::runtime_error("cannot be rendered");
        return Response{200, "text/plain", "rendered " + path};
      };
    };
  }
  void wait_for_requests(unsigned count) const {
    while (requests < count) std::this_thread::yield();
  }
};

std::string get_text(const std::string& target) {
  return "GET " + target + " HTTP/1.1\r\nConnection: close\r\n\r\n";
}

std::string get(const RunningServer& server, const std::string& target) {
  RawClient client(server.tcp().port);
  client.send(get_text(target));
  return client.receive_all();
}

}  // namespace

TEST_CASE("while a response is rendered others are answered, and it comes when it is done") {
  Site site;
  const RunningServer server(site.handler());
  RawClient slow(server.tcp().port);
  slow.send(get_text("/slow"));
  site.gate.wait_for_arrivals(1);
  CHECK(get(server, "/").ends_with("\r\n\r\n=2"));
  CHECK(get(server, "/").ends_with("\r\n\r\n=3"));
  site.gate.open();
  CHECK(slow.receive_all().ends_with("\r\n\r\nrendered /slow"));
}

TEST_CASE("renderings wait for each other; each client gets its own, also over one connection") {
  Site site;
  const RunningServer server(site.handler());
  std::array<RawClient, 3> clients{RawClient(server.tcp().port), RawClient(server.tcp().port),
                                   RawClient(server.tcp().port)};
  for (std::size_t i = 0; i < clients.size(); ++i)
    clients[i].send(fmt::format("GET /slow/{} HTTP/1.1\r\n\r\n", i));
  site.wait_for_requests(3);
  site.gate.wait_for_arrivals(1);
  CHECK(get(server, "/").ends_with("\r\n\r\n=4"));
  CHECK(site.gate.arrived() == 1);
  site.gate.open();
  for (const std::size_t i : {2U, 0U, 1U})
    CHECK(clients[i].receive_to(fmt::format("rendered /slow/{}", i)).starts_with("HTTP/1.1 200 OK\r\n"));
  clients[0].send(get_text("/slow/again"));
  CHECK(clients[0].receive_all().ends_with("\r\n\r\nrendered /slow/again"));
}

TEST_CASE("HEAD of a rendered page has its length; what a rendering throws is a 500") {
  Site site;
  site.gate.open();
  const RunningServer server(site.handler());
  RawClient client(server.tcp().port);
  client.send("HEAD /slow HTTP/1.1\r\nConnection: close\r\n\r\n");
  const auto head = client.receive_all();
  CHECK(head.find("\r\nContent-Length: 14\r\n") != std::string::npos);
  CHECK(head.ends_with("\r\n\r\n"));
  const auto thrown = get(server, "/slow/throw");
  CHECK(thrown.starts_with("HTTP/1.1 500 "));
  CHECK(thrown.find(R"({"error":"cannot be rendered"})") != std::string::npos);
}

TEST_CASE("a client that leaves before its page is ready harms nobody") {
  Site site;
  const RunningServer server(site.handler());
  {
    RawClient hasty(server.tcp().port);
    hasty.send(get_text("/slow"));
    site.gate.wait_for_arrivals(1);
  }
  site.gate.open();
  CHECK(get(server, "/slow/next").ends_with("rendered /slow/next"));
}

TEST_CASE("a server that goes waits for the rendering under way and forgets those behind it") {
  Site site;
  std::optional<RunningServer> server;
  server.emplace(site.handler());
  std::array<RawClient, 3> clients{RawClient(server->tcp().port), RawClient(server->tcp().port),
                                   RawClient(server->tcp().port)};
  for (auto& client : clients) client.send(get_text("/slow"));
  site.wait_for_requests(3);
  site.gate.wait_for_arrivals(1);
  std::string seen;
  std::thread patient([&] {
    for (auto& client : clients) seen += client.receive_all();
    site.gate.open();
  });
  server.reset();
  patient.join();
  CHECK(seen.empty());
  CHECK(site.gate.arrived() == 1);
}

TEST_CASE("an event loop may end before a rendering, and the server after it") {
  Site site;
  boost::asio::io_context io;
  {
    Server server(io, site.handler());
    RawClient client(server.listen_tcp(any_port).port);
    client.send(get_text("/slow"));
    while (site.requests == 0) io.run_one();
    site.gate.wait_for_arrivals(1);
    site.gate.open();
  }
  CHECK(site.gate.arrived() == 1);
}
