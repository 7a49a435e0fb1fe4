#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/ratio.hpp"
#include "net/address.hpp"
#include "net/prefix.hpp"

/// One validated configuration: what the flags of interface.md say, in types. Whoever holds a Config may rely
/// on every rule of combination having been checked (config/validate.hpp).
namespace zonelb::config {

using Duration = std::chrono::milliseconds;
using std::chrono::seconds;

enum class ProbeProtocol : std::uint8_t { tcp, http };
enum class ProxyHeader : std::uint8_t { none, proxy_v1 };

/// semantics.md section 8.
struct HealthCheck {
  std::string name;
  ProbeProtocol protocol = ProbeProtocol::tcp;
  std::uint16_t port = 80;
  Duration check_interval = seconds(5);
  Duration timeout = seconds(5);
  unsigned healthy_threshold = 2;
  unsigned unhealthy_threshold = 2;
  ProxyHeader proxy_header = ProxyHeader::none;
  std::string request_path = "/";
  /// Host header; empty: the address of the rule (its first, when the service has several).
  std::string host;
  std::string request;
  std::string response;
  friend bool operator==(const HealthCheck&, const HealthCheck&) = default;
};

enum class SessionAffinity : std::uint8_t {
  none,
  client_ip_port_proto,
  client_ip_proto,
  client_ip,
  client_ip_no_destination
};
enum class ZonalAffinity : std::uint8_t { disabled, stay_within_zone, spill_cross_zone };
enum class Forwarding : std::uint8_t { l2_dsr, vxlan, ipip };

struct BackendService {
  std::string name;
  /// Empty: no check, backends count as healthy.
  std::string health_check;
  SessionAffinity session_affinity = SessionAffinity::none;
  Duration idle_timeout = seconds(600);
  Duration connection_draining_timeout = seconds(300);
  ZonalAffinity zonal_affinity = ZonalAffinity::disabled;
  Ratio spillover_ratio;
  Ratio failover_ratio;
  bool drop_traffic_if_unhealthy = false;
  bool connection_drain_on_failover = true;
  Forwarding forwarding = Forwarding::l2_dsr;
  std::uint32_t vxlan_vni = 1;
  std::uint16_t vxlan_port = 4789;
  friend bool operator==(const BackendService&, const BackendService&) = default;
};

struct Backend {
  std::string name;
  std::vector<std::string> services;
  net::IpAddress address;
  std::string zone;
  bool failover = false;
  std::uint32_t weight = 1;
  bool drain = false;
  /// Overrides the resolved neighbour.
  std::optional<net::Mac> mac;
  /// Destination of the inner Ethernet header under VXLAN; default: default_vxlan_inner_mac.
  std::optional<net::Mac> inner_mac;
  friend bool operator==(const Backend&, const Backend&) = default;
};

/// What a backend's vxlan interface is given as its address when nothing else is said (`inner-mac`).
inline constexpr net::Mac default_vxlan_inner_mac({0x02, 0x7a, 0x6c, 0x62, 0x00, 0x01});

enum class Protocol : std::uint8_t { tcp = 6, udp = 17 };

struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  friend bool operator==(const PortRange&, const PortRange&) = default;
};

struct ForwardingRule {
  std::string name;
  net::IpAddress address;
  Protocol protocol = Protocol::tcp;
  /// Sorted, not overlapping. `ports=all` is empty here.
  std::vector<PortRange> ports;
  std::string backend_service;
  bool allow_global_access = false;
  bool published = false;
  friend bool operator==(const ForwardingRule&, const ForwardingRule&) = default;
};

/// Prefixes whose clients are alike. Exactly one of zone, region, gateway is set, or `published` alone.
struct ClientNetwork {
  std::vector<net::Prefix> prefixes;
  std::string zone;
  std::string region;
  std::string gateway;
  bool published = false;
  friend bool operator==(const ClientNetwork&, const ClientNetwork&) = default;
};

/// One of the appliance's own addresses on a port.
struct InterfaceAddress {
  net::IpAddress address;
  net::Prefix network;
  std::optional<net::IpAddress> gateway;
  friend bool operator==(const InterfaceAddress&, const InterfaceAddress&) = default;
};

struct Port {
  /// DPDK port name or id.
  std::string name;
  std::optional<InterfaceAddress> v4;
  std::optional<InterfaceAddress> v6;
  std::optional<net::Mac> gateway_mac;
  std::optional<std::uint16_t> vlan;
  std::uint16_t mtu = 1500;
  friend bool operator==(const Port&, const Port&) = default;
};

/// What only a start can change.
struct Machine {
  /// EAL arguments, already split into words.
  std::vector<std::string> eal;
  /// 0: all lcores but the main one.
  unsigned workers = 0;
  std::vector<Port> ports;
  std::uint64_t connections = 1'000'000;
  std::uint64_t connections6 = 500'000;
  std::string http_listen = "127.0.0.1:9105";
  std::string control_socket = "/run/zonelb/control.sock";
  /// 0: as many as there are workers and the port offers.
  std::uint16_t rx_queues = 0;
  std::uint16_t rx_descriptors = 1024;
  std::uint16_t tx_descriptors = 1024;
  /// Packet buffers; 0: from the descriptors, queues and workers.
  std::uint32_t mbufs = 0;
  friend bool operator==(const Machine&, const Machine&) = default;
};

enum class InitialHealth : std::uint8_t { unhealthy, healthy };

struct Config {
  Machine machine;
  std::string region;
  /// All zones of this region, sorted: declared with --zone or named by a client network.
  std::vector<std::string> zones;
  bool relaxed_limits = false;
  InitialHealth initial_health = InitialHealth::unhealthy;
  std::optional<net::IpAddress> probe_source;
  std::string probe_device;
  std::vector<ClientNetwork> client_networks;
  std::vector<HealthCheck> health_checks;
  std::vector<BackendService> backend_services;
  std::vector<Backend> backends;
  std::vector<ForwardingRule> forwarding_rules;
};

}  // namespace zonelb::config
