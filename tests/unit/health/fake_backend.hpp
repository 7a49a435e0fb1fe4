#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include "health/probe.hpp"

namespace zonelb::health {

using boost::asio::ip::tcp;

/// A server on all loopback addresses that plays one script for each connection, one after the other.
class FakeBackend {
 public:
  using Script = std::function<void(tcp::socket)>;

  explicit FakeBackend(Script script)
      : acceptor_(io_, tcp::endpoint(tcp::v4(), 0)), script_(std::move(script)), thread_([this] { run(); }) {}
  ~FakeBackend() {
    ::shutdown(acceptor_.native_handle(), SHUT_RDWR);  // wakes accept
    thread_.join();
  }
  FakeBackend(const FakeBackend&) = delete;
  FakeBackend& operator=(const FakeBackend&) = delete;

  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  void run() {
    for (;;) {
      tcp::socket socket(io_);
      boost::system::error_code error;
      acceptor_.accept(socket, error);
      if (error) return;
      script_(std::move(socket));
    }
  }

  boost::asio::io_context io_;
  tcp::acceptor acceptor_;
  Script script_;
  std::thread thread_;
};

/// Reads up to and including `end`; what there is when the client closes before.
inline std::string read_to(tcp::socket& socket, const std::string& end) {
  std::string text;
  boost::system::error_code ignored;
  boost::asio::read_until(socket, boost::asio::dynamic_buffer(text), end, ignored);
  return text;
}

inline void send(tcp::socket& socket, const std::string& text) {
  boost::system::error_code ignored;
  boost::asio::write(socket, boost::asio::buffer(text), ignored);
}

/// Takes what comes until the client closes; the error tells how it closed.
inline boost::system::error_code wait_for_close(tcp::socket& socket) {
  boost::system::error_code error;
  std::array<char, 1024> ignored{};
  while (!error) socket.read_some(boost::asio::buffer(ignored), error);
  return error;
}

/// Takes an HTTP request and answers with `text`.
inline FakeBackend::Script answer_http(std::string text) {
  return [text = std::move(text)](tcp::socket socket) {
    read_to(socket, "\r\n\r\n");
    send(socket, text);
  };
}

inline std::string ok(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

inline ProbeTarget target(std::uint16_t port, config::ProbeProtocol protocol) {
  ProbeTarget result{"hc/127.0.0.1", *net::IpAddress::parse("127.0.0.1"), {}, "10.0.0.80"};
  result.check.protocol = protocol;
  result.check.port = port;
  result.check.timeout = std::chrono::seconds(2);
  return result;
}
inline ProbeTarget tcp_target(std::uint16_t port) {
  return target(port, config::ProbeProtocol::tcp);
}
inline ProbeTarget http_target(std::uint16_t port) {
  return target(port, config::ProbeProtocol::http);
}

/// A port nobody listens on.
inline std::uint16_t closed_port() {
  boost::asio::io_context io;
  return tcp::acceptor(io, tcp::endpoint(tcp::v4(), 0)).local_endpoint().port();
}

}  // namespace zonelb::health
