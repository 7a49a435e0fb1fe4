#include <chrono>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "catch.hpp"
#include "running_server.hpp"

using namespace zonelb::http;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

/// Answers with what it understood.
Response echo(const Request& request) {
  if (request.path == "/throw") throw std::runtime_error("no \"such\" thing");
  if (request.path == "/big") return {200, "text/plain", std::string(5'000'000, 'x')};
  std::string query;
  for (const auto& [key, value] : request.query) query += fmt::format("[{}={}]", key, value);
  return {request.path == "/missing" ? 404U : 200U, "text/plain",
          fmt::format("{} {} {} {} {}", request.method, request.path, query, request.body,
                      request.local ? "local" : "remote")};
}

std::string ask(const RunningServer& server, const std::string& text) {
  RawClient client(server.tcp().port);
  client.send(text);
  return client.receive_all();
}

std::string get(const RunningServer& server, const std::string& target) {
  return ask(server, "GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a request reaches the handler decoded and the response the client") {
  const RunningServer server(echo);
  const auto plain = get(server, "/v1/status");
  CHECK(plain.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(contains(plain, "\r\nContent-Type: text/plain\r\n"));
  CHECK(plain.ends_with("\r\n\r\nGET /v1/status   remote"));
  CHECK(get(server, "/a%20b?x=1&y=%5B%3a%5D&flag&x=2").ends_with("GET /a b [flag=][x=2][y=[:]]  remote"));
  CHECK(ask(server, "POST /do HTTP/1.1\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody")
            .ends_with("POST /do  body remote"));
  CHECK(get(server, "/missing").starts_with("HTTP/1.1 404 Not Found\r\n"));
}

TEST_CASE("a connection serves several requests") {
  const RunningServer server(echo);
  RawClient client(server.tcp().port);
  for (int i = 0; i < 3; ++i) {
    client.send(fmt::format("GET /{} HTTP/1.1\r\n\r\n", i));
    CHECK(client.receive_to("remote").ends_with(fmt::format("GET /{}   remote", i)));
  }
  client.send("GET /last HTTP/1.0\r\n\r\n");
  CHECK(client.receive_all().ends_with("GET /last   remote"));
}

TEST_CASE("HEAD gets the length of the body without it") {
  const RunningServer server(echo);
  const auto head = ask(server, "HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n");
  CHECK(contains(head, "\r\nContent-Length: 14\r\n"));
  CHECK(head.ends_with("\r\n\r\n"));
}

TEST_CASE("a large response arrives whole") {
  const RunningServer server(echo);
  CHECK(get(server, "/big").ends_with(std::string(5'000'000, 'x')));
}

TEST_CASE("others on the event loop have their turn while a large response is sent") {
  boost::asio::io_context io;
  auto server = std::make_unique<Server>(io, echo);
  RawClient client(server->listen_tcp(any_port).port);
  client.send("GET /big HTTP/1.1\r\nConnection: close\r\n\r\n");
  std::string received;
  std::atomic<bool> complete{false};
  std::thread reader([&] {
    received = client.receive_all();
    complete = true;
  });
  std::size_t turns = 0;
  while (!complete) turns += io.run_one_for(10ms);
  CHECK(turns > 5'000'000 / 100'000);
  server.reset();
  io.run();
  reader.join();
  CHECK(received.ends_with(std::string(1'000, 'x')));
}

TEST_CASE("what the handler throws is a 500 with the text in JSON") {
  const RunningServer server(echo);
  const auto answer = get(server, "/throw");
  CHECK(answer.starts_with("HTTP/1.1 500 "));
  CHECK(contains(answer, "\r\nContent-Type: application/json\r\n"));
  CHECK(contains(answer, R"({"error":"no \"such\" thing"})"));
}

TEST_CASE("malformed requests are refused with a reason") {
  const RunningServer server(echo);
  for (const char* text : {"nonsense\r\n\r\n", "GET / HTTP/9\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n",
                           "POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n"}) {
    const auto answer = ask(server, text);
    CHECK(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"));
    CHECK(contains(answer, "{\"error\":\"malformed request: "));
  }
  for (const char* target : {"/%zz", "/%4", "/?a=%f", "relative", "http://elsewhere/"})
    CHECK(contains(get(server, target), "{\"error\":\"malformed request target: "));
}

TEST_CASE("oversized requests are refused before they are read") {
  Limits limits;
  limits.body = 1000;
  limits.header = 500;
  const RunningServer server(echo, limits);
  const auto post = [](std::size_t length, const std::string& body) {
    return fmt::format("POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}", length, body);
  };
  CHECK(ask(server, post(1000, std::string(1000, 'b'))).starts_with("HTTP/1.1 200 OK\r\n"));
  for (const auto& text : {post(1001, ""), post(300'000, std::string(300'000, 'b')),
                           std::string("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n") +
                               std::string(1024, 'b') + "\r\n0\r\n\r\n"}) {
    const auto answer = ask(server, text);
    CHECK(answer.starts_with("HTTP/1.1 413 "));
    CHECK(contains(answer, "the body exceeds 1000 bytes"));
  }
  const auto header = ask(server, "GET / HTTP/1.1\r\nX: " + std::string(600, 'h') + "\r\n\r\n");
  CHECK(header.starts_with("HTTP/1.1 431 "));
  CHECK(contains(header, "the header exceeds 500 bytes"));
}

TEST_CASE("idle and trickling connections are closed") {
  Limits limits;
  limits.idle = 200ms;
  const RunningServer server(echo, limits);
  const auto start = Clock::now();
  SECTION("silent") {
    CHECK(RawClient(server.tcp().port).receive_all().empty());
  }
  SECTION("one byte after the other") {
    RawClient client(server.tcp().port);
    for (int i = 0; i < 20 && Clock::now() - start < 300ms; ++i) {
      client.send("G");
      std::this_thread::sleep_for(20ms);
    }
    CHECK(client.receive_all().empty());
  }
  CHECK(Clock::now() - start >= 200ms);
  CHECK(Clock::now() - start < 2s);
}

TEST_CASE("connections beyond the limit are told so, and served again once others are closed") {
  Limits limits;
  limits.connections = 2;
  const RunningServer server(echo, limits);
  {
    RawClient first(server.tcp().port);
    RawClient second(server.tcp().port);
    first.send("GET /1 HTTP/1.1\r\n\r\n");
    second.send("GET /2 HTTP/1.1\r\n\r\n");
    first.receive_to("remote");
    second.receive_to("remote");
    const auto third = get(server, "/3");
    CHECK(third.starts_with("HTTP/1.1 503 "));
    CHECK(contains(third, "too many connections"));
  }
  std::string answer;
  for (const auto end = Clock::now() + 10s; Clock::now() < end && !answer.starts_with("HTTP/1.1 200");)
    answer = get(server, "/4");
  CHECK(answer.ends_with("GET /4   remote"));
}

TEST_CASE("a taken port is named") {
  const RunningServer server(echo);
  boost::asio::io_context io;
  Server second(io, echo);
  std::string text;
  try {
    second.listen_tcp(server.tcp());
  } catch (const ListenError& error) {
    text = error.what();
  }
  CHECK(text == "HTTP listener " + server.tcp().to_string() + ": Address already in use");
}

TEST_CASE("the handler is not called once the server has gone, also for a request already received") {
  boost::asio::io_context io;
  bool called = false;
  auto server = std::make_unique<Server>(io, [&](const Request&) {
    called = true;
    return Response{};
  });
  RawClient client(server->listen_tcp(any_port).port);
  io.poll();
  client.send("GET / HTTP/1.1\r\n\r\n");
  std::this_thread::sleep_for(20ms);
  server.reset();
  io.run();
  CHECK_FALSE(called);
  CHECK(client.receive_all().empty());
}

TEST_CASE("an event loop may end before the connections on it") {
  boost::asio::io_context io;
  Server server(io, echo);
  RawClient client(server.listen_tcp(any_port).port);
  io.poll();
  client.send("GET / HTTP/1.1\r\n\r\n");
  while (io.poll() > 0) continue;
  CHECK(client.receive_to("remote").ends_with("GET /   remote"));
}
