#pragma once

#include <map>
#include <string>

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

}  // namespace zonelb::http
