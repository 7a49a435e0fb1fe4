"""Workers, ports and a machine that cannot do what is asked."""

import os
import socket

import pytest

from lab.appliance import HTTP_PORT, Appliance
from lab.clients import Background, tally
from lab.process import Process
from lab.setup_flags import EAL, web_flags
from lab.topology import DATA_DEVICE

FOUR_WORKERS = (f"--no-huge --no-shconf --no-pci --no-telemetry -m 512 --lcores '0@0,1@0,2@1,3@0,4@1' "
                f"--vdev=net_af_packet0,iface={DATA_DEVICE}")


@pytest.mark.parametrize("queues", [1, 4])
def test_four_workers_share_a_port_and_the_table(lab, zonelb, queues):
    """Connections last over two flips; a worker that decided alone would move them."""
    appliance = zonelb(web_flags(zonal_affinity="SPILL_CROSS_ZONE").workers(4),
                       eal=FOUR_WORKERS + f",qpairs={queues}")
    client = lab.clients["a"]
    background = Background(client.namespace, 100, requests=4, pause=0.5, concurrency=100)
    for healthy in (False, True):
        lab.backends["a1"].nginx.healthy(healthy)
        appliance.wait_health(a1=healthy)
    seen = background.result()
    assert [visit for visit in seen if visit.error or len(set(visit.answers)) != 1] == []
    assert set(tally(client, 60)) == {"a1", "a2"}


def refused(lab, flags, eal, environment=None):
    """Starts what cannot start; its exit code and what it said."""
    appliance = Appliance(lab.appliance, flags, eal)
    process = Process(appliance.command(), appliance.log, environment)
    try:
        return process.wait(30), process.output()
    finally:
        process.stop()


def test_a_missing_interface(lab):
    code, said = refused(lab, web_flags(), EAL.replace(DATA_DEVICE, "missing0"))
    assert code == 3, said
    assert "ip link" in said or "missing0" in said


def test_a_missing_port(lab):
    code, said = refused(lab, web_flags(), EAL.split(" --vdev")[0])
    assert code == 3, said
    assert "--vdev" in said, "the flag that mends it"


def test_too_little_memory(lab):
    code, said = refused(lab, web_flags(), EAL.replace("-m 512", "-m 16"))
    assert code == 3, said
    assert "-m " in said or "hugepages" in said


def test_no_hugepages(lab):
    with open("/proc/sys/vm/nr_hugepages") as file:
        if file.read().strip() != "0":
            pytest.skip("this machine has hugepages reserved")
    code, said = refused(lab, web_flags(), EAL.replace("--no-huge ", ""))
    assert code == 3, said
    assert "nr_hugepages" in said or "--no-huge" in said


def test_a_taken_control_socket(lab, zonelb):
    running = zonelb(web_flags())
    second = Appliance(lab.appliance, web_flags(), EAL)
    second.control_socket = running.control_socket
    process = Process(second.command(), second.log)
    assert process.wait(30) == 3, process.output()
    assert running.control_socket in process.output()
    assert set(tally(lab.clients["a"], 10))


def test_a_control_socket_left_by_a_killed_zonelb_is_taken_over(lab, zonelb):
    first = zonelb(web_flags())
    first.process.kill()
    assert os.path.exists(first.control_socket)
    first.start().ready()
    assert "web" in first.control("status")


def test_a_taken_metrics_port(lab):
    with lab.appliance.socket(socket.AF_INET, socket.SOCK_STREAM) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", HTTP_PORT))
        taken.listen()
        code, said = refused(lab, web_flags(), EAL)
    assert code == 3, said
    assert str(HTTP_PORT) in said
