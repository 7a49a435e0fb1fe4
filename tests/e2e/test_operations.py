"""What an operator types and a monitoring system reads."""

import json
import os
import subprocess

import pytest

from lab import udp
from lab.appliance import HTTP_PORT, binary
from lab.clients import tally
from lab.metrics import http_get
from lab.namespace import CommandFailed
from lab.setup_flags import web_flags
from lab.topology import PRIMARIES, VIP
from lab.waiting import wait_for


def test_status_names_services_backends_and_their_health(lab, zonelb):
    appliance = zonelb(web_flags(zonal_affinity="SPILL_CROSS_ZONE"))
    lab.backends["b1"].nginx.unhealthy()
    appliance.wait_health(b1=False)
    assert "web" in appliance.control("status")
    services = appliance.control("services")
    assert all(place.name in services for place in PRIMARIES)
    for word in ("status", "services"):
        assert "web" in json.dumps(json.loads(appliance.control(word, "--json")))


def test_drops_tell_the_reason(lab, zonelb):
    appliance = zonelb(web_flags())
    assert udp.ask(lab.clients["a"].namespace, VIP, 9, timeout=0.2) is None
    assert "no_rule" in appliance.control("drops")
    assert "no_rule" in json.dumps(json.loads(appliance.control("drops", "--json")))


def test_reload_by_command(lab, zonelb):
    appliance = zonelb(web_flags(zonal_affinity="STAY_WITHIN_ZONE"))
    web_flags(zonal_affinity="DISABLED").write(appliance.flag_file)
    appliance.control("reload")
    wait_for(lambda: set(tally(lab.clients["a"], 100)) == {place.name for place in PRIMARIES}, "spread over all zones")


def test_a_wrong_reload_by_command_says_what_is_wrong(lab, zonelb):
    appliance = zonelb(web_flags())
    web_flags(spillover_ratio=7).write(appliance.flag_file)
    with pytest.raises(CommandFailed, match="spillover-ratio"):
        appliance.control("reload")


def test_drain_of_an_unknown_backend_is_refused(lab, zonelb):
    with pytest.raises(CommandFailed, match="nobody"):
        zonelb(web_flags()).control("drain", "nobody")


def test_health_and_ready_pages(lab, zonelb):
    appliance = zonelb(web_flags())
    assert appliance.status_code("/healthz") == 200
    assert appliance.status_code("/readyz") == 200
    assert appliance.status_code("/nothing-here") == 404


def test_metrics_are_what_prometheus_reads(lab, zonelb):
    appliance = zonelb(web_flags())
    assert set(tally(lab.clients["a"], 20))
    status, text = http_get(lab.appliance, HTTP_PORT, "/metrics")
    assert status == 200
    helped, typed = set(), set()
    for line in text.splitlines():
        if line.startswith("# HELP"):
            helped.add(line.split()[2])
        elif line.startswith("# TYPE"):
            typed.add(line.split()[2])
    assert helped == typed
    for name in ("zonelb_packets_total", "zonelb_bytes_total", "zonelb_connections", "zonelb_new_connections_total",
                 "zonelb_drops_total", "zonelb_backend_healthy", "zonelb_active_pool", "zonelb_failovers_total",
                 "zonelb_probe_duration_seconds", "zonelb_worker_busy_ratio", "zonelb_connection_table_entries",
                 "zonelb_connection_table_capacity", "zonelb_snapshot_generation"):
        assert name in typed
    metrics = appliance.metrics()
    # Not exactly: an earlier test's connections may still send a last segment, which begins one here.
    assert metrics.sum("zonelb_new_connections_total") >= 20
    assert metrics.sum("zonelb_connections", service="web") == metrics.sum("zonelb_connection_table_entries") >= 20


def test_zonelbctl_without_an_appliance_says_so():
    done = subprocess.run([binary("zonelbctl"), "status", "--control-socket", "/tmp/nobody-listens.sock"], text=True,
                          capture_output=True)
    assert done.returncode != 0 and "/tmp/nobody-listens.sock" in done.stderr


def test_the_control_socket_goes_with_the_process(lab, zonelb):
    appliance = zonelb(web_flags())
    assert os.path.exists(appliance.control_socket)
    assert appliance.process.stop() == 0
    assert not os.path.exists(appliance.control_socket)
