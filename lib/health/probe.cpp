#include "health/probe.hpp"

#include <cerrno>
#include <limits>
#include <netinet/in.h>
#include <string_view>
#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>

namespace zonelb::health {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::use_awaitable;
using asio::ip::tcp;
using boost::system::error_code;
using boost::system::system_error;

constexpr std::uint32_t http_header_limit = 16 * 1024;
/// Only this much of a body is searched for the expected response.
constexpr std::size_t http_body_searched = 1024;

enum class Stage { open, connect, answer };

tcp::endpoint endpoint(const net::IpAddress& address, std::uint16_t port) {
  if (address.is_v4()) return {asio::ip::address_v4(address.as_v4().value()), port};
  return {asio::ip::address_v6(address.bytes()), port};
}

/// An open socket that leaves from `origin`; throws system_error.
void open_socket(tcp::socket& socket, const tcp::endpoint& to, const ProbeOrigin& origin) {
  socket.open(to.protocol());
  if (!origin.device.empty() &&
      setsockopt(socket.native_handle(), SOL_SOCKET, SO_BINDTODEVICE, origin.device.c_str(),
                 static_cast<socklen_t>(origin.device.size())) != 0)
    throw system_error(errno, boost::system::system_category());
  if (origin.source && origin.source->is_v4() == to.address().is_v4()) {
    // Ports are then drawn at connect, per destination, instead of one of 28,000 at bind.
    const int on = 1;
    setsockopt(socket.native_handle(), SOL_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    socket.bind(endpoint(*origin.source, 0));
  }
}

/// PROXY protocol version 1 as a proxy sends it about its own connection.
std::string proxy_v1(const tcp::socket& socket) {
  const auto from = socket.local_endpoint();
  const auto to = socket.remote_endpoint();
  return fmt::format("PROXY {} {} {} {} {}\r\n", to.address().is_v4() ? "TCP4" : "TCP6",
                     from.address().to_string(), to.address().to_string(), from.port(), to.port());
}

std::string http_request(const ProbeTarget& target) {
  const auto address = net::IpAddress::parse(target.host);
  const auto host = address && address->is_v6() ? fmt::format("[{}]", target.host) : target.host;
  return fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: zonelb\r\nAccept: */*\r\nConnection: close\r\n\r\n",
      target.check.request_path, host);
}

/// All that is sent, in one piece, once the connection stands.
std::string what_to_send(const ProbeTarget& target, const tcp::socket& socket) {
  std::string text;
  if (target.check.proxy_header == config::ProxyHeader::proxy_v1) text = proxy_v1(socket);
  return text +
         (target.check.protocol == config::ProbeProtocol::http ? http_request(target) : target.check.request);
}

ProbeResult wrong_answer(std::string reason) {
  return {Outcome::wrong_answer, std::move(reason)};
}

/// At most 64 characters of what a peer sent, fit for a log line.
std::string excerpt(std::string_view text) {
  std::string result = "\"";
  for (const char c : text.substr(0, 64)) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\')
      result += c;
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result + (text.size() > 64 ? "…\"" : "\"");
}

/// Exact: nothing else and nothing more, as far as it came along with the expected bytes.
asio::awaitable<ProbeResult> read_tcp(beast::tcp_stream& stream, const std::string& expected) {
  std::string answer(expected.size() + 1, '\0');
  std::size_t length = 0;
  while (length < expected.size()) {
    length +=
        co_await stream.async_read_some(asio::buffer(&answer[length], answer.size() - length), use_awaitable);
    if (!expected.starts_with(std::string_view(answer.data(), length))) break;
  }
  answer.resize(length);
  if (answer == expected) co_return ProbeResult{};
  co_return wrong_answer(fmt::format("answer {} is not the expected response", excerpt(answer)));
}

asio::awaitable<ProbeResult> read_http(beast::tcp_stream& stream, const std::string& expected) {
  beast::flat_buffer buffer(http_header_limit);
  http::response_parser<http::string_body> parser;
  parser.header_limit(http_header_limit);
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  co_await http::async_read_header(stream, buffer, parser, use_awaitable);

  const unsigned status = parser.get().result_int();
  if (status != 200) co_return wrong_answer(fmt::format("HTTP status {}", status));
  if (expected.empty()) co_return ProbeResult{};

  parser.eager(true);
  for (;;) {
    const auto searched = std::string_view(parser.get().body()).substr(0, http_body_searched);
    if (searched.find(expected) != searched.npos) co_return ProbeResult{};
    if (parser.is_done() || searched.size() == http_body_searched) break;
    co_await http::async_read_some(stream, buffer, parser, use_awaitable);
  }
  co_return wrong_answer(fmt::format(
      "HTTP status 200 without the expected response in the first {} bytes of the body", http_body_searched));
}

bool is_local_shortage(const error_code& error) {
  for (const int code : {EMFILE, ENFILE, ENOBUFS, ENOMEM})
    if (error == error_code(code, boost::system::system_category())) return true;
  return false;
}

std::string seconds_text(config::Duration duration) {
  const auto ms = duration.count();
  return ms % 1000 == 0 ? fmt::format("{}s", ms / 1000) : fmt::format("{}ms", ms);
}

ProbeResult failure(Stage stage, const error_code& error, config::Duration timeout) {
  if (error == beast::error::timeout)
    return {Outcome::timed_out,
            fmt::format("timed out after {} {}", seconds_text(timeout),
                        stage == Stage::answer ? "waiting for the answer" : "connecting")};
  if (is_local_shortage(error)) return {Outcome::not_attempted, "socket: " + error.message()};
  if (stage == Stage::open) return {Outcome::connect_failed, "probe source: " + error.message()};
  if (stage == Stage::connect) return {Outcome::connect_failed, "connect: " + error.message()};
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return wrong_answer(fmt::format("HTTP header exceeds {} bytes", http_header_limit));
  if (error == http::error::end_of_stream || error == http::error::partial_message ||
      error == asio::error::eof)
    return wrong_answer("connection closed before the answer was complete");
  if (error.category() == http::make_error_code(http::error::bad_version).category())
    return wrong_answer("not an HTTP answer: " + error.message());
  return wrong_answer("connection lost: " + error.message());
}

/// Says goodbye first, so that the kernel ends the connection by FIN wherever all data has been read.
void close(beast::tcp_stream& stream) {
  error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_both, ignored);
  stream.close();
}

}  // namespace

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "passed";
    case Outcome::connect_failed:
      return "connect_failed";
    case Outcome::timed_out:
      return "timed_out";
    case Outcome::wrong_answer:
      return "wrong_answer";
    case Outcome::not_attempted:
      break;
  }
  return "not_attempted";
}

asio::awaitable<ProbeResult> probe(ProbeTarget target, ProbeOrigin origin) {
  const auto& check = target.check;
  beast::tcp_stream stream(co_await asio::this_coro::executor);
  ProbeResult result;
  Stage stage = Stage::open;
  try {
    const auto to = endpoint(target.address, check.port);
    open_socket(stream.socket(), to, origin);

    stage = Stage::connect;
    stream.expires_after(check.timeout);
    co_await stream.async_connect(to, use_awaitable);

    stage = Stage::answer;
    const std::string text = what_to_send(target, stream.socket());
    if (!text.empty()) co_await asio::async_write(stream, asio::buffer(text), use_awaitable);
    if (check.protocol == config::ProbeProtocol::http)
      result = co_await read_http(stream, check.response);
    else if (!check.response.empty())
      result = co_await read_tcp(stream, check.response);
  } catch (const system_error& error) {
    result = failure(stage, error.code(), check.timeout);
  }
  close(stream);
  co_return result;
}

}  // namespace zonelb::health
