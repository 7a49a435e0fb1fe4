#include "catch.hpp"
#include "configurations.hpp"

namespace zonelb::config::test {

namespace {

net::IpAddress ip(const std::string& text) {
  return *net::IpAddress::parse(text);
}

net::Prefix net_of(const std::string& text) {
  return *net::Prefix::parse(text);
}

net::Mac mac_of(const std::string& text) {
  return *net::Mac::parse(text);
}

}  // namespace

TEST_CASE("what is not said has the documented defaults") {
  const auto config = read_base_and({});
  CHECK(config.machine.eal.empty());
  CHECK(config.machine.workers == 0);
  CHECK(config.machine.connections == 1'000'000);
  CHECK(config.machine.connections6 == 500'000);
  CHECK(config.machine.http_listen == "127.0.0.1:9105");
  CHECK(config.machine.control_socket == "/run/zonelb/control.sock");
  CHECK(config.initial_health == InitialHealth::unhealthy);
  CHECK(config.zones == std::vector<std::string>{"zone-a", "zone-b"});
  CHECK(config.machine.ports.at(0).mtu == 1500);

  const HealthCheck check{.name = "hc", .protocol = ProbeProtocol::tcp};
  CHECK(config.health_checks == std::vector<HealthCheck>{check});
  const BackendService service{.name = "web", .health_check = "hc"};
  CHECK(config.backend_services == std::vector<BackendService>{service});
  const Backend backend{.name = "web-a1", .services = {"web"}, .address = ip("10.0.1.1"), .zone = "zone-a"};
  CHECK(config.backends == std::vector<Backend>{backend});
  const ForwardingRule rule{.name = "web-v4",
                            .address = ip("10.0.9.1"),
                            .protocol = Protocol::tcp,
                            .ports = {{80, 80}},
                            .backend_service = "web"};
  CHECK(config.forwarding_rules == std::vector<ForwardingRule>{rule});
}

TEST_CASE("single flags") {
  const auto config = read_base_and(
      {"--workers", "3", "--connections", "64k", "--http-listen=[::1]:8080",
       "--control-socket=/tmp/zonelb.sock", "--region=us-central1", "--relaxed-limits",
       "--initial-health=Healthy", "--probe-source=10.0.0.7", "--probe-device=veth0", "--rx-queues=2",
       "--rx-descriptors=512", "--tx-descriptors=256", "--mbufs=65536", "--host-interface=none"});
  CHECK(config.machine.workers == 3);
  CHECK(config.machine.connections == 64'000);
  CHECK(config.machine.connections6 == 32'000);
  CHECK(config.machine.http_listen == "[::1]:8080");
  CHECK(config.machine.control_socket == "/tmp/zonelb.sock");
  CHECK(config.region == "us-central1");
  CHECK(config.relaxed_limits);
  CHECK(config.initial_health == InitialHealth::healthy);
  CHECK(config.probe_source == ip("10.0.0.7"));
  CHECK(config.probe_device == "veth0");
  CHECK(config.machine.rx_queues == 2);
  CHECK(config.machine.rx_descriptors == 512);
  CHECK(config.machine.tx_descriptors == 256);
  CHECK(config.machine.mbufs == 65536);

  CHECK(read_base_and({"--connections=2M",
                       "--connections6=10"
                       "k"})
            .machine.connections6 == 10'000);
  CHECK(read_base_and({"--http-listen="}).machine.http_listen.empty());
  CHECK(read_base_and({"--http-listen", ""}).machine.http_listen.empty());
  CHECK_FALSE(read_base_and({"--relaxed-limits=FALSE"}).relaxed_limits);
}

TEST_CASE("EAL arguments are split as a shell does and add up") {
  const auto config = read_base_and({"--eal", "-l 0-1  --no-huge", "--eal=--vdev='net_tap0,iface=my tap'"});
  CHECK(config.machine.eal ==
        std::vector<std::string>{"-l", "0-1", "--no-huge", "--vdev=net_tap0,iface=my tap"});
}

TEST_CASE("ports") {
  const auto config = read({"--port",
                            "name=0000:03:00.1,address=10.0.0.2/16,address6=2001:db8::2/64,gateway=10.0.0.1,"
                            "gateway6=2001:db8::1,gateway-mac=02:00:00:00:00:01,vlan=7,mtu=9000",
                            "--port", "name=net_tap1,gateway=fe80::1,address=2001:db8:1::2/64"})
                          .config;
  const Port first{.name = "0000:03:00.1",
                   .v4 = InterfaceAddress{ip("10.0.0.2"), net_of("10.0.0.0/16"), ip("10.0.0.1")},
                   .v6 = InterfaceAddress{ip("2001:db8::2"), net_of("2001:db8::/64"), ip("2001:db8::1")},
                   .gateway_mac = mac_of("02:00:00:00:00:01"),
                   .vlan = std::uint16_t{7},
                   .mtu = 9000};
  const Port second{.name = "net_tap1",
                    .v4 = {},
                    .v6 = InterfaceAddress{ip("2001:db8:1::2"), net_of("2001:db8:1::/64"), ip("fe80::1")}};
  CHECK(config.machine.ports == std::vector<Port>{first, second});
}

TEST_CASE("client networks name zones, regions and gateways") {
  const auto config =
      read_base_and({"--region", "us", "--client-network", "cidr=[10.1.0.0/16, 2001:db8:1::/48],zone=zone-c",
                     "--client-network", "cidr=10.2.0.0/16,zone=zone-b,region=us", "--client-network",
                     "cidr=10.9.0.0/16,region=eu", "--client-network", "cidr=10.8.0.0/16,gateway=vpn",
                     "--client-network", "cidr=0.0.0.0/0,published=true"});
  CHECK(config.zones == std::vector<std::string>{"zone-a", "zone-b", "zone-c"});
  const std::vector<ClientNetwork> expected{
      {.prefixes = {net_of("10.1.0.0/16"), net_of("2001:db8:1::/48")}, .zone = "zone-c"},
      {.prefixes = {net_of("10.2.0.0/16")}, .zone = "zone-b"},
      {.prefixes = {net_of("10.9.0.0/16")}, .region = "eu"},
      {.prefixes = {net_of("10.8.0.0/16")}, .gateway = "vpn"},
      {.prefixes = {net_of("0.0.0.0/0")}, .published = true}};
  CHECK(config.client_networks == expected);
}

TEST_CASE("health checks") {
  const auto checks =
      read_base_and(
          {"--health-check",
           "name=web,protocol=http,port=8080,check-interval=10s,timeout=2500ms,healthy-threshold=1,"
           "unhealthy-threshold=10,proxy-header=proxy-v1,request-path=/healthz?a=b,host=web.example,"
           "response=\"ok, fine\"",
           "--health-check", R"(name=raw,protocol=TCP,request="PING\r\n",response="say \"\\PONG\"")"})
          .health_checks;
  const HealthCheck web{.name = "web",
                        .protocol = ProbeProtocol::http,
                        .port = 8080,
                        .check_interval = seconds(10),
                        .timeout = Duration(2500),
                        .healthy_threshold = 1,
                        .unhealthy_threshold = 10,
                        .proxy_header = ProxyHeader::proxy_v1,
                        .request_path = "/healthz?a=b",
                        .host = "web.example",
                        .request = {},
                        .response = "ok, fine"};
  CHECK(checks.at(1) == web);
  CHECK(checks.at(2).request == "PING\r\n");
  CHECK(checks.at(2).response == "say \"\\PONG\"");
}

TEST_CASE("relaxed limits allow short intervals and other idle timeouts, wherever the flag stands") {
  const auto config = read_base_and(
      {"--health-check", "name=quick,protocol=TCP,check-interval=10ms,timeout=10ms", "--backend-service",
       "name=api,idle-timeout=1h", "--backend-service", "name=short,idle-timeout=1s", "--relaxed-limits"});
  CHECK(config.health_checks.at(1).check_interval == Duration(10));
  CHECK(config.backend_services.at(1).idle_timeout == seconds(3600));
  CHECK(config.backend_services.at(2).idle_timeout == seconds(1));
}

TEST_CASE("backend services") {
  const auto services =
      read_base_and({"--backend-service",
                     "name=api,health-check=hc,session-affinity=client-ip_no-destination,idle-timeout=10m,"
                     "connection-draining-timeout=0s,zonal-affinity=zonal-affinity-spill-cross-zone,"
                     "spillover-ratio=0.5,failover-ratio=.3,drop-traffic-if-unhealthy=true,"
                     "connection-drain-on-failover=false,forwarding=vxlan,vxlan-vni=16777215,vxlan-port=8472",
                     "--backend-service", "name=tun,forwarding=IPIP,zonal-affinity=STAY_WITHIN_ZONE"})
          .backend_services;
  const BackendService api{.name = "api",
                           .health_check = "hc",
                           .session_affinity = SessionAffinity::client_ip_no_destination,
                           .idle_timeout = seconds(600),
                           .connection_draining_timeout = seconds(0),
                           .zonal_affinity = ZonalAffinity::spill_cross_zone,
                           .spillover_ratio = *Ratio::parse("0.5"),
                           .failover_ratio = *Ratio::parse("0.3"),
                           .drop_traffic_if_unhealthy = true,
                           .connection_drain_on_failover = false,
                           .forwarding = Forwarding::vxlan,
                           .vxlan_vni = 16777215,
                           .vxlan_port = 8472};
  CHECK(services.at(1) == api);
  CHECK(services.at(2).forwarding == Forwarding::ipip);
  CHECK(services.at(2).zonal_affinity == ZonalAffinity::stay_within_zone);
}

TEST_CASE("the defaults of what comes later may be written") {
  const auto config =
      read_base_and({"--backend-service",
                     "name=api,tracking-mode=per-connection,connection-persistence-on-unhealthy-backends="
                     "default_for_protocol,"
                     "symmetric-hashing=false,subsetting=False,zonal-affinity-client=SOURCE,zonal-affinity="
                     "STAY_WITHIN_ZONE",
                     "--forwarding-rule",
                     "name=api,address=10.0.9.2,protocol=udp,ports=ALL,backend-service=api,next-hop=false"});
  CHECK(config.backend_services.at(1).zonal_affinity == ZonalAffinity::stay_within_zone);
  CHECK(config.forwarding_rules.at(1).protocol == Protocol::udp);
}

TEST_CASE("backends") {
  const auto config = read_base_and(
      {"--backend-service", "name=tun,forwarding=VXLAN", "--backend",
       "service=[web,tun],name=web-b1,address=10.0.1.2,zone=zone-b,failover=true,weight=0,drain=true,"
       "mac=02:00:00:00:00:05,inner-mac=02:00:00:00:00:06"});
  const Backend expected{.name = "web-b1",
                         .services = {"web", "tun"},
                         .address = ip("10.0.1.2"),
                         .zone = "zone-b",
                         .failover = true,
                         .weight = 0,
                         .drain = true,
                         .mac = mac_of("02:00:00:00:00:05"),
                         .inner_mac = mac_of("02:00:00:00:00:06")};
  CHECK(config.backends.at(1) == expected);
}

TEST_CASE("backends off the ports' networks are reached by gateway or mac") {
  const Arguments ports{"--zone", "a", "--port", "name=0,address=10.0.0.2/16,gateway=10.0.0.1"};
  CHECK(read(with(ports, {"--backend-service", "name=tun,forwarding=IPIP", "--backend",
                          "service=tun,name=far,address=10.7.0.1,zone=a"}))
            .config.backends.size() == 1);
  CHECK(read(with(ports, {"--backend-service", "name=web", "--backend",
                          "service=web,name=far,address=10.7.0.1,zone=a,mac=02:00:00:00:00:05"}))
            .config.backends.size() == 1);
}

TEST_CASE("rules of one family may use backends of the other: tunnels always, L2_DSR with mac") {
  const auto config = read_base_and(
      {"--backend-service", "name=tun,forwarding=IPIP", "--backend-service", "name=l2", "--backend",
       "service=tun,name=tun-a1,address=10.0.1.2,zone=zone-a", "--backend",
       "service=l2,name=l2-a1,address=10.0.1.3,zone=zone-a,mac=02:00:00:00:00:05", "--forwarding-rule",
       "name=tun-v6,address=2001:db8::80,protocol=TCP,ports=80,backend-service=tun", "--forwarding-rule",
       "name=l2-v6,address=2001:db8::81,protocol=TCP,ports=80,backend-service=l2"});
  CHECK(config.forwarding_rules.size() == 3);
}

TEST_CASE("ports of a rule are sorted; explicit ones go together with all, other protocols with the same") {
  const std::string many =
      "name=many,address=10.0.9.1,protocol=TCP,ports=[8000-8100,443],backend-service=web,"
      "allow-global-access=true,published=true";
  const auto rules = read_base_and({"--forwarding-rule", many, "--forwarding-rule",
                                    "name=all,address=10.0.9.1,protocol=TCP,ports=all,backend-service=web",
                                    "--forwarding-rule",
                                    "name=udp,address=10.0.9.1,protocol=UDP,ports=80,backend-service=web"})
                         .forwarding_rules;
  CHECK(rules.at(1).ports == std::vector<PortRange>{{443, 443}, {8000, 8100}});
  CHECK(rules.at(1).allow_global_access);
  CHECK(rules.at(1).published);
  CHECK(rules.at(2).ports.empty());
  CHECK(rules.at(3).protocol == Protocol::udp);
}

TEST_CASE("actions") {
  CHECK(read(base).action == Action::run);
  CHECK(read(with(base, {"--check"})).action == Action::check);

  SECTION("help and version win over whatever is wrong") {
    CHECK(read({"--nonsense", "--version"}).action == Action::version);
    CHECK(read({"--flagfile", "/nonexistent", "--help"}).action == Action::help);
    const auto help = read({"--backend", "--help=ports"});
    CHECK(help.action == Action::help);
    CHECK(help.help_topic == "ports");
  }
}

}  // namespace zonelb::config::test
