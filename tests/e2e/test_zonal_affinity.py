"""Connections stay in their client's zone, and leave it when the flags say so (semantics.md, section 2)."""

from collections import Counter

import pytest

from lab.clients import endpoint, tally, visits
from lab.setup_flags import web_flags
from lab.topology import PRIMARIES, VIP, VIP6, ZONES

ALL = {place.name for place in PRIMARIES}


def by_source(client, address, sources, each):
    """Which backends answered each source address, with `each` connections from different ports."""
    ipv6 = ":" in address
    seen = {}
    for visit in visits(client.namespace, sources * each, address=address,
                        sources=[client.source(n, ipv6) for n in range(1, sources + 1)]):
        assert not visit.error, visit
        seen.setdefault(visit.source[0], Counter())[visit.answers[0]] += 1
    assert len(seen) == sources
    return seen


@pytest.mark.parametrize("address", [VIP, VIP6])
@pytest.mark.parametrize("affinity", ["NONE", "CLIENT_IP_PORT_PROTO", "CLIENT_IP_PROTO", "CLIENT_IP",
                                      "CLIENT_IP_NO_DESTINATION"])
def test_every_session_affinity_stays_in_the_zone(lab, zonelb, affinity, address):
    zonelb(web_flags(vip=address, session_affinity=affinity, zonal_affinity="SPILL_CROSS_ZONE"))
    for zone in ZONES:
        seen = by_source(lab.clients[zone], address, sources=16, each=8)
        assert set().union(*seen.values()) == {f"{zone}1", f"{zone}2"}
        backends_of_a_source = {len(backends) for backends in seen.values()}
        if affinity in ("NONE", "CLIENT_IP_PORT_PROTO"):
            assert 2 in backends_of_a_source, "ports of one address must spread"
        else:
            assert backends_of_a_source == {1}, "an address must keep its backend"


def test_without_zonal_affinity_every_zone_serves(lab, zonelb):
    zonelb(web_flags(zonal_affinity="DISABLED"))
    assert set(tally(lab.clients["a"], 200)) == ALL


def test_spill_at_and_just_below_the_ratio(lab, zonelb):
    """One of two is exactly 0.5."""
    appliance = zonelb(web_flags(zonal_affinity="SPILL_CROSS_ZONE", spillover_ratio=0.5))
    client = lab.clients["a"]
    lab.backends["a1"].nginx.unhealthy()
    appliance.wait_health(a1=False)
    assert set(tally(client, 60)) == {"a2"}

    appliance.reload(web_flags(zonal_affinity="SPILL_CROSS_ZONE", spillover_ratio=0.51))
    appliance.wait_health(a1=False, a2=True)
    seen = tally(client, 300)
    assert set(seen) == ALL - {"a1"}, "below the ratio all healthy backends serve, the zone's own too"
    assert set(tally(lab.clients["b"], 60)) == {"b1", "b2"}, "other zones are not concerned"

    lab.backends["a1"].nginx.healthy()
    appliance.wait_health(a1=True)
    assert set(tally(client, 60)) == {"a1", "a2"}


def test_spill_ratio_zero_leaves_only_an_empty_zone(lab, zonelb):
    appliance = zonelb(web_flags(zonal_affinity="SPILL_CROSS_ZONE"))
    lab.backends["a1"].nginx.unhealthy()
    appliance.wait_health(a1=False)
    assert set(tally(lab.clients["a"], 60)) == {"a2"}
    lab.backends["a2"].nginx.unhealthy()
    appliance.wait_health(a2=False)
    assert set(tally(lab.clients["a"], 300)) == ALL - {"a1", "a2"}


def test_stay_within_zone_prefers_an_unhealthy_backend_at_home(lab, zonelb):
    appliance = zonelb(web_flags(zonal_affinity="STAY_WITHIN_ZONE"))
    for name in ("a1", "a2"):
        lab.backends[name].nginx.unhealthy()
    appliance.wait_health(a1=False, a2=False)
    assert set(tally(lab.clients["a"], 60)) == {"a1", "a2"}


def test_a_client_of_no_zone_is_spread_over_all(lab, zonelb):
    flags = web_flags(zonal_affinity="STAY_WITHIN_ZONE")
    flags.lines = [line.replace("10.3.0.0/16", "10.33.0.0/16") for line in flags.lines]
    zonelb(flags)
    assert set(tally(lab.clients["c"], 300)) == ALL
    assert set(tally(lab.clients["a"], 60)) == {"a1", "a2"}


def test_live_explain_equals_offline_explain(lab, zonelb):
    from lab.appliance import explain_cases
    appliance = zonelb(web_flags(zonal_affinity="SPILL_CROSS_ZONE", spillover_ratio=0.6))
    down = ("a1", "b1", "b2")
    for name in down:
        lab.backends[name].nginx.unhealthy()
    appliance.wait_health(a1=False, a2=True, b1=False, b2=False)
    clients = [f"10.{zone}.0.5:{port}" for zone in (1, 2, 3, 7) for port in (40000, 40001)]
    cases = [{"rule": "web-v4", "client": client, "unhealthy": list(down)} for client in clients]
    live = [appliance.explain("web-v4", client) for client in clients]
    assert live == explain_cases(appliance.flag_file, cases)


def test_explain_tells_where_a_connection_really_goes(lab, zonelb):
    appliance = zonelb(web_flags(zonal_affinity="SPILL_CROSS_ZONE"))
    for zone, client in lab.clients.items():
        for visit in visits(client.namespace, 20, source_ports=range(20001, 20021)):
            assert [appliance.explain("web-v4", endpoint(*visit.source))["selected"]] == visit.answers
