#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include "http/message.hpp"

namespace zonelb::http {

/// Nobody answered, or not in HTTP; the text says where and why.
struct ClientError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One request over the control socket `path`; blocks until the response is complete. A response of any
/// status is returned; throws ClientError when there is none within `timeout`.
Response request_unix(const std::string& path, const std::string& method, const std::string& target,
                      const std::string& body = {},
                      std::chrono::milliseconds timeout = std::chrono::seconds(30));

}  // namespace zonelb::http
