#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>  // std::exchange, which awaitable.hpp of Boost 1.74 forgets

#include <boost/asio/awaitable.hpp>

#include "config/config.hpp"
#include "net/address.hpp"

namespace zonelb::health {

/// What is probed: one backend address by one health check.
struct ProbeTarget {
  /// The caller's name for it; unique within one Prober.
  std::string key;
  net::IpAddress address;
  config::HealthCheck check;
  /// Host header of HTTP probes: a name or an address.
  std::string host;
  friend bool operator==(const ProbeTarget&, const ProbeTarget&) = default;
};

/// Where probes leave this machine. A source of the other family than the target's does not apply to it.
struct ProbeOrigin {
  std::optional<net::IpAddress> source;
  /// Kernel interface (SO_BINDTODEVICE); empty: by the routing table.
  std::string device;
};

enum class Outcome : std::uint8_t {
  passed,
  connect_failed,
  timed_out,
  wrong_answer,
  /// This machine ran out of sockets or memory: says nothing about the backend.
  not_attempted
};
inline constexpr std::size_t outcome_count = 5;

/// The outcome's name in metrics and logs.
const char* to_string(Outcome outcome);

struct ProbeResult {
  Outcome outcome = Outcome::passed;
  /// For operators: "connect: Connection refused", "HTTP status 503", "timed out after 1s"; empty when
  /// passed.
  std::string reason;
};

/// One attempt (semantics.md section 8), ended by the check's timeout at the latest. The connection is closed
/// before it returns.
boost::asio::awaitable<ProbeResult> probe(ProbeTarget target, ProbeOrigin origin);

}  // namespace zonelb::health
