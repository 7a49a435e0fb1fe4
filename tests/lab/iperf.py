"""iperf3 through zonelb. A service needs session-affinity=CLIENT_IP: control and data connections are two."""

import json
from contextlib import contextmanager

from .process import Process
from .waiting import wait_for

PORT = 5201


@contextmanager
def servers(lab, *names):
    """One on each of the backends; each serves one client."""
    running = {name: Process(lab.backends[name].namespace.command("iperf3", "-s", "-1"), f"{lab.folder}/iperf-{name}")
               for name in names}
    try:
        for name in running:
            wait_for(lambda: str(PORT) in lab.backends[name].namespace.run("ss", "-ltn"),
                     f"iperf3 listening on {name}")
        yield
    finally:
        for server in running.values():
            server.stop()


def measure(client, address, seconds, *words):
    """iperf3's report of two connections at once."""
    return json.loads(client.namespace.run("iperf3", "-c", address, "-t", seconds, "-P", 2, "-J", *words,
                                           timeout=seconds + 30))


def received(report):
    """Bits a second that arrived."""
    return report["end"]["sum_received"]["bits_per_second"]


def each_second(report):
    """Bits a second, second by second, as the client saw them."""
    return [interval["sum"]["bits_per_second"] for interval in report["intervals"]]
