#include "http/connection.hpp"

#include <utility>

#include <boost/beast/core/error.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "http/target.hpp"

namespace zonelb::http {
namespace beast = boost::beast;

Response error_response(unsigned status, const std::string& what) {
  // A text that is not UTF-8 must not keep us from answering.
  const auto body =
      nlohmann::json{{"error", what}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return {status, "application/json", body + "\n"};
}

BeastResponse to_beast(Response response, unsigned version, bool keep_alive) {
  BeastResponse result(beast::http::int_to_status(response.status), version);
  result.result(response.status);
  result.set(beast::http::field::content_type, response.content_type);
  result.body() = std::move(response.body);
  result.keep_alive(keep_alive);
  result.prepare_payload();
  return result;
}

namespace {

Answer handle(const BeastRequest& beast_request, const Answering& how) {
  Request request;
  request.local = how.local;
  // A HEAD is answered like a GET, without the body.
  request.method =
      beast_request.method() == beast::http::verb::head ? "GET" : std::string(beast_request.method_string());
  const auto target = beast_request.target();
  if (!read_target({target.data(), target.size()}, request))
    return error_response(400, fmt::format("malformed request target: {}", std::string(target)));
  request.body = beast_request.body();
  return guarded([&] { return how.handler(request); });
}

}  // namespace

boost::asio::awaitable<BeastResponse> answer(const BeastRequest& request, const Answering& how) {
  auto answer = handle(request, how);
  Response made;
  if (auto* rendering = std::get_if<Rendering>(&answer)) {
    made = co_await how.renderer.render(std::move(*rendering));
  } else {
    made = std::get<Response>(std::move(answer));
  }
  auto response = to_beast(std::move(made), request.version(), request.keep_alive());
  if (request.method() == beast::http::verb::head) {
    response.content_length(response.body().size());
    response.body().clear();
  }
  co_return response;
}

BeastResponse refusal(const boost::system::error_code& error, const Limits& limits) {
  constexpr unsigned version = 11;
  if (error == beast::http::error::body_limit)
    return to_beast(error_response(413, fmt::format("the body exceeds {} bytes", limits.body)), version,
                    false);
  if (error == beast::http::error::header_limit)
    return to_beast(error_response(431, fmt::format("the header exceeds {} bytes", limits.header)), version,
                    false);
  const bool malformed = error.category() == make_error_code(beast::http::error::bad_method).category() &&
                         error != beast::http::error::end_of_stream &&
                         error != beast::http::error::partial_message;
  if (malformed)
    return to_beast(error_response(400, "malformed request: " + error.message()), version, false);
  BeastResponse silence;
  silence.result(0U);
  return silence;
}

}  // namespace zonelb::http
