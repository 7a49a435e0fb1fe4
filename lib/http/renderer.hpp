#pragma once

#include <thread>
#include <utility>  // std::exchange, which awaitable.hpp of Boost 1.74 forgets

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "http/message.hpp"

namespace zonelb::http {

/// The server's second thread: makes the responses that would hold up the event loop, one after another in
/// the order they were asked for.
class Renderer {
 public:
  Renderer();
  /// Waits for the rendering that is under way.
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  /// Begins no rendering any more; those that wait are forgotten.
  void stop() { io_.stop(); }

  /// What `rendering` returns; what it throws becomes a 500. The caller goes on on its own executor.
  boost::asio::awaitable<Response> render(Rendering rendering);

 private:
  void run();

  boost::asio::io_context io_{1};
  std::thread thread_;
};

}  // namespace zonelb::http
