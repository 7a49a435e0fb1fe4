#pragma once

#include <fmt/format.h>

#include "config/draft.hpp"
#include "config/suggest.hpp"

/// The parts of validate().
namespace zonelb::config {

void check_ports(const Draft& draft);
void check_client_networks(const Draft& draft);
void check_health_checks(const Draft& draft);
void check_backend_services(const Draft& draft);
void check_backends(const Draft& draft);
/// Can each backend be reached from the ports as its services forward?
void check_next_hops(const Draft& draft);
void check_forwarding_rules(const Draft& draft);

template <class T>
Words names_of(const std::vector<T>& resources) {
  Words names;
  for (const auto& resource : resources) names.push_back(resource.name);
  return names;
}

inline std::string_view family_name(const net::IpAddress& address) {
  return address.is_v4() ? "IPv4" : "IPv6";
}

/// Empty, or why no host can have this address.
std::string_view no_host_address(const net::IpAddress& address);

}  // namespace zonelb::config
