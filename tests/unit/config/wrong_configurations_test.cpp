#include "catch.hpp"
#include "configurations.hpp"

/// Wrong configurations, each with the whole message its user reads.
namespace zonelb::config::test {

namespace {

struct Wrong {
  /// On top of `base`.
  Arguments arguments;
  std::string message;
};

void check_all(const std::vector<Wrong>& table) {
  for (const auto& [arguments, message] : table) {
    CAPTURE(arguments);
    CHECK(error_of([&, given = with(base, arguments)] { read(given); }) == message);
  }
}

const std::vector<Wrong> wrong_arguments{
    {{"--regoin", "eu"},
     "argument --regoin: unknown flag 'regoin'; did you mean 'region'? zonelb --help lists all flags"},
    {{"--back", "x"}, "argument --back: unknown flag 'back'; zonelb --help lists all flags"},
    {{"stray"}, "argument 'stray': expected a flag such as --flagfile FILE; zonelb --help lists all"},
    {{"--region"}, "argument --region: needs a value: --region NAME"},
    {{"--region", "--zone"}, "argument --region: needs a value: --region NAME"},
    {{"--check=yes"}, "argument --check: takes no value, got 'yes'"},
    {{"--relaxed-limits=maybe"},
     "argument --relaxed-limits: relaxed-limits 'maybe' is not accepted; accepted: true, false"},
    {{"--backend-group", "service=web,name=ig"},
     "argument --backend-group: backend-group is not supported yet"},
    {{"--proxy-subnet", "10.64.0.0/24"}, "argument --proxy-subnet: proxy-subnet is not supported yet"},
    {{"--host-interface", "zonelb0"},
     "argument --host-interface: host-interface 'zonelb0' is not supported yet; accepted: none"},
    {{"--region", "a", "--region", "b"},
     "argument --region: region 'b' contradicts 'a' given at argument --region"},
    {{"--workers", "0"},
     "argument --workers: workers '0' is not accepted; accepted: a number from 1 to 1024"},
    {{"--workers", "two"},
     "argument --workers: workers 'two' is not accepted; accepted: a number from 1 to 1024"},
    {{"--connections", "5x"},
     "argument --connections: connections '5x' is not accepted; accepted: a number from 16 to 1000000000, "
     "also as 64k or 2M (k: 1000, M: 1000000)"},
    {{"--connections", "3"},
     "argument --connections: connections '3' is not accepted; accepted: a number from 16 to 1000000000, "
     "also as 64k or 2M (k: 1000, M: 1000000)"},
    {{"--connections6", "64Q"},
     "argument --connections6: connections6 '64Q' is not accepted; accepted: a number from 16 to 1000000000, "
     "also as 64k or 2M (k: 1000, M: 1000000)"},
    {{"--http-listen", "9105"},
     "argument --http-listen: http-listen '9105' is not accepted; accepted: address:port such as "
     "127.0.0.1:9105 or [::1]:9105, or nothing to switch it off"},
    {{"--http-listen", "::1:9105"},
     "argument --http-listen: http-listen '::1:9105' is not accepted; accepted: address:port such as "
     "127.0.0.1:9105 or [::1]:9105, or nothing to switch it off"},
    {{"--control-socket", "zonelb.sock"},
     "argument --control-socket: control-socket 'zonelb.sock' is not accepted; accepted: an absolute path of "
     "at most 107 characters"},
    {{"--initial-health", "ill"},
     "argument --initial-health: initial-health 'ill' is not accepted; accepted: unhealthy, healthy"},
    {{"--probe-source", "eth0"},
     "argument --probe-source: probe-source 'eth0' is not accepted; accepted: an IPv4 or IPv6 address"},
    {{"--probe-source", "224.0.0.1"},
     "argument --probe-source: probe-source 224.0.0.1 is a multicast address; accepted: an address of this "
     "machine"},
    {{"--probe-device", "a/b"},
     "argument --probe-device: probe-device 'a/b' is not accepted; accepted: the name of a kernel network "
     "interface, 1 to 15 characters"},
    {{"--rx-queues", "0"},
     "argument --rx-queues: rx-queues '0' is not accepted; accepted: a number from 1 to 1024"},
    {{"--rx-descriptors", "16"},
     "argument --rx-descriptors: rx-descriptors '16' is not accepted; accepted: a number from 32 to 32768"},
    {{"--tx-descriptors", "40000"},
     "argument --tx-descriptors: tx-descriptors '40000' is not accepted; accepted: a number from 32 to "
     "32768"},
    {{"--mbufs", "8"},
     "argument --mbufs: mbufs '8' is not accepted; accepted: a number from 256 to 100000000"},
    {{"--eal", "-l '0"}, "argument --eal: eal: no closing quote"},
    {{"--region", "eu west"},
     "argument --region: region 'eu west' is not accepted; accepted: 1 to 63 letters, digits, '.', '_', '-'"},
    {{"--zone", "zone-a"}, "argument --zone: zone zone-a: already given at argument --zone"},
    {{"--zone", ""},
     "argument --zone: zone '' is not accepted; accepted: 1 to 63 letters, digits, '.', '_', '-'"},
    {{"--flagfile", "/nonexistent.flags"},
     "argument --flagfile: cannot read '/nonexistent.flags': No such file or directory"},
};

const std::vector<Wrong> wrong_grammar_of_resource_flags{
    {{"--backend", ""}, "argument --backend: backend '': expected key=value, got ''"},
    {{"--backend", "web-a2"}, "argument --backend: backend 'web-a2': expected key=value, got 'web-a2'"},
    {{"--backend", "name=web-a2,"}, "argument --backend: backend 'name=web-a2,': expected key=value, got ''"},
    {{"--backend", "name=web-a2,,zone=a"},
     "argument --backend: backend 'name=web-a2,,zone=a': expected key=value, got ''"},
    {{"--backend", "name=web-a2,name=web-a3"},
     "argument --backend: backend 'name=web-a2,name=web-a3': key 'name' is given twice"},
    {{"--backend", "service=[web,name=web-a2"},
     "argument --backend: backend 'service=[web,name=web-a2': service: no closing ']'"},
    {{"--backend", "service=[web,],name=web-a2"},
     "argument --backend: backend 'service=[web,],name=web-a2': service: an empty value in [...]"},
    {{"--backend", "service=[],name=web-a2"},
     "argument --backend: backend 'service=[],name=web-a2': service: an empty value in [...]"},
    {{"--backend", "name=web-a2,zone=[zone-a]"},
     "argument --backend: backend web-a2: zone '[zone-a]' is not accepted; it takes one value without [ ]"},
    {{"--backend", "name=\"web-a2"}, "argument --backend: backend 'name=\"web-a2': no closing '\"'"},
    {{"--backend", "name=\"web-a2\"x"},
     "argument --backend: backend 'name=\"web-a2\"x': expected ',' before 'x'"},
    {{"--backend", "name=web-a2,zon=zone-a"},
     "argument --backend: backend web-a2: unknown key 'zon'; did you mean 'zone'? accepted keys: service, "
     "name, address, zone, failover, weight, drain, mac, inner-mac, group"},
    {{"--backend", "nam=web-a2,zone=zone-a"},
     "argument --backend: backend 'nam=web-a2,zone=zone-a': unknown key 'nam'; did you mean 'name'? accepted "
     "keys: service, name, address, zone, failover, weight, drain, mac, inner-mac, group"},
    {{"--backend", "name=web-a2,colour=red"},
     "argument --backend: backend web-a2: unknown key 'colour'; accepted keys: service, name, address, zone, "
     "failover, weight, drain, mac, inner-mac, group"},
};

const std::vector<Wrong> wrong_ports{
    {{"--port", "name=1"}, "argument --port: port 1: key 'address' or 'address6' is missing"},
    {{"--port", "address=10.1.0.1/16"},
     "argument --port: port 'address=10.1.0.1/16': key 'name' is missing; accepted: a DPDK port name or "
     "number of 1 to 63 letters, digits, '.', '_', '-', ':'"},
    {{"--port", "name=0,address=10.1.0.1/16"}, "argument --port: port 0: already given at argument --port"},
    {{"--port", "name=1,address=10.1.0.1"},
     "argument --port: port 1: address '10.1.0.1' is not accepted; accepted: an address with its prefix "
     "length such as 10.0.0.2/16"},
    {{"--port", "name=1,address=10.1.0.1/33"},
     "argument --port: port 1: address '10.1.0.1/33' is not accepted; accepted: an address with its prefix "
     "length such as 10.0.0.2/16"},
    {{"--port", "name=1,address6=10.1.0.1/16"},
     "argument --port: port 1: address6 '10.1.0.1/16' is not accepted; accepted: an IPv6 address with its "
     "prefix length"},
    {{"--port", "name=1,address=2001:db8::1/64,address6=2001:db8::2/64"},
     "argument --port: port 1: address6 '2001:db8::2/64': the port already has the IPv6 address 2001:db8::1"},
    {{"--port", "name=1,address=0.0.0.0/0"},
     "argument --port: port 1: address '0.0.0.0/0' is not accepted; accepted: an address with its prefix "
     "length such as 10.0.0.2/16"},
    {{"--port", "name=1,address=224.0.0.1/24"},
     "argument --port: port 1: address 224.0.0.1 is a multicast address; accepted: an address of one host"},
    {{"--port", "name=1,address=10.1.0.1/16,gateway=10.2.0.1"},
     "argument --port: port 1: gateway 10.2.0.1 is outside the port's network 10.1.0.0/16"},
    {{"--port", "name=1,address=10.1.0.1/16,gateway=10.1.0.1"},
     "argument --port: port 1: gateway 10.1.0.1 is the port's own address"},
    {{"--port", "name=1,address=10.1.0.1/16,gateway6=fe80::1"},
     "argument --port: port 1: gateway fe80::1 without an address of its family"},
    {{"--port", "name=1,address=10.1.0.1/16,gateway=here"},
     "argument --port: port 1: gateway 'here' is not accepted; accepted: an address inside the port's "
     "network or an IPv6 link-local one"},
    {{"--port", "name=1,address=10.1.0.1/16,gateway-mac=02:00:00:00:00:01"},
     "argument --port: port 1: gateway-mac needs gateway or gateway6"},
    {{"--port", "name=1,address=10.1.0.1/16,gateway=10.1.0.9,gateway-mac=01:00:00:00:00:01"},
     "argument --port: port 1: gateway-mac '01:00:00:00:00:01' is not accepted; accepted: a unicast Ethernet "
     "address such as 02:00:00:00:00:01"},
    {{"--port", "name=1,address=10.1.0.1/16,vlan=4095"},
     "argument --port: port 1: vlan '4095' is not accepted; accepted: a number from 1 to 4094"},
    {{"--port", "name=1,address=10.1.0.1/16,mtu=575"},
     "argument --port: port 1: mtu '575' is not accepted; accepted: a number from 576 to 9600"},
    {{"--port", "name=1,address=2001:db8::1/64,mtu=1279"},
     "argument --port: port 1: mtu '1279' is too small for IPv6; accepted: 1280 to 9600"},
    {{"--port", "name=1,address=10.1.0.1/16,mtu=9601"},
     "argument --port: port 1: mtu '9601' is not accepted; accepted: a number from 576 to 9600"},
    {{"--port", "name=1,address=10.0.7.1/24"},
     "argument --port: port 1: network 10.0.7.0/24 overlaps 10.0.0.0/16 of port 0"},
    {{"--port", "name=net tap,address=10.1.0.1/16"},
     "argument --port: port net tap: name 'net tap' is not accepted; accepted: a DPDK port name or number of "
     "1 to 63 letters, digits, '.', '_', '-', ':'"},
};

const std::vector<Wrong> wrong_client_networks{
    {{"--client-network", "zone=zone-a"},
     "argument --client-network: client-network 'zone=zone-a': key 'cidr' is missing; accepted: networks "
     "such as 10.1.0.0/16 or 2001:db8::/32 without host bits; several as [a,b]"},
    {{"--client-network", "cidr=10.1.0.0/16"},
     "argument --client-network: client-network 10.1.0.0/16: one of the keys zone, region, gateway, "
     "published=true is missing"},
    {{"--client-network", "cidr=10.1.0.5/16,zone=zone-a"},
     "argument --client-network: client-network 10.1.0.5/16: cidr '10.1.0.5/16' is not accepted; accepted: "
     "networks such as 10.1.0.0/16 or 2001:db8::/32 without host bits"},
    {{"--client-network", "cidr=10.1.0.0/16,zone=zone-a,gateway=vpn"},
     "argument --client-network: client-network 10.1.0.0/16: zone, region, gateway and published=true "
     "exclude each other"},
    {{"--client-network", "cidr=10.1.0.0/16,zone=zone-a,published=true"},
     "argument --client-network: client-network 10.1.0.0/16: zone, region, gateway and published=true "
     "exclude each other"},
    {{"--client-network", "cidr=10.1.0.0/16,region=eu,gateway=vpn"},
     "argument --client-network: client-network 10.1.0.0/16: zone, region, gateway and published=true "
     "exclude each other"},
    {{"--client-network", "cidr=10.1.0.0/16,published=false"},
     "argument --client-network: client-network 10.1.0.0/16: one of the keys zone, region, gateway, "
     "published=true is missing"},
    {{"--client-network", "cidr=[10.1.0.0/16,10.1.0.0/16],zone=zone-a"},
     "argument --client-network: client-network [10.1.0.0/16,10.1.0.0/16]: cidr '10.1.0.0/16' is given "
     "twice"},
    {{"--client-network", "cidr=10.1.0.0/16,zone=zone-a", "--client-network",
      "cidr=[10.2.0.0/16,10.1.0.0/16],zone=zone-b"},
     "argument --client-network: client-network [10.2.0.0/16,10.1.0.0/16]: 10.1.0.0/16 is already in a "
     "client network given at argument --client-network"},
    {{"--region", "eu", "--client-network", "cidr=10.1.0.0/16,zone=zone-a,region=us"},
     "argument --client-network: client-network 10.1.0.0/16: zone 'zone-a' with region 'us': zones are those "
     "of this appliance's region 'eu'; leave out one of them"},
    {{"--client-network", "cidr=10.1.0.0/16,zone=zone-a,region=us"},
     "argument --client-network: client-network 10.1.0.0/16: zone 'zone-a' with region 'us': zones are those "
     "of this appliance's region, which no --region names; leave out one of them"},
    {{"--region", "eu", "--client-network", "cidr=10.1.0.0/16,region=eu"},
     "argument --client-network: client-network 10.1.0.0/16: region 'eu' is this appliance's own: say zone= "
     "so that its clients have one"},
};

const std::vector<Wrong> wrong_health_checks{
    {{"--health-check", "name=h2"},
     "argument --health-check: health-check h2: key 'protocol' is missing; accepted: TCP, HTTP (SSL, HTTPS, "
     "HTTP2, GRPC, GRPC_WITH_TLS: not supported yet)"},
    {{"--health-check", "protocol=TCP"},
     "argument --health-check: health-check 'protocol=TCP': key 'name' is missing; accepted: 1 to 63 "
     "letters, digits, '.', '_', '-'"},
    {{"--health-check", "name=hc,protocol=HTTP"},
     "argument --health-check: health-check hc: already given at argument --health-check"},
    {{"--health-check", "name=h2,protocol=HTTPS"},
     "argument --health-check: health-check h2: protocol 'HTTPS' is not supported yet; accepted: TCP, HTTP"},
    {{"--health-check", "name=h2,protocol=ICMP"},
     "argument --health-check: health-check h2: protocol 'ICMP' is not accepted; accepted: TCP, HTTP"},
    {{"--health-check", "name=h2,protocol=TCP,port=0"},
     "argument --health-check: health-check h2: port '0' is not accepted; accepted: a number from 1 to "
     "65535"},
    {{"--health-check", "name=h2,protocol=TCP,port=65536"},
     "argument --health-check: health-check h2: port '65536' is not accepted; accepted: a number from 1 to "
     "65535"},
    {{"--health-check", "name=h2,protocol=TCP,check-interval=5"},
     "argument --health-check: health-check h2: check-interval '5' is not accepted; accepted: a duration "
     "with its unit (500ms, 5s, 10m, 1h) from 1s to 300s; with --relaxed-limits 10ms to 300s"},
    {{"--health-check", "name=h2,protocol=TCP,check-interval=500ms"},
     "argument --health-check: health-check h2: check-interval '500ms' is not accepted; accepted: 1s to "
     "300s; with --relaxed-limits 10ms to 300s"},
    {{"--health-check", "name=h2,protocol=TCP,check-interval=6m"},
     "argument --health-check: health-check h2: check-interval '360s' is not accepted; accepted: 1s to 300s; "
     "with --relaxed-limits 10ms to 300s"},
    {{"--relaxed-limits", "--health-check", "name=h2,protocol=TCP,check-interval=5ms,timeout=5ms"},
     "argument --health-check: health-check h2: check-interval '5ms' is not accepted; accepted: 10ms to "
     "300s"},
    {{"--health-check", "name=h2,protocol=TCP,timeout=10s"},
     "argument --health-check: health-check h2: timeout '10s' is longer than check-interval '5s'; accepted: "
     "at most the interval"},
    {{"--health-check", "name=h2,protocol=TCP,check-interval=2s"},
     "argument --health-check: health-check h2: timeout '5s' (the default) is longer than check-interval "
     "'2s'; accepted: at most the interval"},
    {{"--health-check", "name=h2,protocol=TCP,timeout=0s"},
     "argument --health-check: health-check h2: timeout '0s' is not accepted; accepted: 1s to 300s; with "
     "--relaxed-limits 10ms to 300s"},
    {{"--health-check", "name=h2,protocol=TCP,healthy-threshold=0"},
     "argument --health-check: health-check h2: healthy-threshold '0' is not accepted; accepted: a number "
     "from 1 to 10"},
    {{"--health-check", "name=h2,protocol=TCP,unhealthy-threshold=11"},
     "argument --health-check: health-check h2: unhealthy-threshold '11' is not accepted; accepted: a number "
     "from 1 to 10"},
    {{"--health-check", "name=h2,protocol=TCP,request-path=/"},
     "argument --health-check: health-check h2: request-path needs protocol=HTTP"},
    {{"--health-check", "name=h2,protocol=TCP,host=a.example"},
     "argument --health-check: health-check h2: host needs protocol=HTTP"},
    {{"--health-check", "name=h2,protocol=HTTP,request=x"},
     "argument --health-check: health-check h2: request needs protocol=TCP; HTTP sends request-path and "
     "host"},
    {{"--health-check", "name=h2,protocol=HTTP,request-path=healthz"},
     "argument --health-check: health-check h2: request-path 'healthz' is not accepted; accepted: a path "
     "that starts with '/', of printable ASCII without spaces"},
    {{"--health-check", "name=h2,protocol=HTTP,host=a b"},
     "argument --health-check: health-check h2: host 'a b' is not accepted; accepted: a host name or address "
     "of 1 to 255 letters, digits, '.', '_', '-', ':', '[', ']'"},
    {{"--health-check", "name=h2,protocol=TCP,response=é"},
     "argument --health-check: health-check h2: response 'é' is not accepted; accepted: 1 to 1024 bytes of "
     "ASCII (in double quotes: \\r, \\n, \\t, \\\", \\\\)"},
    {{"--health-check", "name=h2,protocol=TCP,proxy-header=V2"},
     "argument --health-check: health-check h2: proxy-header 'V2' is not accepted; accepted: NONE, PROXY_V1"},
    {{"--health-check", "name=h2,protocol=TCP,grpc-service-name=x"},
     "argument --health-check: health-check h2: key 'grpc-service-name' is not supported yet"},
    {{"--health-check", "name=h2,protocol=TCP,request=\"\\x\""},
     "argument --health-check: health-check 'name=h2,protocol=TCP,request=\"\\x\"': '\\' in double quotes "
     "must be followed by one of \" \\ r n t"},
};

const std::vector<Wrong> wrong_backend_services{
    {{"--backend-service", "health-check=hc"},
     "argument --backend-service: backend-service 'health-check=hc': key 'name' is missing; accepted: 1 to "
     "63 letters, digits, '.', '_', '-'"},
    {{"--backend-service", "name=web"},
     "argument --backend-service: backend-service web: already given at argument --backend-service"},
    {{"--backend-service", "name=api,health-check=hd"},
     "argument --backend-service: backend-service api: health-check 'hd' is not declared; known: hc"},
    {{"--backend-service", "name=api,health-check=h"},
     "argument --backend-service: backend-service api: health-check 'h' is not declared; known: hc"},
    {{"--backend-service", "name=api,session-affinity=CLIENT"},
     "argument --backend-service: backend-service api: session-affinity 'CLIENT' is not accepted; did you "
     "mean 'CLIENT_IP'? accepted: NONE, CLIENT_IP_PORT_PROTO, CLIENT_IP_PROTO, CLIENT_IP, "
     "CLIENT_IP_NO_DESTINATION"},
    {{"--backend-service", "name=api,session-affinity=client-ip-prot"},
     "argument --backend-service: backend-service api: session-affinity 'client-ip-prot' is not accepted; "
     "did you mean 'CLIENT_IP_PROTO'? accepted: NONE, CLIENT_IP_PORT_PROTO, CLIENT_IP_PROTO, CLIENT_IP, "
     "CLIENT_IP_NO_DESTINATION"},
    {{"--backend-service", "name=api,tracking-mode=PER_SESSION"},
     "argument --backend-service: backend-service api: tracking-mode 'PER_SESSION' is not supported yet; "
     "accepted: PER_CONNECTION"},
    {{"--backend-service", "name=api,tracking-mode=PER_PACKET"},
     "argument --backend-service: backend-service api: tracking-mode 'PER_PACKET' is not accepted; accepted: "
     "PER_CONNECTION"},
    {{"--backend-service", "name=api,connection-persistence-on-unhealthy-backends=NEVER_PERSIST"},
     "argument --backend-service: backend-service api: connection-persistence-on-unhealthy-backends "
     "'NEVER_PERSIST' is not supported yet; accepted: DEFAULT_FOR_PROTOCOL"},
    {{"--backend-service", "name=api,connection-persistence-on-unhealthy-backends=always-persist"},
     "argument --backend-service: backend-service api: connection-persistence-on-unhealthy-backends "
     "'always-persist' is not supported yet; accepted: DEFAULT_FOR_PROTOCOL"},
    {{"--backend-service",
      "name=api,connection-persistence-on-unhealthy-backends=always-persist,tracking-mode=per-session"},
     "argument --backend-service: backend-service api: "
     "connection-persistence-on-unhealthy-backends=ALWAYS_PERSIST and tracking-mode=PER_SESSION exclude each "
     "other"},
    {{"--backend-service", "name=api,idle-timeout=20m"},
     "argument --backend-service: backend-service api: idle-timeout '1200s' is above 600s, which needs "
     "tracking-mode=PER_SESSION and session-affinity CLIENT_IP_PROTO, CLIENT_IP or CLIENT_IP_NO_DESTINATION; "
     "with --relaxed-limits accepted: 1s to 57600s"},
    {{"--backend-service", "name=api,idle-timeout=60s"},
     "argument --backend-service: backend-service api: idle-timeout '60s' is not accepted; accepted: 600s to "
     "57600s; with --relaxed-limits 1s to 57600s"},
    {{"--relaxed-limits", "--backend-service", "name=api,idle-timeout=17h"},
     "argument --backend-service: backend-service api: idle-timeout '61200s' is not accepted; accepted: 1s "
     "to 57600s"},
    {{"--backend-service", "name=api,connection-draining-timeout=2h"},
     "argument --backend-service: backend-service api: connection-draining-timeout '2h' is not accepted; "
     "accepted: a duration with its unit (500ms, 5s, 10m, 1h) from 0s to 3600s"},
    {{"--backend-service", "name=api,zonal-affinity=SPILL_CROSS_ZON"},
     "argument --backend-service: backend-service api: zonal-affinity 'SPILL_CROSS_ZON' is not accepted; did "
     "you mean 'SPILL_CROSS_ZONE'? accepted: DISABLED, STAY_WITHIN_ZONE, SPILL_CROSS_ZONE"},
    {{"--backend-service", "name=api,spillover-ratio=0.5"},
     "argument --backend-service: backend-service api: spillover-ratio needs "
     "zonal-affinity=SPILL_CROSS_ZONE: only that option spills by a ratio"},
    {{"--backend-service", "name=api,zonal-affinity=STAY_WITHIN_ZONE,spillover-ratio=0.5"},
     "argument --backend-service: backend-service api: spillover-ratio needs "
     "zonal-affinity=SPILL_CROSS_ZONE: only that option spills by a ratio"},
    {{"--backend-service", "name=api,zonal-affinity=SPILL_CROSS_ZONE,spillover-ratio=1.5"},
     "argument --backend-service: backend-service api: spillover-ratio '1.5' is not accepted; accepted: a "
     "decimal from 0.0 to 1.0"},
    {{"--backend-service", "name=api,failover-ratio=30%"},
     "argument --backend-service: backend-service api: failover-ratio '30%' is not accepted; accepted: a "
     "decimal from 0.0 to 1.0"},
    {{"--backend-service", "name=api,drop-traffic-if-unhealthy=treu"},
     "argument --backend-service: backend-service api: drop-traffic-if-unhealthy 'treu' is not accepted; "
     "accepted: true, false"},
    {{"--backend-service", "name=api,symmetric-hashing=true"},
     "argument --backend-service: backend-service api: symmetric-hashing=true needs session-affinity "
     "CLIENT_IP_PORT_PROTO, CLIENT_IP_PROTO or CLIENT_IP"},
    {{"--backend-service", "name=api,symmetric-hashing=true,session-affinity=CLIENT_IP"},
     "argument --backend-service: backend-service api: symmetric-hashing 'true' is not supported yet; "
     "accepted: false"},
    {{"--backend-service",
      "name=api,symmetric-hashing=true,session-affinity=CLIENT_IP,zonal-affinity=STAY_WITHIN_ZONE"},
     "argument --backend-service: backend-service api: symmetric-hashing=true and zonal-affinity exclude "
     "each other unless the service of the return direction has both, and pairing services is not supported "
     "yet; leave one of them out"},
    {{"--backend-service", "name=api,subsetting=true"},
     "argument --backend-service: backend-service api: subsetting 'true' is not supported yet; accepted: "
     "false"},
    {{"--backend-service", "name=api,subsetting=true,zonal-affinity=SPILL_CROSS_ZONE"},
     "argument --backend-service: backend-service api: subsetting=true and zonal-affinity exclude each "
     "other; leave one of them out"},
    {{"--backend-service", "name=api,zonal-affinity-client=DESTINATION"},
     "argument --backend-service: backend-service api: zonal-affinity-client=DESTINATION needs "
     "symmetric-hashing=true"},
    {{"--backend-service", "name=api,forwarding=GRE"},
     "argument --backend-service: backend-service api: forwarding 'GRE' is not supported yet; accepted: "
     "L2_DSR, VXLAN, IPIP"},
    {{"--backend-service", "name=api,forwarding=NAT"},
     "argument --backend-service: backend-service api: forwarding 'NAT' is not accepted; accepted: L2_DSR, "
     "VXLAN, IPIP"},
    {{"--backend-service", "name=api,vxlan-vni=7"},
     "argument --backend-service: backend-service api: vxlan-vni needs forwarding=VXLAN"},
    {{"--backend-service", "name=api,forwarding=IPIP,vxlan-port=4789"},
     "argument --backend-service: backend-service api: vxlan-port needs forwarding=VXLAN"},
    {{"--backend-service", "name=api,forwarding=VXLAN,vxlan-vni=16777216"},
     "argument --backend-service: backend-service api: vxlan-vni '16777216' is not accepted; accepted: a "
     "number from 0 to 16777215"},
    {{"--backend-service", "name=api,locality-policy=RANDOM"},
     "argument --backend-service: backend-service api: key 'locality-policy' is not supported yet"},
};

const std::vector<Wrong> wrong_backends{
    {{"--backend", "name=web-a2,address=10.0.1.2,zone=zone-a"},
     "argument --backend: backend web-a2: key 'service' is missing; accepted: 1 to 63 letters, digits, '.', "
     "'_', '-'; several as [a,b]"},
    {{"--backend", "service=web,address=10.0.1.2,zone=zone-a"},
     "argument --backend: backend 'service=web,address=10.0.1.2,zone=zone-a': key 'name' is missing; "
     "accepted: 1 to 63 letters, digits, '.', '_', '-'"},
    {{"--backend", "service=web,name=web-a2,zone=zone-a"},
     "argument --backend: backend web-a2: key 'address' is missing; accepted: an IPv4 or IPv6 address"},
    {{"--backend", "service=web,name=web-a2,address=10.0.1.2"},
     "argument --backend: backend web-a2: key 'zone' is missing; accepted: 1 to 63 letters, digits, '.', "
     "'_', '-'"},
    {{"--backend", "service=web,name=web-a1,address=10.0.1.2,zone=zone-a"},
     "argument --backend: backend web-a1: already given at argument --backend"},
    {{"--backend", "service=wep,name=web-a2,address=10.0.1.2,zone=zone-a"},
     "argument --backend: backend web-a2: service 'wep' is not declared; did you mean 'web'? known: web"},
    {{"--backend", "service=[web,web],name=web-a2,address=10.0.1.2,zone=zone-a"},
     "argument --backend: backend web-a2: service 'web' is given twice"},
    {{"--backend", "service=web,name=web-a2,address=10.0.1.2,zone=zone-c"},
     "argument --backend: backend web-a2: zone 'zone-c' is not declared; did you mean 'zone-a'? known zones: "
     "zone-a, zone-b"},
    {{"--backend", "service=web,name=web-a2,address=10.0.1.2:80,zone=zone-a"},
     "argument --backend: backend web-a2: address '10.0.1.2:80' is not accepted; accepted: an IPv4 or IPv6 "
     "address"},
    {{"--backend", "service=web,name=web-a2,address=224.0.0.9,zone=zone-a"},
     "argument --backend: backend web-a2: address 224.0.0.9 is a multicast address; accepted: an address of "
     "one host"},
    {{"--backend", "service=web,name=web-a2,address=10.0.1.1,zone=zone-b"},
     "argument --backend: backend web-a2: address 10.0.1.1 is already that of backend web-a1 in service web"},
    {{"--backend", "service=web,name=web-a2,address=10.0.0.2,zone=zone-a"},
     "argument --backend: backend web-a2: address 10.0.0.2 is that of port 0"},
    {{"--backend", "service=web,name=web-a2,address=10.0.1.2,zone=zone-a,weight=1000001"},
     "argument --backend: backend web-a2: weight '1000001' is not accepted; accepted: a number from 0 to "
     "1000000"},
    {{"--backend", "service=web,name=web-a2,address=10.0.1.2,zone=zone-a,weight=-1"},
     "argument --backend: backend web-a2: weight '-1' is not accepted; accepted: a number from 0 to 1000000"},
    {{"--backend", "service=web,name=web-a2,address=10.0.1.2,zone=zone-a,mac=ff:ff:ff:ff:ff:ff"},
     "argument --backend: backend web-a2: mac 'ff:ff:ff:ff:ff:ff' is not accepted; accepted: a unicast "
     "Ethernet address such as 02:00:00:00:00:01"},
    {{"--backend", "service=web,name=web-a2,address=10.0.1.2,zone=zone-a,inner-mac=02:00:00:00:00:09"},
     "argument --backend: backend web-a2: inner-mac needs a service with forwarding=VXLAN"},
    {{"--backend", "service=web,name=web-a2,address=10.0.1.2,zone=zone-a,group=ig-a"},
     "argument --backend: backend web-a2: key 'group' is not supported yet"},
    {{"--backend", "service=web,name=web-a2,address=10.7.1.2,zone=zone-a"},
     "argument --backend: backend web-a2: address 10.7.1.2 is on no port's network, where L2_DSR of service "
     "web needs it; set mac on the backend, or forwarding=IPIP or VXLAN on the service"},
    {{"--backend-service", "name=tun,forwarding=IPIP", "--backend",
      "service=tun,name=tun-a1,address=10.7.1.2,zone=zone-a"},
     "argument --backend: backend tun-a1: address 10.7.1.2 is on no port's network and no port has an IPv4 "
     "gateway; set gateway on a --port or mac on the backend"},
    {{"--backend-service", "name=tun,forwarding=IPIP", "--backend",
      "service=tun,name=tun-a1,address=2001:db8::5,zone=zone-a,mac=02:00:00:00:00:05"},
     "argument --backend: backend tun-a1: address 2001:db8::5 needs an IPv6 address on a --port to tunnel "
     "from"},
    {{"--backend", "service=web,name=web/a2,address=10.0.1.2,zone=zone-a"},
     "argument --backend: backend web/a2: name 'web/a2' is not accepted; accepted: 1 to 63 letters, digits, "
     "'.', '_', '-'"},
};

const std::vector<Wrong> wrong_forwarding_rules{
    {{"--forwarding-rule", "name=r"},
     "argument --forwarding-rule: forwarding-rule r: key 'address' is missing; accepted: an IPv4 or IPv6 "
     "address"},
    {{"--forwarding-rule", "name=r,address=10.0.9.2,protocol=TCP,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: key 'ports' is missing; accepted: all, or ports and "
     "ranges from 1 to 65535 such as [80,8000-8100]"},
    {{"--forwarding-rule", "name=r,address=10.0.9.2,protocol=SCTP,ports=80,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: protocol 'SCTP' is not accepted; accepted: TCP, UDP"},
    {{"--forwarding-rule", "name=r,address=10.0.9.2,protocol=L3_DEFAULT,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: protocol 'L3_DEFAULT' is not supported yet; accepted: "
     "TCP, UDP"},
    {{"--forwarding-rule", "name=r,address=10.0.9.2,next-hop=true,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: next-hop 'true' is not supported yet; accepted: false"},
    {{"--forwarding-rule", "name=r,address=10.0.9.2,protocol=TCP,ports=0,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: ports '0' is not accepted; accepted: all, or ports and "
     "ranges from 1 to 65535 such as [80,8000-8100]"},
    {{"--forwarding-rule", "name=r,address=10.0.9.2,protocol=TCP,ports=[90-80],backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: ports '90-80' is not accepted; accepted: all, or ports "
     "and ranges from 1 to 65535 such as [80,8000-8100]"},
    {{"--forwarding-rule", "name=r,address=10.0.9.2,protocol=TCP,ports=[all,80],backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: ports 'all' is not accepted; accepted: all, or ports "
     "and ranges from 1 to 65535 such as [80,8000-8100]"},
    {{"--forwarding-rule", "name=r,address=10.0.9.2,protocol=TCP,ports=[80-90,85],backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: ports '[80-90,85]': 80-90 and 85 overlap"},
    {{"--forwarding-rule", "name=r,address=10.0.9.2,protocol=TCP,ports=80,backend-service=api"},
     "argument --forwarding-rule: forwarding-rule r: backend-service 'api' is not declared; known: web"},
    {{"--forwarding-rule", "name=r,address=10.0.9.1,protocol=TCP,ports=[443,70-90],backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: overlaps forwarding-rule web-v4 given at argument "
     "--forwarding-rule: same address, protocol and port"},
    {{"--forwarding-rule", "name=r,address=10.0.9.1,protocol=TCP,ports=all,backend-service=web",
      "--forwarding-rule", "name=s,address=10.0.9.1,protocol=TCP,ports=all,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule s: overlaps forwarding-rule r given at argument "
     "--forwarding-rule: same address, protocol and port"},
    {{"--forwarding-rule", "name=r,address=10.0.0.2,protocol=TCP,ports=80,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: address 10.0.0.2 is that of port 0; accepted: an "
     "address of its own"},
    {{"--forwarding-rule", "name=r,address=10.0.1.1,protocol=TCP,ports=80,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: address 10.0.1.1 is that of backend web-a1; accepted: "
     "an address of its own"},
    {{"--forwarding-rule", "name=r,address=0.0.0.0,protocol=TCP,ports=80,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: address 0.0.0.0 is the unspecified address; accepted: "
     "an address of one host"},
    {{"--forwarding-rule", "name=r,address=ff02::1,protocol=TCP,ports=80,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: address ff02::1 is a multicast address; accepted: an "
     "address of one host"},
    {{"--forwarding-rule", "name=r,address=255.255.255.255,protocol=TCP,ports=80,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: address 255.255.255.255 is the broadcast address; "
     "accepted: an address of one host"},
    {{"--forwarding-rule", "name=r,address=2001:db8::80,protocol=TCP,ports=80,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule r: address 2001:db8::80 is IPv6, but backend web-a1 has "
     "the IPv4 address 10.0.1.1: L2_DSR needs mac on that backend (IPIP and VXLAN may cross families)"},
    {{"--forwarding-rule", "name=web-v4,address=10.0.9.2,protocol=TCP,ports=80,backend-service=web"},
     "argument --forwarding-rule: forwarding-rule web-v4: already given at argument --forwarding-rule"},
    {{"--forwarding-rule", "name=r,address=10.0.9.2,protocol=TCP,ports=80,backend-service=web,published=1"},
     "argument --forwarding-rule: forwarding-rule r: published '1' is not accepted; accepted: true, false"},
};

}  // namespace

TEST_CASE("wrong arguments") {
  check_all(wrong_arguments);
}

TEST_CASE("wrong grammar of resource flags") {
  check_all(wrong_grammar_of_resource_flags);
}

TEST_CASE("wrong ports") {
  check_all(wrong_ports);
}

TEST_CASE("wrong client networks") {
  check_all(wrong_client_networks);
}

TEST_CASE("wrong health checks") {
  check_all(wrong_health_checks);
}

TEST_CASE("wrong backend services") {
  check_all(wrong_backend_services);
}

TEST_CASE("wrong backends") {
  check_all(wrong_backends);
}

TEST_CASE("wrong forwarding rules") {
  check_all(wrong_forwarding_rules);
}

TEST_CASE("long values are cut in messages") {
  CHECK(error_of([] {
          read_base_and({"--health-check", "name=h2,protocol=TCP,request=" + std::string(1025, 'y')});
        }) == "argument --health-check: health-check h2: request '" + std::string(60, 'y') +
                  "…' is not accepted; accepted: 1 to 1024 bytes of ASCII (in double quotes: \\r, \\n, \\t, "
                  "\\\", \\\\)");
}

TEST_CASE("more ports than can be") {
  Arguments ports;
  for (int i = 1; i < 17; ++i)
    ports =
        with(ports, {"--port", "name=" + std::to_string(i) + ",address=10." + std::to_string(i) + ".0.1/16"});
  CHECK(error_of([&] { read_base_and(ports); }) == "argument --port: port 16: more than 16 ports");
}

TEST_CASE("more backends of a service than can be") {
  const FlagFiles files;
  std::string text;
  for (int i = 1; i < 65536; ++i)
    text += "backend = service=web,name=b" + std::to_string(i) + ",address=172.16." +
            std::to_string(i / 256) + "." + std::to_string(i % 256) + ",zone=zone-a\n";
  const auto path = files.write("backends.flags", text);
  CHECK(error_of([&] {
          read_base_and({"--flagfile", path});
        }).find("service web has more than 65000 backends") != std::string::npos);
}

TEST_CASE("more zones than a tracked connection can remember") {
  const FlagFiles files;
  std::string text;
  for (int i = 0; i < 1100; ++i) text += "zone = z" + std::to_string(i) + "\n";
  const auto path = files.write("zones.flags", text);
  CHECK(error_of([&] {
          read_base_and({"--flagfile", path});
        }).ends_with("zones are named by --zone and --client-network; accepted: at most 1023"));
}

}  // namespace zonelb::config::test
