#include "config/keys.hpp"

namespace zonelb::config {

namespace {

std::string health_check_problem(const HealthCheck& check, const Items& items) {
  if (check.protocol == ProbeProtocol::tcp) {
    for (const auto* http_only : {"request-path", "host"})
      if (items.has(http_only)) return fmt::format("{} needs protocol=HTTP", http_only);
  } else if (items.has("request")) {
    return "request needs protocol=TCP; HTTP sends request-path and host";
  }
  return {};
}

/// What semantics.md sections 2 to 4 forbid, also with values that are not supported yet.
std::string service_problem(const BackendService& service, const Items& items) {
  const bool zonal = service.zonal_affinity != ZonalAffinity::disabled;
  if (items.word("subsetting") == "TRUE" && zonal)
    return "subsetting=true and zonal-affinity exclude each other; leave one of them out";
  if (items.word("symmetric-hashing") == "TRUE") {
    if (zonal)
      return "symmetric-hashing=true and zonal-affinity exclude each other unless the service of the return "
             "direction has both, and pairing services is not supported yet; leave one of them out";
    if (service.session_affinity == SessionAffinity::none ||
        service.session_affinity == SessionAffinity::client_ip_no_destination)
      return "symmetric-hashing=true needs session-affinity CLIENT_IP_PORT_PROTO, CLIENT_IP_PROTO or "
             "CLIENT_IP";
  } else if (items.word("zonal-affinity-client") == "DESTINATION") {
    return "zonal-affinity-client=DESTINATION needs symmetric-hashing=true";
  }
  if (items.word("connection-persistence-on-unhealthy-backends") == "ALWAYS_PERSIST" &&
      items.word("tracking-mode") == "PER_SESSION")
    return "connection-persistence-on-unhealthy-backends=ALWAYS_PERSIST and tracking-mode=PER_SESSION "
           "exclude each other";
  if (!service.spillover_ratio.is_zero() && service.zonal_affinity != ZonalAffinity::spill_cross_zone)
    return "spillover-ratio needs zonal-affinity=SPILL_CROSS_ZONE: only that option spills by a ratio";
  for (const auto* vxlan_only : {"vxlan-vni", "vxlan-port"})
    if (items.has(vxlan_only) && service.forwarding != Forwarding::vxlan)
      return fmt::format("{} needs forwarding=VXLAN", vxlan_only);
  return {};
}

std::vector<Key<BackendService>> tracking_keys() {
  using S = BackendService;
  return {
      fixed_key<S>("tracking-mode", "PER_CONNECTION", {"PER_SESSION"}, "What one table entry stands for."),
      fixed_key<S>("connection-persistence-on-unhealthy-backends", "DEFAULT_FOR_PROTOCOL",
                   {"NEVER_PERSIST", "ALWAYS_PERSIST"},
                   "What happens to connections whose backend turns unhealthy: TCP stays, UDP moves."),
      key<S>("idle-timeout", &S::idle_timeout, duration(idle_timeout_range, relaxed_idle_timeout_range),
             "A connection without packets for this long is forgotten. Above the default only with "
             "tracking-mode=PER_SESSION and an affinity of less than five fields, or --relaxed-limits."),
      key<S>("connection-draining-timeout", &S::connection_draining_timeout, duration(draining_timeout_range),
             "How long connections of a removed or draining backend go on; 0s ends them at once."),
      key<S>("connection-drain-on-failover", &S::connection_drain_on_failover, boolean(),
             "Connections to healthy backends go on for 10 minutes when the active pool changes."),
  };
}

std::vector<Key<BackendService>> choice_keys() {
  using S = BackendService;
  return {
      key<S>(
          "session-affinity", &S::session_affinity,
          choice<SessionAffinity>({{"NONE", SessionAffinity::none},
                                   {"CLIENT_IP_PORT_PROTO", SessionAffinity::client_ip_port_proto},
                                   {"CLIENT_IP_PROTO", SessionAffinity::client_ip_proto},
                                   {"CLIENT_IP", SessionAffinity::client_ip},
                                   {"CLIENT_IP_NO_DESTINATION", SessionAffinity::client_ip_no_destination}}),
          "The fields of a packet that are hashed to choose a backend."),
      key<S>("zonal-affinity", &S::zonal_affinity,
             choice<ZonalAffinity>({{"DISABLED", ZonalAffinity::disabled},
                                    {"STAY_WITHIN_ZONE", ZonalAffinity::stay_within_zone},
                                    {"SPILL_CROSS_ZONE", ZonalAffinity::spill_cross_zone}},
                                   {}, "ZONAL_AFFINITY_"),
             "Keeps clients at backends of their own zone. The prefix ZONAL_AFFINITY_ may be written."),
      key<S>(
          "spillover-ratio", &S::spillover_ratio, ratio(),
          "Share of the zone's backends that must be eligible to keep traffic in the zone; 0: one suffices. "
          "Needs SPILL_CROSS_ZONE."),
      fixed_key<S>("zonal-affinity-client", "SOURCE", {"DESTINATION"}, "Whose zone counts."),
      key<S>("failover-ratio", &S::failover_ratio, ratio(),
             "Share of the primaries that must be healthy to keep traffic off the failover backends."),
      key<S>("drop-traffic-if-unhealthy", &S::drop_traffic_if_unhealthy, boolean(),
             "Drop new connections when no backend is healthy, instead of using all primaries."),
      fixed_key<S>("symmetric-hashing", "false", {"true"}, "Both directions choose the same backend."),
      fixed_key<S>("subsetting", "false", {"true"}, "Use a part of the backends only."),
  };
}

std::vector<Key<BackendService>> forwarding_keys() {
  using S = BackendService;
  return {
      key<S>("forwarding", &S::forwarding,
             choice<Forwarding>(
                 {{"L2_DSR", Forwarding::l2_dsr}, {"VXLAN", Forwarding::vxlan}, {"IPIP", Forwarding::ipip}},
                 {"GRE", "GUE", "GENEVE", "PROXY"}),
             "How packets reach a backend: by its Ethernet address, or in a tunnel."),
      key<S>("vxlan-vni", &S::vxlan_vni, number<std::uint32_t>(0, 0xffffff),
             "Network identifier, with VXLAN."),
      key<S>("vxlan-port", &S::vxlan_port, number<std::uint16_t>(1, 65535), "UDP port, with VXLAN."),
      later_key<S>("proxy-header", "Proxy mode: PROXY protocol towards the backend."),
      later_key<S>("locality-policy", "Proxy mode: choice inside a group."),
      later_key<S>("connect-timeout", "Proxy mode: for the connection to the backend."),
      later_key<S>("soft-failover-threshold", "Proxy mode: healthy share below which a zone sheds clients."),
      later_key<S>("region-order", "Proxy mode: regions to fail over to."),
  };
}

}  // namespace

const KeyTable<HealthCheck>& health_check_keys() {
  using H = HealthCheck;
  static const KeyTable<H> table{
      .flag = "health-check",
      .identity = "name",
      .keys = {required(key<H>("name", &H::name, name(), "Name by which services refer to it.")),
               required(
                   key<H>("protocol", &H::protocol,
                          choice<ProbeProtocol>({{"TCP", ProbeProtocol::tcp}, {"HTTP", ProbeProtocol::http}},
                                                {"SSL", "HTTPS", "HTTP2", "GRPC", "GRPC_WITH_TLS"}),
                          "TCP: connecting suffices. HTTP: status 200 alone.")),
               key<H>("port", &H::port, number<std::uint16_t>(1, 65535), "Port that is probed."),
               key<H>("check-interval", &H::check_interval,
                      duration(check_interval_range, relaxed_check_interval_range),
                      "From the start of one probe to the start of the next."),
               key<H>("timeout", &H::timeout, duration(check_interval_range, relaxed_check_interval_range),
                      "A probe without an answer for this long has failed; at most check-interval."),
               key<H>("healthy-threshold", &H::healthy_threshold, number<unsigned>(1, 10),
                      "Consecutive successes until a backend counts as healthy."),
               key<H>("unhealthy-threshold", &H::unhealthy_threshold, number<unsigned>(1, 10),
                      "Consecutive failures until a backend counts as unhealthy."),
               key<H>("proxy-header", &H::proxy_header,
                      choice<ProxyHeader>({{"NONE", ProxyHeader::none}, {"PROXY_V1", ProxyHeader::proxy_v1}}),
                      "Header sent before the probe."),
               key<H>("request-path", &H::request_path, request_path(), "Path that is asked for, with HTTP."),
               defaulting_to("the rule's address",
                             key<H>("host", &H::host, host_name(), "Host header, with HTTP.")),
               key<H>("request", &H::request, probe_text(), "Sent after connecting, with TCP."),
               key<H>(
                   "response", &H::response, probe_text(),
                   "TCP: the answer must be exactly this. HTTP: it must occur in the first 1024 bytes of the "
                   "body."),
               later_key<H>("grpc-service-name", "Service asked for, with GRPC.")},
      .forbidden = health_check_problem};
  return table;
}

const KeyTable<BackendService>& backend_service_keys() {
  using S = BackendService;
  static const KeyTable<S> table = [] {
    std::vector<Key<S>> keys{
        required(key<S>("name", &S::name, name(), "Name by which backends and rules refer to it.")),
        defaulting_to("no check: backends count as healthy",
                      key<S>("health-check", &S::health_check, name(), "Name of the health check."))};
    for (const auto& group : {choice_keys(), tracking_keys(), forwarding_keys()})
      keys.insert(keys.end(), group.begin(), group.end());
    return KeyTable<S>{
        .flag = "backend-service", .identity = "name", .keys = std::move(keys), .forbidden = service_problem};
  }();
  return table;
}

}  // namespace zonelb::config
