#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "http/message.hpp"
#include "http/renderer.hpp"
#include "net/address.hpp"

namespace zonelb::http {

/// Runs on the server's event loop; a rendering that it returns runs on the server's own thread, one at a
/// time. What either throws is answered as 500 with {"error": what}.
using Handler = std::function<Answer(const Request&)>;

struct Limits {
  /// Bytes.
  std::size_t body = 1 << 20;
  std::size_t header = 16 * 1024;
  /// Per listener; a connection beyond is answered 503 and closed.
  std::size_t connections = 64;
  /// For a whole request to arrive, for a response to be taken, and between them.
  std::chrono::milliseconds idle{30'000};
};

/// A listener could not be opened; the text names it and the reason.
struct ListenError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An HTTP/1.1 server on the caller's event loop, which one thread runs. Create and destroy it on that thread
/// or while the loop stands still.
class Server {
 public:
  Server(boost::asio::io_context& io, Handler handler, Limits limits = {});
  /// Closes listeners and connections and removes socket files. Neither the handler nor a rendering of its
  /// runs after it: one that is under way is waited for.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Returns the address bound, which differs when port 0 was asked for. Throws ListenError.
  net::Endpoint listen_tcp(const net::Endpoint& endpoint);
  /// Makes the socket file with mode 0600, and its folder when only that is missing. A file nobody answers on
  /// is replaced. Throws ListenError.
  void listen_unix(const std::string& path);

  class Listener;

 private:
  boost::asio::io_context& io_;
  Handler handler_;
  Limits limits_;
  Renderer renderer_;
  std::vector<std::shared_ptr<Listener>> listeners_;
};

}  // namespace zonelb::http
