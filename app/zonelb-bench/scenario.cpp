#include "scenario.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace zonelb::bench {
namespace {

net::IpAddress address(const std::string& text) {
  return *net::IpAddress::parse(text);
}

config::Port port() {
  config::Port port;
  port.name = "bench";
  port.v4 = config::InterfaceAddress{address("10.0.0.1"), *net::Prefix::parse("10.0.0.0/8"), {}};
  port.v6 = config::InterfaceAddress{address("2001:db8::1"), *net::Prefix::parse("2001:db8::/32"), {}};
  return port;
}

config::Backend backend(unsigned number, const Options& options) {
  config::Backend backend;
  backend.name = fmt::format("backend-{}", number);
  backend.services = {fmt::format("service-{}", number % options.services)};
  backend.address = address(fmt::format("10.1.{}.{}", number / 250, number % 250 + 1));
  backend.zone = fmt::format("zone-{}", number / options.services % options.zones);
  backend.mac =
      net::Mac({0x02, 0xbb, 0, 0, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)});
  return backend;
}

config::Config configuration(const Options& options) {
  config::Config config;
  config.machine.ports = {port()};
  config.region = "here";
  for (unsigned zone = 0; zone < options.zones; ++zone) {
    config.zones.push_back(fmt::format("zone-{}", zone));
    config::ClientNetwork network;
    network.prefixes = {*net::Prefix::parse(fmt::format("20.{}.0.0/16", zone)),
                        *net::Prefix::parse(fmt::format("2001:db8:{:x}::/48", 0x2000 + zone))};
    network.zone = config.zones.back();
    config.client_networks.push_back(network);
  }
  std::ranges::sort(config.zones);
  for (unsigned i = 0; i < options.services; ++i) {
    config::BackendService service;
    service.name = fmt::format("service-{}", i);
    service.zonal_affinity = options.zonal_affinity;
    service.forwarding = options.forwarding;
    config.backend_services.push_back(service);
    config::ForwardingRule rule;
    rule.name = fmt::format("rule-{}", i);
    rule.address = options.ipv6 ? address(fmt::format("2001:db8::80:{:x}", i + 1))
                                : address(fmt::format("10.200.{}.{}", i / 250, i % 250 + 1));
    rule.ports = {{80, 80}};
    rule.backend_service = service.name;
    config.forwarding_rules.push_back(rule);
  }
  for (unsigned i = 0; i < options.backends; ++i) config.backends.push_back(backend(i, options));
  if (options.health_check) check_health(config);
  return config;
}

}  // namespace

dataplane::PortView bench_port() {
  return {net::Mac({0x02, 0, 0, 0, 0, 1}), 1500, packet::no_vlan, address("10.0.0.1"),
          address("2001:db8::1")};
}

void check_health(config::Config& config) {
  config::HealthCheck check;
  check.name = "alive";
  for (auto& service : config.backend_services) service.health_check = check.name;
  config.health_checks = {std::move(check)};
  config.initial_health = config::InitialHealth::healthy;
}

Scenario::Scenario(const Options& options)
    : config(configuration(options)),
      state({bench_port()}, options.workers),
      neighbours([](const auto&, const auto&) {}) {
  targets = state.configure(config, control::Clock::now());
  state.end_start();
  snapshot = make_snapshot();
}

std::unique_ptr<const dataplane::Snapshot> Scenario::make_snapshot() {
  control::Events events;
  return state.make_snapshot(neighbours, control::Clock::now(), events);
}

}  // namespace zonelb::bench
