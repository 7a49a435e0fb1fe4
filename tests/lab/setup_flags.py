"""The flags of zonelb for the test network of topology.py."""

from .flags import Flags
from .servers import HEALTH_PORT
from .topology import (APPLIANCE, APPLIANCE6, DATA_DEVICE, FAILOVERS, PRIMARIES, PROBE_SOURCE, PROBE_SOURCE6,
                       ROUTER, ROUTER6, VIP, VIP6, ZONES)

EAL = f"--no-huge --no-shconf --no-pci --no-telemetry -m 512 -l 0-1 --vdev=net_af_packet0,iface={DATA_DEVICE}"
PORT = "net_af_packet0"


def base_flags():
    """The port, the clients' zones."""
    flags = Flags().port(name=PORT, address=f"{APPLIANCE}/16", address6=f"{APPLIANCE6}/64", gateway=ROUTER,
                         gateway6=ROUTER6)
    flags.region("here").relaxed_limits(True).connections("64k")
    for number, zone in enumerate(ZONES, 1):
        flags.client_network(cidr=[f"10.{number}.0.0/16", f"2001:db8:{number}::/48"], zone=f"zone-{zone}")
    return flags


def probe_flags(interval="200ms", threshold=2, source=PROBE_SOURCE):
    """A health check named `hc` of the servers' health page."""
    return Flags().probe_source(source).health_check(
        name="hc", protocol="HTTP", port=HEALTH_PORT, request_path="/healthz", check_interval=interval,
        timeout=interval, healthy_threshold=threshold, unhealthy_threshold=threshold)


def backend_flags(services, places=PRIMARIES + FAILOVERS, ipv6=False, macs=False, weights=None, drained=()):
    """With `macs` zonelb need not ask for the backends' MAC addresses."""
    flags = Flags()
    for place in places:
        flags.backend(service=services, name=place.name, address=place.address6 if ipv6 else place.address,
                      zone=f"zone-{place.zone}", failover=True if place.failover else None,
                      weight=(weights or {}).get(place.name), drain=True if place.name in drained else None,
                      mac=place.mac if macs else None)
    return flags


def rule_flags(service, protocol, ports, vips):
    """Rules named SERVICE-v4, SERVICE-v6."""
    flags = Flags()
    for vip in vips:
        flags.forwarding_rule(name=f"{service}-{'v6' if ':' in vip else 'v4'}", address=vip, protocol=protocol,
                              ports=ports, backend_service=service)
    return flags


def web_flags(vip=VIP, places=PRIMARIES + FAILOVERS, probe=None, ipv6_backends=None, weights=None, drained=(),
              **service):
    """One service `web` of all backends, what most tests run. The backends' addresses are of the VIP's family unless
    said otherwise. `service` are the service's keys."""
    ipv6 = ":" in vip if ipv6_backends is None else ipv6_backends
    return (base_flags() + (probe or probe_flags(source=PROBE_SOURCE6 if ipv6 else PROBE_SOURCE))
            + Flags().backend_service(name="web", health_check="hc", **service)
            + backend_flags("web", places, ipv6, weights=weights, drained=drained)
            + rule_flags("web", "TCP", "all", [vip]))


def dual_stack_flags(probe, **service):
    """The same behind both VIPs; L2_DSR across families asks for the backends' MAC addresses."""
    return (base_flags() + probe + Flags().backend_service(name="web", health_check="hc", **service)
            + backend_flags("web", macs=True) + rule_flags("web", "TCP", "all", [VIP, VIP6]))
