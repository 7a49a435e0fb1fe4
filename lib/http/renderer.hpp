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
  /// Waits for the rendering that is under way; those that wait are abandoned.
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  /// What `rendering` returns; what it throws becomes a 500. The caller goes on on its own executor.
  boost::asio::awaitable<Response> render(Rendering rendering);

 private:
  void run();

  boost::asio::io_context io_{1};
  std::thread thread_;
};

}  // namespace zonelb::http
