#pragma once

#include <functional>
#include <map>
#include <string>
#include <variant>

namespace zonelb::http {

struct Request {
  std::string method;
  /// Decoded, without the query: "/v1/status".
  std::string path;
  /// Decoded; of a repeated key the last value counts.
  std::map<std::string, std::string> query;
  std::string body;
  /// Came over the UNIX socket, so from somebody who may administrate.
  bool local = false;
};

struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
};

/// Makes a response later and on another thread than the event loop's: it holds all it needs, and what it
/// reads does not change or may be read by any thread.
using Rendering = std::function<Response()>;

/// A handler's answer: the response, or how to make one that would hold up the event loop.
using Answer = std::variant<Response, Rendering>;

}  // namespace zonelb::http
