"""Pools: primary, failover, last resort, dropped (semantics.md, section 1)."""

from lab.clients import tally
from lab.setup_flags import web_flags
from lab.topology import FAILOVERS, PRIMARIES

PRIMARY = {place.name for place in PRIMARIES}
FAILOVER = {place.name for place in FAILOVERS}


def flip(lab, appliance, **healthy):
    for name, state in healthy.items():
        lab.backends[name].nginx.healthy(state)
    appliance.wait_health(**healthy)


def test_failover_and_failback_at_and_just_below_the_ratio(lab, zonelb):
    """Three of six is exactly 0.5."""
    appliance = zonelb(web_flags(failover_ratio=0.5))
    client = lab.clients["a"]
    flip(lab, appliance, a1=False, b1=False, c1=False)
    assert set(tally(client, 120)) == {"a2", "b2", "c2"}
    flip(lab, appliance, b2=False)
    assert set(tally(client, 60)) == FAILOVER
    assert appliance.metrics().one("zonelb_active_pool", service="web", pool="failover") == 1
    flip(lab, appliance, b2=True)
    assert set(tally(client, 120)) == {"a2", "b2", "c2"}
    assert appliance.metrics().one("zonelb_active_pool", service="web", pool="primary") == 1
    assert appliance.metrics().one("zonelb_failovers_total") == 2


def test_ratio_zero_fails_over_with_the_last_primary(lab, zonelb):
    appliance = zonelb(web_flags())
    flip(lab, appliance, a1=False, a2=False, b1=False, b2=False, c1=False)
    assert set(tally(lab.clients["a"], 40)) == {"c2"}
    flip(lab, appliance, c2=False)
    assert set(tally(lab.clients["a"], 60)) == FAILOVER


def test_failover_backends_of_the_clients_zone_come_first(lab, zonelb):
    appliance = zonelb(web_flags(zonal_affinity="STAY_WITHIN_ZONE"))
    flip(lab, appliance, **{name: False for name in PRIMARY})
    assert set(tally(lab.clients["a"], 40)) == {"f1"}
    assert set(tally(lab.clients["b"], 40)) == {"f2"}
    assert set(tally(lab.clients["c"], 60)) == FAILOVER, "no failover backend in zone c: no match, all of them"


def test_last_resort_is_all_primaries(lab, zonelb):
    appliance = zonelb(web_flags(failover_ratio=0.5))
    flip(lab, appliance, **{name: False for name in PRIMARY | FAILOVER})
    assert set(tally(lab.clients["a"], 200)) == PRIMARY
    assert appliance.metrics().one("zonelb_active_pool", service="web", pool="last_resort") == 1


def test_last_resort_stays_in_the_zone(lab, zonelb):
    appliance = zonelb(web_flags(zonal_affinity="SPILL_CROSS_ZONE", spillover_ratio=1.0))
    flip(lab, appliance, **{name: False for name in PRIMARY | FAILOVER})
    assert set(tally(lab.clients["b"], 60)) == {"b1", "b2"}


def test_drop_traffic_if_unhealthy(lab, zonelb):
    appliance = zonelb(web_flags(drop_traffic_if_unhealthy=True))
    client = lab.clients["a"]
    assert set(tally(client, 100)) == PRIMARY
    flip(lab, appliance, **{name: False for name in PRIMARY | FAILOVER})
    refused = tally(client, 10, timeout=0.5)
    assert all("Timeout" in answer for answer in refused), refused
    assert appliance.metrics().drops()["no_backend"] >= 10
    flip(lab, appliance, a1=True)
    assert set(tally(client, 30)) == {"a1"}
