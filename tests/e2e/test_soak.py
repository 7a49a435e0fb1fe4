"""Connections come and go for a while, with reloads, flips, drains and curious operators: nothing is lost, nothing
piles up."""

import itertools
import time

import pytest

from lab import usage
from lab.clients import Background, tally
from lab.setup_flags import web_flags
from lab.topology import PRIMARIES, ZONES
from lab.waiting import wait_for

RATE = 40  # connections a second and zone
MOST_GROWTH = 4 << 20  # bytes
FIN_TIMEOUT = 60  # seconds: semantics of a connection that the client has closed
# Broadcasts and flooded frames of the test network; not one packet of a connection.
EXPECTED_DROPS = {"not_ours"}


def flags(places=PRIMARIES, **service):
    return web_flags(places=places, zonal_affinity="SPILL_CROSS_ZONE", idle_timeout="5s", **service)


def without(name):
    return [place for place in PRIMARIES if place.name != name]


def happenings(lab, appliance):
    """One after another, for ever; each leaves things as they were."""
    def flip(name):
        for healthy in (False, True):
            lab.backends[name].nginx.healthy(healthy)
            appliance.wait_health(**{name: healthy})

    def remove_and_add(name):
        appliance.reload(flags(without(name)))
        appliance.reload(flags())
        appliance.wait_health(**{name: True})

    def drain(name):
        appliance.control("drain", name)
        appliance.wait_health(**{name: False})
        appliance.control("undrain", name)
        appliance.wait_health(**{name: True})

    def ask(name):
        for words in (["status"], ["services", "--json"], ["drops"], ["connections", "--backend", name]):
            appliance.control(*words)
        appliance.explain("web-v4", "10.1.0.5:40000")

    def other_timeout(name):
        appliance.reload(flags(connection_draining_timeout=f"{200 + ord(name[0])}s"))
        appliance.reload(flags())

    for place in itertools.cycle(PRIMARIES):
        for event in (flip, remove_and_add, drain, ask, other_timeout):
            event(place.name)
            yield


def live_through(end, events):
    return sum(1 for _ in itertools.takewhile(lambda _: time.monotonic() < end, events))


@pytest.mark.parametrize("seconds", [10, pytest.param(240, marks=pytest.mark.long)])
def test_nothing_is_lost_and_nothing_piles_up(lab, zonelb, seconds):
    appliance = zonelb(flags())
    pid = appliance.process.pid
    assert tally(lab.clients["a"], 50)
    files, threads = usage.open_files(pid), usage.threads(pid)
    # Segments that an earlier test's connections still sent while this appliance started.
    at_start = appliance.metrics().drops()

    begin = time.monotonic()
    clients = [Background(client.namespace, RATE * seconds, rate=RATE, concurrency=400, requests=2, pause=0.5,
                          sources=[client.source(n) for n in range(1, 101)]) for client in lab.clients.values()]
    events = happenings(lab, appliance)
    number = live_through(begin + seconds / 2, events)
    middle = usage.resident_bytes(pid)
    number += live_through(begin + seconds, events)
    seen = [visit for client in clients for visit in client.result(timeout=seconds + 60)]
    growth = usage.resident_bytes(pid) - middle
    drops = {reason: count - at_start.get(reason, 0) for reason, count in appliance.metrics().drops().items()
             if count > at_start.get(reason, 0)}
    print(f"{len(seen)} connections, {number} events; memory {middle >> 20} MB and {growth >> 10} kB; drops {drops}")

    assert len(seen) == len(ZONES) * RATE * seconds
    assert [visit for visit in seen if visit.error] == []
    assert [visit for visit in seen if len(set(visit.answers)) != 1] == [], "one connection, one backend"
    assert set(drops) <= EXPECTED_DROPS
    assert growth < MOST_GROWTH
    assert usage.threads(pid) == threads
    wait_for(lambda: usage.open_files(pid) <= files, lambda: f"{usage.open_files(pid)} files open, {files} before")
    if seconds > FIN_TIMEOUT:
        wait_for(lambda: appliance.metrics().one("zonelb_connection_table_entries") == 0, "an empty table",
                 timeout=FIN_TIMEOUT + 30, interval=1)
        assert appliance.metrics().sum("zonelb_connections") == 0
    assert appliance.metrics().sum("zonelb_new_connections_total") >= len(seen)
