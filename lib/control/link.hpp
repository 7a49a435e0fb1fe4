#pragma once

#include <set>
#include <utility>

#include "config/config.hpp"
#include "dataplane/engine.hpp"
#include "dataplane/neighbours.hpp"

namespace zonelb::control {

/// What the main core says on the wire: questions for neighbours' addresses and announcements of our own.
class Link {
 public:
  explicit Link(dataplane::Engine& engine) : engine_(engine) {}

  /// Uses the addresses and VLANs of these ports from now on.
  void configure(std::vector<config::Port> ports) { ports_ = std::move(ports); }

  void ask(const dataplane::NeighbourKey& key, const std::optional<net::Mac>& last_known);

  /// Tells the networks that VIPs and own addresses are here (RFC 5227 section 2.3, RFC 4861 section 7.2.6),
  /// on the ports where we also answer for them.
  void announce(const std::set<net::IpAddress>& vips);

 private:
  void announce(std::uint16_t port, const net::IpAddress& address);

  dataplane::Engine& engine_;
  std::vector<config::Port> ports_;
};

}  // namespace zonelb::control
