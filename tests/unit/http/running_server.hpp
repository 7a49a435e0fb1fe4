#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "http/server.hpp"

namespace zonelb::http {

inline const net::Endpoint any_port{*net::IpAddress::parse("127.0.0.1"), 0};

/// A server with its event loop on a thread.
class RunningServer {
 public:
  explicit RunningServer(Handler handler, Limits limits = {}, const std::string& unix_path = {}) {
    server_.emplace(io_, std::move(handler), limits);
    tcp_ = server_->listen_tcp(any_port);
    if (!unix_path.empty()) server_->listen_unix(unix_path);
    thread_ = std::thread([this] { io_.run(); });
  }
  ~RunningServer() {
    boost::asio::post(io_, [this] { server_.reset(); });
    thread_.join();  // ends only when no coroutine of the server is left
  }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  [[nodiscard]] net::Endpoint tcp() const { return tcp_; }

 private:
  boost::asio::io_context io_;
  std::optional<Server> server_;
  net::Endpoint tcp_;
  std::thread thread_;
};

/// A plain TCP client.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) {
    socket_.connect({boost::asio::ip::make_address("127.0.0.1"), port});
  }
  void send(const std::string& text) {
    boost::system::error_code ignored;
    boost::asio::write(socket_, boost::asio::buffer(text), ignored);
  }
  /// All the server says until it closes.
  std::string receive_all() {
    std::string text;
    boost::system::error_code ignored;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(text), ignored);
    return text;
  }
  /// Reads until `end` has been seen.
  std::string receive_to(const std::string& end) {
    std::string text;
    char byte = 0;
    boost::system::error_code error;
    while (!text.ends_with(end) && boost::asio::read(socket_, boost::asio::buffer(&byte, 1), error) == 1)
      text += byte;
    return text;
  }

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket socket_{io_};
};

}  // namespace zonelb::http
