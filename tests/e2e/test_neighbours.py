"""Neighbours are asked again, by unicast, after their reachable time (30 s); who answers stays known. An IPv6 host
need not repeat its link-layer address in such an answer (RFC 4861 7.2.4), and Linux does not."""

import time

import pytest

from lab.setup_flags import web_flags
from lab.topology import VIP, VIP6
from lab.waiting import wait_for

REFRESHED = 36  # seconds: the reachable time, three questions by unicast, one to all


@pytest.mark.long
@pytest.mark.parametrize("address", [VIP, VIP6])
def test_a_neighbour_that_answers_stays_known(lab, zonelb, address):
    appliance = zonelb(web_flags(vip=address))
    end = time.monotonic() + REFRESHED
    wait_for(lambda: time.monotonic() > end or "no longer answers" in appliance.output(), "the end",
             timeout=REFRESHED + 5)
    assert "no longer answers" not in appliance.output()
    assert appliance.metrics().one("zonelb_neighbours_unresolved") == 0
    assert appliance.metrics().drops().get("neighbour_unresolved", 0) == 0
