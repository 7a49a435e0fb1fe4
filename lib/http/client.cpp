#include "http/client.hpp"

#include <limits>
#include <utility>  // std::exchange, which awaitable.hpp of Boost 1.74 forgets

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>

namespace zonelb::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::local::stream_protocol;
using BeastRequest = beast::http::request<beast::http::string_body>;

asio::awaitable<Response> exchange(asio::io_context& io, stream_protocol::endpoint where,
                                   const BeastRequest& request, std::chrono::milliseconds timeout) {
  beast::basic_stream<stream_protocol> stream(io);
  stream.expires_after(timeout);
  co_await stream.async_connect(where, asio::use_awaitable);
  co_await beast::http::async_write(stream, request, asio::use_awaitable);

  beast::flat_buffer buffer;
  beast::http::response_parser<beast::http::string_body> parser;
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  co_await beast::http::async_read(stream, buffer, parser, asio::use_awaitable);
  auto message = parser.release();
  co_return Response{message.result_int(), std::string(message[beast::http::field::content_type]),
                     std::move(message.body())};
}

std::string explained(const boost::system::error_code& error, std::chrono::milliseconds timeout) {
  if (error == beast::error::timeout) return fmt::format("no answer within {} ms", timeout.count());
  if (error == boost::system::errc::permission_denied) return error.message() + "; try as root";
  return error.message() + "; is it running?";
}

}  // namespace

Response request_unix(const std::string& path, const std::string& method, const std::string& target,
                      const std::string& body, std::chrono::milliseconds timeout) {
  BeastRequest request;
  request.version(11);
  request.method_string(method);
  request.target(target);
  request.set(beast::http::field::host, "localhost");
  request.keep_alive(false);
  request.body() = body;
  request.prepare_payload();
  try {
    asio::io_context io;
    auto response = asio::co_spawn(io, exchange(io, path, request, timeout), asio::use_future);
    io.run();
    return response.get();
  } catch (const boost::system::system_error& error) {
    throw ClientError(fmt::format("no zonelb answers on {}: {}", path, explained(error.code(), timeout)));
  }
}

}  // namespace zonelb::http
