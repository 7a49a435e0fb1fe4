#include "health/probe.hpp"

#include <array>
#include <atomic>
#include <future>
#include <sys/resource.h>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>

#include "catch.hpp"
#include "fake_backend.hpp"

using namespace zonelb::health;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

ProbeResult run(const ProbeTarget& target, const ProbeOrigin& origin = {}) {
  boost::asio::io_context io;
  auto result = boost::asio::co_spawn(io, probe(target, origin), boost::asio::use_future);
  io.run();
  return result.get();
}

ProbeResult run_http(const std::string& answer, const std::string& expected = {}) {
  const FakeBackend backend(answer_http(answer));
  auto target = http_target(backend.port());
  target.check.response = expected;
  return run(target);
}

ProbeResult run_tcp(const std::string& answer, const std::string& expected) {
  const FakeBackend backend([&](tcp::socket socket) { send(socket, answer); });
  auto target = tcp_target(backend.port());
  target.check.response = expected;
  return run(target);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a TCP probe passes by connecting and closes without a reset") {
  std::promise<boost::system::error_code> closed;
  const FakeBackend backend([&](tcp::socket socket) { closed.set_value(wait_for_close(socket)); });
  const auto result = run(tcp_target(backend.port()));
  CHECK(result.outcome == Outcome::passed);
  CHECK(result.reason.empty());
  CHECK(closed.get_future().get() == boost::asio::error::eof);
}

TEST_CASE("a refused connection says so") {
  const auto result = run(tcp_target(closed_port()));
  CHECK(result.outcome == Outcome::connect_failed);
  CHECK(result.reason == "connect: Connection refused");
}

TEST_CASE("a TCP probe sends its request and wants exactly its response") {
  std::promise<std::string> request;
  const FakeBackend backend([&](tcp::socket socket) {
    request.set_value(read_to(socket, "PING"));
    send(socket, "PO");
    std::this_thread::sleep_for(20ms);
    send(socket, "NG");
    wait_for_close(socket);
  });
  auto target = tcp_target(backend.port());
  target.check.request = "PING";
  target.check.response = "PONG";
  CHECK(run(target).outcome == Outcome::passed);
  CHECK(request.get_future().get() == "PING");
}

TEST_CASE("a TCP response that differs, goes on or stops short fails") {
  for (const char* answer : {"PANG", "PONG\n", "XY"}) {
    const auto result = run_tcp(answer, "PONG");
    CHECK(result.outcome == Outcome::wrong_answer);
    CHECK(contains(result.reason, "is not the expected response"));
  }
  CHECK(run_tcp("PONG\n", "PONG").reason == "answer \"PONG\\x0a\" is not the expected response");
  CHECK(run_tcp("PO", "PONG").reason == "connection closed before the answer was complete");
  CHECK(run_tcp(std::string(1024, 'x'), std::string(1024, 'x')).outcome == Outcome::passed);
}

TEST_CASE("an HTTP probe passes with status 200 alone") {
  CHECK(run_http(ok("fine")).outcome == Outcome::passed);
  for (const char* status : {"201 Created", "204 No Content", "301 Moved Permanently", "404 Not Found",
                             "500 Internal Server Error", "503 Service Unavailable", "100 Continue"}) {
    const auto result = run_http(std::string("HTTP/1.1 ") + status + "\r\nLocation: /\r\n\r\n");
    CHECK(result.outcome == Outcome::wrong_answer);
    CHECK(result.reason == std::string("HTTP status ") + std::string(status, 3));
  }
}

TEST_CASE("an HTTP request names path and host and asks to close") {
  std::promise<std::string> request;
  const FakeBackend backend([&](tcp::socket socket) {
    request.set_value(read_to(socket, "\r\n\r\n"));
    send(socket, ok(""));
  });
  auto target = http_target(backend.port());
  target.check.request_path = "/healthz?deep=1";
  SECTION("a name or IPv4 address as it is") {
    CHECK(run(target).outcome == Outcome::passed);
    const auto text = request.get_future().get();
    CHECK(text.starts_with("GET /healthz?deep=1 HTTP/1.1\r\n"));
    CHECK(contains(text, "\r\nHost: 10.0.0.80\r\n"));
    CHECK(contains(text, "\r\nConnection: close\r\n"));
  }
  SECTION("an IPv6 address in brackets") {
    target.host = "2001:db8::80";
    CHECK(run(target).outcome == Outcome::passed);
    CHECK(contains(request.get_future().get(), "\r\nHost: [2001:db8::80]\r\n"));
  }
}

TEST_CASE("the expected response is looked for in the first 1024 bytes of the body") {
  const std::string before(1020, '.');
  CHECK(run_http(ok("all fine"), "fine").outcome == Outcome::passed);
  CHECK(run_http(ok(before + "fine" + before), "fine").outcome == Outcome::passed);
  const auto beyond = run_http(ok(before + ".fine"), "fine");
  CHECK(beyond.outcome == Outcome::wrong_answer);
  CHECK(contains(beyond.reason, "without the expected response in the first 1024 bytes"));
  CHECK(run_http(ok(""), "fine").outcome == Outcome::wrong_answer);
}

TEST_CASE("the body may come in chunks, end with the connection, or be cut after the match") {
  CHECK(
      run_http("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nfi\r\n2\r\nne\r\n0\r\n\r\n", "fine")
          .outcome == Outcome::passed);
  CHECK(run_http("HTTP/1.0 200 OK\r\n\r\nfine", "fine").outcome == Outcome::passed);
  CHECK(run_http("HTTP/1.0 200 OK\r\n\r\nbad", "fine").outcome == Outcome::wrong_answer);
  CHECK(run_http("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfine", "fine").outcome == Outcome::passed);
  CHECK(run_http("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfi", "fine").reason ==
        "connection closed before the answer was complete");
}

TEST_CASE("what is not HTTP fails with the reason") {
  CHECK(contains(run_http("SSH-2.0-OpenSSH_9.2\r\n").reason, "not an HTTP answer: "));
  CHECK(run_http("").reason == "connection closed before the answer was complete");
  CHECK(run_http("HTTP/1.1 200").reason == "connection closed before the answer was complete");
}

TEST_CASE("an endless HTTP header is cut off") {
  const FakeBackend backend([](tcp::socket socket) {
    read_to(socket, "\r\n\r\n");
    send(socket, "HTTP/1.1 200 OK\r\n");
    boost::system::error_code error;
    const std::string line = "X-More: and more\r\n";
    while (!error) boost::asio::write(socket, boost::asio::buffer(line), error);
  });
  const auto result = run(http_target(backend.port()));
  CHECK(result.outcome == Outcome::wrong_answer);
  CHECK(result.reason == "HTTP header exceeds 16384 bytes");
}

TEST_CASE("the timeout covers the whole attempt, also of a server that never stops trickling") {
  const FakeBackend backend([](tcp::socket socket) {
    boost::system::error_code error;
    const std::string byte = "H";
    while (!error) {
      boost::asio::write(socket, boost::asio::buffer(byte), error);
      std::this_thread::sleep_for(20ms);
    }
  });
  auto target = tcp_target(backend.port());
  target.check.response = std::string(1000, 'H');
  target.check.timeout = 300ms;
  const auto start = Clock::now();
  const auto result = run(target);
  const auto took = Clock::now() - start;
  CHECK(result.outcome == Outcome::timed_out);
  CHECK(result.reason == "timed out after 300ms waiting for the answer");
  CHECK(took >= 300ms);
  CHECK(took < 1s);
}

TEST_CASE("a silent HTTP server times out") {
  const FakeBackend backend([](tcp::socket socket) { wait_for_close(socket); });
  auto target = http_target(backend.port());
  target.check.timeout = 1s;
  CHECK(run(target).reason == "timed out after 1s waiting for the answer");
}

TEST_CASE("PROXY_V1 tells the probe's own connection before the request") {
  std::promise<std::pair<std::string, std::uint16_t>> seen;
  const FakeBackend backend([&](tcp::socket socket) {
    const auto port = socket.remote_endpoint().port();
    seen.set_value({read_to(socket, "\r\n\r\n"), port});
    send(socket, ok(""));
  });
  auto target = http_target(backend.port());
  target.check.proxy_header = zonelb::config::ProxyHeader::proxy_v1;
  CHECK(run(target).outcome == Outcome::passed);
  const auto [text, port] = seen.get_future().get();
  CHECK(text.starts_with("PROXY TCP4 127.0.0.1 127.0.0.1 " + std::to_string(port) + " " +
                         std::to_string(backend.port()) + "\r\nGET / HTTP/1.1\r\n"));
}

TEST_CASE("probes leave from the given source and device") {
  std::promise<std::string> source;
  const FakeBackend backend(
      [&](tcp::socket socket) { source.set_value(socket.remote_endpoint().address().to_string()); });
  ProbeOrigin origin;
  SECTION("source and device that exist") {
    origin.source = zonelb::net::IpAddress::parse("127.0.0.9");
    origin.device = "lo";
    CHECK(run(tcp_target(backend.port()), origin).outcome == Outcome::passed);
    CHECK(source.get_future().get() == "127.0.0.9");
  }
  SECTION("a source of the other family does not apply") {
    origin.source = zonelb::net::IpAddress::parse("2001:db8::1");
    CHECK(run(tcp_target(backend.port()), origin).outcome == Outcome::passed);
    CHECK(source.get_future().get() == "127.0.0.1");
  }
  SECTION("a source that is not ours") {
    origin.source = zonelb::net::IpAddress::parse("192.0.2.1");
    CHECK(run(tcp_target(backend.port()), origin).reason == "probe source: Cannot assign requested address");
  }
  SECTION("a device that is not there") {
    origin.device = "nothere0";
    CHECK(run(tcp_target(backend.port()), origin).reason == "probe source: No such device");
  }
}

TEST_CASE("no free descriptor says nothing about the backend") {
  const FakeBackend backend([](tcp::socket) {});
  boost::asio::io_context io;
  const tcp::socket opens_the_descriptors_of_the_loop(io);
  auto result = boost::asio::co_spawn(io, probe(tcp_target(backend.port()), {}), boost::asio::use_future);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  io.run();
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK(result.get().outcome == Outcome::not_attempted);
}
