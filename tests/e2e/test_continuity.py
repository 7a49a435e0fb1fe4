"""What is established goes on: through flips, reloads, failovers, and a restart of zonelb itself."""

import signal
import threading
import time

import pytest

from lab.clients import Background, Download, endpoint, tally, visits
from lab.setup_flags import web_flags
from lab.topology import FAILOVERS, PRIMARIES, VIP, VIP6
from lab.waiting import wait_for

PRIMARY = [place.name for place in PRIMARIES]
FAILOVER = [place.name for place in FAILOVERS]
FLIPS = RELOADS = 20
CONNECTIONS = 2000


def flip(lab, appliance, **healthy):
    for name, state in healthy.items():
        lab.backends[name].nginx.healthy(state)
    appliance.wait_health(**healthy)


@pytest.mark.parametrize("address", [VIP, VIP6])
def test_a_download_runs_through_every_event_without_a_stall(lab, zonelb, address):
    keys = dict(vip=address, zonal_affinity="SPILL_CROSS_ZONE", spillover_ratio=0.6, failover_ratio=0.5)
    appliance = zonelb(web_flags(**keys))
    client = lab.clients["a"]
    download = Download(client, address=address)
    assert download.server in {"a1", "a2"}
    other = {"a1": "a2", "a2": "a1"}[download.server]

    def events():
        yield "another backend of the zone down: the zone spills", lambda: flip(lab, appliance, **{other: False})
        yield "its own backend down: DEFAULT_FOR_PROTOCOL keeps it", \
            lambda: flip(lab, appliance, **{download.server: False})
        yield "below the failover ratio", lambda: flip(lab, appliance, b1=False, b2=False)
        yield "failback", lambda: flip(lab, appliance, b1=True, b2=True)
        yield "last resort", lambda: flip(lab, appliance, **{name: False for name in PRIMARY + FAILOVER})
        yield "drop-traffic-if-unhealthy", \
            lambda: appliance.reload(web_flags(drop_traffic_if_unhealthy=True, **keys))
        yield "all back", lambda: flip(lab, appliance, **{name: True for name in PRIMARY + FAILOVER})
        yield "another affinity by reload", \
            lambda: appliance.reload(web_flags(session_affinity="CLIENT_IP", **keys))
        yield "its backend drains", \
            lambda: appliance.reload(web_flags(drained=(download.server,), **keys))

    for what, make_it_happen in events():
        before = download.received
        make_it_happen()
        seen = download.received
        wait_for(lambda: download.received > seen + 500_000, f"data after: {what}", timeout=5)
        assert not download.error, what
        assert download.longest_gap < 1.0, f"{what}: {download.longest_gap:.2f} s without data"
        assert download.received > before
    download.stop()
    assert not download.error and download.longest_gap < 1.0


def test_connections_during_reloads_and_flips(lab, zonelb):
    """2,000 connections of two requests while a1's probe flips 20 times and the flags reload 20 times: none fails,
    none changes its backend, none reaches a backend that was out of the set during all of its beginning."""
    appliance = zonelb(web_flags(zonal_affinity="SPILL_CROSS_ZONE"))
    client = lab.clients["a"]
    running = threading.Event()
    background = Background(client.namespace, CONNECTIONS, rate=100, concurrency=400, requests=2, pause=0.7,
                            sources=[client.source(n) for n in range(1, 101)])
    down = []  # intervals in which zonelb said that a1 was unhealthy
    for number in range(FLIPS):
        healthy = number % 2 == 1
        if healthy:
            down[-1].append(time.monotonic())
        flip(lab, appliance, a1=healthy)
        if not healthy:
            down.append([time.monotonic()])
        before = time.monotonic()
        appliance.reload(web_flags(zonal_affinity="SPILL_CROSS_ZONE", idle_timeout="600s",
                                   connection_draining_timeout=f"{300 + number}s"))
        assert appliance.metrics().sum("zonelb_backend_healthy", backend="a1") == float(healthy), "a reload keeps health"
        running.wait(max(0.0, 0.8 - (time.monotonic() - before)))
    seen = background.result()
    assert len(seen) == CONNECTIONS
    assert [visit for visit in seen if visit.error] == []
    assert [visit for visit in seen if len(set(visit.answers)) != 1] == [], "one connection, one backend"
    assert {visit.answers[0] for visit in seen} == {"a1", "a2"}
    wrong = [visit for visit in seen if visit.answers[0] == "a1"
             and any(begin < visit.started and visit.started < end for begin, end in down)]
    assert wrong == []
    assert appliance.metrics().drops().get("no_backend", 0) == 0


def test_failover_without_drain_ends_connections_and_with_drain_keeps_them(lab, zonelb):
    keys = dict(failover_ratio=0.5)
    client = lab.clients["a"]

    def survives(drain):
        lab.all_healthy()
        appliance = zonelb(web_flags(connection_drain_on_failover=drain, **keys))
        appliance.wait_health(**{name: True for name in PRIMARY})
        download = Download(client)
        down = [name for name in PRIMARY if name != download.server][:4]
        flip(lab, appliance, **{name: False for name in down})
        assert set(tally(client, 30)) == set(FAILOVER)
        seen = download.received
        try:
            wait_for(lambda: download.error or download.received > seen + 1_000_000, "data or an end", timeout=5)
            return not download.error
        finally:
            download.stop()
            appliance.process.stop()
    # Without drain the next segment reaches a failover backend, which answers it with RST.
    assert [survives(drain=True), survives(drain=False)] == [True, False]


def test_a_drained_backend_gets_no_new_connection_and_keeps_its_own_until_the_drain_ends(lab, zonelb):
    keys = dict(zonal_affinity="STAY_WITHIN_ZONE", connection_draining_timeout="2s")
    appliance = zonelb(web_flags(**keys))
    client = lab.clients["a"]
    download = Download(client)
    other = {"a1": "a2", "a2": "a1"}[download.server]
    appliance.control("drain", download.server)
    begin = time.monotonic()
    wait_for(lambda: set(tally(client, 20)) == {other}, "no new connections", timeout=2)
    assert not download.error
    wait_for(lambda: download.error, "the drain ends the download", timeout=8)
    assert 1.5 < time.monotonic() - begin
    appliance.control("undrain", download.server)
    wait_for(lambda: set(tally(client, 40)) == {"a1", "a2"}, "it serves again")


@pytest.mark.parametrize("address", [VIP, VIP6])
def test_kill_and_restart_keeps_established_connections(lab, zonelb, address):
    flags = web_flags(vip=address, zonal_affinity="SPILL_CROSS_ZONE")
    appliance = zonelb(flags)
    client = lab.clients["a"]
    downloads = [Download(client, address=address, rate=500_000) for _ in range(8)]
    assert {download.server for download in downloads} == {"a1", "a2"}
    before = visits(client.namespace, 50, address=address)
    appliance.process.kill()
    appliance.start()
    wait_for(lambda: appliance.status_code("/healthz"), "EAL is up", timeout=20)
    up = time.monotonic()
    received = [download.received for download in downloads]
    wait_for(lambda: all(download.received > seen for download, seen in zip(downloads, received)),
             "all downloads go on", timeout=4)
    assert time.monotonic() - up < 2.0
    assert set(tally(client, 30, address=address)) == {"a1", "a2"}
    rule = "web-v6" if ":" in address else "web-v4"
    for visit in before:
        assert [appliance.explain(rule, endpoint(*visit.source))["selected"]] == visit.answers
    assert [download.stop().error for download in downloads] == [""] * 8


def test_a_reload_that_does_not_validate_changes_nothing(lab, zonelb):
    appliance = zonelb(web_flags(zonal_affinity="STAY_WITHIN_ZONE"))
    wait_for(lambda: appliance.metrics().one("zonelb_neighbours_unresolved") == 0, "all next hops known")
    generation = appliance.metrics().one("zonelb_snapshot_generation")
    for wrong in (web_flags(spillover_ratio=7), web_flags().workers(3), web_flags().backend(name="lost")):
        wrong.write(appliance.flag_file)
        said = len(appliance.output())
        appliance.process.signal(signal.SIGHUP)
        wait_for(lambda: len(appliance.output()) > said, "it says why")
    assert appliance.metrics().one("zonelb_snapshot_generation") == generation
    assert set(tally(lab.clients["a"], 30)) == {"a1", "a2"}


def test_a_reload_adds_and_removes_backends(lab, zonelb):
    keys = dict(zonal_affinity="STAY_WITHIN_ZONE")
    without_a2 = [place for place in PRIMARIES if place.name != "a2"]
    appliance = zonelb(web_flags(places=without_a2, **keys))
    client = lab.clients["a"]
    assert set(tally(client, 30)) == {"a1"}
    download = Download(client)
    appliance.reload(web_flags(places=PRIMARIES, **keys))
    appliance.wait_health(a2=True)
    assert set(tally(client, 40)) == {"a1", "a2"}
    appliance.reload(web_flags(places=[place for place in PRIMARIES if place.name != "a1"], **keys))
    assert set(tally(client, 30)) == {"a2"}
    seen = download.received
    wait_for(lambda: download.received > seen + 500_000, "a removed backend's connection drains", timeout=5)
    assert download.stop().error == ""


def test_a_backend_that_stops_serving_is_left_within_its_threshold(lab, zonelb):
    """The server dies, not its health page alone."""
    appliance = zonelb(web_flags(zonal_affinity="SPILL_CROSS_ZONE"))
    nginx = lab.backends["a1"].nginx
    nginx.stop()
    try:
        appliance.wait_health(a1=False)
        assert set(tally(lab.clients["a"], 40)) == {"a2"}
    finally:
        nginx.start()
        nginx.wait_listening()
    appliance.wait_health(a1=True)
    assert set(tally(lab.clients["a"], 40)) == {"a1", "a2"}
