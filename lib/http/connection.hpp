#pragma once

#include <array>
#include <exception>
#include <utility>  // std::exchange, which awaitable.hpp of Boost 1.74 forgets

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "http/server.hpp"

/// One connection of the server, over TCP or a UNIX socket.
namespace zonelb::http {

using BeastRequest = boost::beast::http::request<boost::beast::http::string_body>;
using BeastResponse = boost::beast::http::response<boost::beast::http::string_body>;

/// How a listener's connections answer, while there is a server.
struct Answering {
  Handler handler;
  Renderer& renderer;
  /// See Request::local.
  bool local = false;
};

/// The response to a request, or the refusal of one that cannot be handled.
boost::asio::awaitable<BeastResponse> answer(const BeastRequest& request, const Answering& how);
/// The response to what could not be read as a request, the connection to be closed after it; status 0: close
/// without a word.
BeastResponse refusal(const boost::system::error_code& error, const Limits& limits);
/// {"error": what}
Response error_response(unsigned status, const std::string& what);
/// What `make` returns; what it throws as a 500.
template <class Make>
auto guarded(const Make& make) -> decltype(make()) {
  try {
    return make();
  } catch (const std::exception& error) {
    return error_response(500, error.what());
  }
}
BeastResponse to_beast(Response response, unsigned version, bool keep_alive);

/// Sends `response` in pieces, between which others on the event loop have their turn; false: the client has
/// gone.
template <class Stream>
boost::asio::awaitable<bool> send(Stream& stream, BeastResponse& response) {
  namespace asio = boost::asio;
  namespace http = boost::beast::http;
  constexpr std::size_t piece = 64 * 1024;
  http::response_serializer<http::string_body> serializer(response);
  serializer.limit(piece);
  boost::system::error_code error;
  co_await http::async_write(stream, serializer, asio::redirect_error(asio::use_awaitable, error));
  co_return !error;
}

/// Says goodbye and takes what the client still sends for a moment, so that it can read the last response.
template <class Stream>
boost::asio::awaitable<void> linger(Stream& stream) {
  namespace asio = boost::asio;
  boost::system::error_code error;
  stream.socket().shutdown(asio::socket_base::shutdown_send, error);
  stream.expires_after(std::chrono::seconds(1));
  std::array<char, 4096> ignored{};
  while (!error)
    co_await stream.async_read_some(asio::buffer(ignored), asio::redirect_error(asio::use_awaitable, error));
}

/// Serves requests until the client closes, errs, or stays idle too long.
template <class Stream>
boost::asio::awaitable<void> serve(Stream& stream, const Answering& how, const Limits& limits) {
  namespace asio = boost::asio;
  namespace beast = boost::beast;
  beast::flat_buffer buffer;
  for (bool keep_alive = true; keep_alive;) {
    beast::http::request_parser<beast::http::string_body> parser;
    parser.body_limit(limits.body);
    parser.header_limit(static_cast<std::uint32_t>(limits.header));
    boost::system::error_code error;
    stream.expires_after(limits.idle);
    co_await beast::http::async_read(stream, buffer, parser,
                                     asio::redirect_error(asio::use_awaitable, error));
    if (!stream.socket().is_open()) co_return;  // the server has gone meanwhile
    BeastResponse response;
    if (error) {
      response = refusal(error, limits);
    } else {
      response = co_await answer(parser.get(), how);
    }
    if (!stream.socket().is_open() || response.result_int() == 0) co_return;
    keep_alive = response.keep_alive();
    stream.expires_after(limits.idle);
    if (!co_await send(stream, response)) co_return;
  }
  co_await linger(stream);
}

}  // namespace zonelb::http
