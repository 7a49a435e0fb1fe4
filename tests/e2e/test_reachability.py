"""The VIPs answer: echo, TCP and UDP, IPv4 and IPv6, through each way of forwarding."""


import pytest

from lab import iperf, udp
from lab.clients import tally
from lab.decapsulate import IpipDecapsulators
from lab.flags import Flags
from lab.setup_flags import (backend_flags, base_flags, dual_stack_flags, probe_flags, rule_flags,
                             web_flags)
from lab.topology import APPLIANCE, APPLIANCE6, PRIMARIES, VIP, VIP6, ZONES

UDP_PORT = 5353


@pytest.fixture(scope="module")
def tunnelled(whole_lab):
    """The lab with backends that take VXLAN and IP-in-IP."""
    tunnels = IpipDecapsulators()
    for backend in whole_lab.backends.values():
        backend.receive_vxlan()
        tunnels.add(backend.namespace)
    yield whole_lab
    tunnels.stop()
    for backend in whole_lab.backends.values():
        backend.namespace.ip("link del vxlan4", "link del vxlan6")


@pytest.fixture(scope="module")
def udp_servers(whole_lab):
    servers = udp.UdpServers()
    for backend in whole_lab.backends.values():
        servers.add(backend.namespace, backend.name, VIP, UDP_PORT)
        servers.add(backend.namespace, backend.name, VIP6, UDP_PORT)
    yield servers
    servers.stop()


@pytest.mark.parametrize("address", [VIP, VIP6, APPLIANCE, APPLIANCE6])
@pytest.mark.parametrize("size", [0, 56, 1400])
def test_ping_is_answered(lab, zonelb, address, size):
    zonelb(web_flags(vip=VIP6 if ":" in address else VIP))
    version = "-6" if ":" in address else "-4"
    lab.clients["a"].namespace.run("ping", version, "-c", 5, "-i", 0.05, "-W", 2, "-s", size, address)


def test_ping_to_a_backend_is_not_the_appliances_business(lab, zonelb):
    zonelb(web_flags())
    place = PRIMARIES[0]
    lab.clients["a"].namespace.run("ping", "-c", 2, "-i", 0.05, "-W", 2, place.address)


@pytest.mark.parametrize("address", [VIP, VIP6])
@pytest.mark.parametrize("forwarding,ipv6_backends", [("L2_DSR", None), ("VXLAN", False), ("VXLAN", True),
                                                      ("IPIP", False), ("IPIP", True)])
def test_real_tcp_through_every_way_of_forwarding(tunnelled, lab, zonelb, forwarding, ipv6_backends, address):
    zonelb(web_flags(vip=address, forwarding=forwarding, ipv6_backends=ipv6_backends,
                     zonal_affinity="STAY_WITHIN_ZONE"))
    for zone, client in lab.clients.items():
        seen = tally(client, 60, address=address)
        assert set(seen) == {f"{zone}1", f"{zone}2"}, seen


@pytest.mark.parametrize("address", [VIP, VIP6])
@pytest.mark.parametrize("forwarding", ["L2_DSR", "VXLAN", "IPIP"])
def test_udp_through_every_way_of_forwarding(tunnelled, udp_servers, lab, zonelb, forwarding, address):
    flags = (base_flags() + probe_flags()
             + Flags().backend_service(name="dns", health_check="hc", zonal_affinity="STAY_WITHIN_ZONE",
                                       forwarding=forwarding)
             + backend_flags("dns", ipv6=":" in address and forwarding == "L2_DSR")
             + rule_flags("dns", "UDP", [UDP_PORT], [address]))
    zonelb(flags)
    for zone, client in lab.clients.items():
        seen = {udp.ask(client.namespace, address, UDP_PORT, tries=3) for _ in range(40)}
        assert seen == {f"{zone}1", f"{zone}2"}


def test_tcp_and_udp_services_at_one_address(udp_servers, lab, zonelb):
    service = dict(health_check="hc", zonal_affinity="STAY_WITHIN_ZONE")
    flags = (base_flags() + probe_flags()
             + Flags().backend_service(name="web", **service).backend_service(name="dns", **service)
             + backend_flags(["web", "dns"])
             + rule_flags("web", "TCP", [80], [VIP]) + rule_flags("dns", "UDP", [UDP_PORT], [VIP]))
    appliance = zonelb(flags)
    client = lab.clients["b"]
    assert set(tally(client, 30)) == {"b1", "b2"}
    assert udp.ask(client.namespace, VIP, UDP_PORT) in {"b1", "b2"}
    assert udp.ask(client.namespace, VIP, UDP_PORT + 1, timeout=0.3) is None
    assert appliance.metrics().drops().get("no_rule", 0) >= 1


@pytest.mark.parametrize("direction", [(), ("-R",)], ids=["upload", "download"])
@pytest.mark.parametrize("address", [VIP, VIP6])
def test_iperf(lab, zonelb, address, direction):
    zonelb(web_flags(vip=address, session_affinity="CLIENT_IP", zonal_affinity="STAY_WITHIN_ZONE"))
    with iperf.servers(lab, "c1", "c2"):
        assert iperf.received(iperf.measure(lab.clients["c"], address, 2, *direction)) > 20e6


@pytest.mark.parametrize("address", [VIP, VIP6])
def test_an_upload_through_a_tunnel_learns_the_path_mtu(tunnelled, lab, zonelb, address):
    """Client, router and zonelb all have an MTU of 1500: a full segment does not fit the tunnel."""
    appliance = zonelb(web_flags(vip=address, session_affinity="CLIENT_IP", zonal_affinity="STAY_WITHIN_ZONE",
                                 forwarding="VXLAN"))
    client = lab.clients["c"]
    with iperf.servers(lab, "c1", "c2"):
        try:
            assert iperf.received(iperf.measure(client, address, 2)) > 5e6
        finally:
            client.namespace.run("ip", "-6" if ":" in address else "-4", "route", "flush", "cache")
    assert appliance.metrics().drops()["too_big"] > 0


def test_both_families_behind_one_service(lab, zonelb):
    zonelb(dual_stack_flags(probe_flags(), zonal_affinity="STAY_WITHIN_ZONE"))
    for address in (VIP, VIP6):
        assert set(tally(lab.clients["b"], 40, address=address)) == {"b1", "b2"}


def test_clients_of_every_zone_at_once(lab, zonelb):
    appliance = zonelb(web_flags(zonal_affinity="SPILL_CROSS_ZONE"))
    for zone in ZONES:
        assert set(tally(lab.clients[zone], 40)) == {f"{zone}1", f"{zone}2"}
    metrics = appliance.metrics()
    for zone in ZONES:
        made = metrics.by("zonelb_new_connections_total", "backend", client_zone=f"zone-{zone}", choice="local")
        assert set(made) == {f"{zone}1", f"{zone}2"} and sum(made.values()) >= 40
