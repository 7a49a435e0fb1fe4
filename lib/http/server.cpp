#include "http/server.hpp"

#include <optional>
#include <unordered_set>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include "http/connection.hpp"
#include "http/unix_socket_file.hpp"

namespace zonelb::http {
namespace asio = boost::asio;
using asio::ip::tcp;
using asio::local::stream_protocol;
using boost::system::error_code;

/// Outlives its server until the event loop has seen all its coroutines end.
class Server::Listener {
 public:
  virtual ~Listener() = default;
  virtual void close() = 0;
};

namespace {

template <class Protocol>
class ProtocolListener final : public Server::Listener {
 public:
  using Stream = boost::beast::basic_stream<Protocol>;

  ProtocolListener(asio::io_context& io, Handler handler, Renderer& renderer, const Limits& limits)
      : acceptor_(io),
        answering_{std::move(handler), renderer, std::is_same_v<Protocol, stream_protocol>},
        limits_(limits),
        retry_(io) {}

  typename Protocol::acceptor& acceptor() { return acceptor_; }

  void close() override {
    error_code ignored;
    acceptor_.close(ignored);
    retry_.cancel();
    for (Stream* stream : streams_) stream->close();
    file_.reset();
  }

  void own_file(std::string path) { file_.emplace(acceptor_, std::move(path)); }

  static asio::awaitable<void> accept_all(std::shared_ptr<ProtocolListener> self) {
    while (self->acceptor_.is_open()) {
      typename Protocol::socket socket(self->acceptor_.get_executor());
      error_code error;
      co_await self->acceptor_.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
      if (error)
        co_await self->pause();
      else if (self->acceptor_.is_open())
        asio::co_spawn(self->acceptor_.get_executor(), serve_one(self, std::move(socket)), asio::detached);
    }
  }

 private:
  static asio::awaitable<void> serve_one(std::shared_ptr<ProtocolListener> self,
                                         typename Protocol::socket socket) {
    Stream stream(std::move(socket));
    self->streams_.insert(&stream);
    if (self->streams_.size() > self->limits_.connections)
      co_await self->refuse(stream);
    else
      co_await serve(stream, self->answering_, self->limits_);
    self->streams_.erase(&stream);
  }

  asio::awaitable<void> refuse(Stream& stream) {
    stream.expires_after(limits_.idle);
    auto response = to_beast(error_response(503, "too many connections"), 11, false);
    if (co_await send(stream, response)) co_await linger(stream);
  }

  /// Without free descriptors accept fails again and again: wait for some to be closed.
  asio::awaitable<void> pause() {
    error_code ignored;
    retry_.expires_after(std::chrono::milliseconds(100));
    if (acceptor_.is_open()) co_await retry_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }

  typename Protocol::acceptor acceptor_;
  std::optional<UnixSocketFile> file_;
  Answering answering_;
  Limits limits_;
  asio::steady_timer retry_;
  std::unordered_set<Stream*> streams_;
};

}  // namespace

Server::Server(asio::io_context& io, Handler handler, Limits limits)
    : io_(io), handler_(std::move(handler)), limits_(limits) {}

Server::~Server() {
  renderer_.stop();
  for (const auto& listener : listeners_) listener->close();
}

net::Endpoint Server::listen_tcp(const net::Endpoint& endpoint) {
  auto listener = std::make_shared<ProtocolListener<tcp>>(io_, handler_, renderer_, limits_);
  auto& acceptor = listener->acceptor();
  net::Endpoint bound = endpoint;
  try {
    const tcp::endpoint where(asio::ip::make_address(endpoint.address.to_string()), endpoint.port);
    acceptor.open(where.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(where);
    acceptor.listen();
    bound.port = acceptor.local_endpoint().port();
  } catch (const boost::system::system_error& error) {
    throw ListenError(fmt::format("HTTP listener {}: {}", endpoint.to_string(), error.code().message()));
  }
  asio::co_spawn(io_, ProtocolListener<tcp>::accept_all(listener), asio::detached);
  listeners_.push_back(std::move(listener));
  return bound;
}

void Server::listen_unix(const std::string& path) {
  auto listener = std::make_shared<ProtocolListener<stream_protocol>>(io_, handler_, renderer_, limits_);
  try {
    listener->acceptor().open();
    listener->own_file(path);
    listener->acceptor().listen();
  } catch (const boost::system::system_error& error) {
    throw ListenError(fmt::format("control socket {}: {}", path, error.code().message()));
  }
  asio::co_spawn(io_, ProtocolListener<stream_protocol>::accept_all(listener), asio::detached);
  listeners_.push_back(std::move(listener));
}

}  // namespace zonelb::http
