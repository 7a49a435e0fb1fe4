"""The process at the other end of a memif port is killed while packets go both ways. zonelb goes on with the next one,
or DPDK's driver takes it down (pmd-config/memif.flags says how); then it goes on when it is started again, as a
supervisor would, and every connection has the backend it had."""

import shutil
import signal

import pytest

from lab.appliance import Appliance
from lab.flags import Flags
from lab.process import Process
from lab.waiting import wait_for

from packets import frames as f
from packets.pcap import write_pcap
from packets.run import EAL, PORT, port_flags, received, service_flags

MEMIF = "net_memif0"
TESTPMD = "dpdk-testpmd"
CONNECTIONS, BACKENDS = 500, 4
CASES = [("server", 3), ("client", 2), pytest.param("server", 60, marks=pytest.mark.long)]


class Peer:
    """testpmd: a file over and over into memif, and what comes back out of it."""

    def __init__(self, run, role, number):
        words = [*run.namespace.command(TESTPMD), *EAL.split(), "--lcores", "0@1,1@1",
                 f"--vdev={PORT},rx_pcap={run.folder}/in.pcap,infinite_rx=1", f"--vdev={memif(run, role)}",
                 "--", "--forward-mode=io", "--nb-cores=1", "--total-num-mbufs=8192", "--disable-link-check",
                 "--stats-period=60"]
        self.process = Process(words, f"{run.folder}/peer-{number}.log")

    def wait_started(self):
        wait_for(lambda: "start packet forwarding" in self.process.output(),
                 lambda: f"testpmd forwards\n{self.process.output()}", timeout=30)
        return self


def memif(run, role):
    # An abstract socket: a file would outlive a killed server and be in the way of the next.
    return f"{MEMIF},role={role},id=0,socket={run.folder}/memif.sock,mac={f.OWN_MAC}"


def flags():
    return Flags([line.replace(PORT, MEMIF) for line in port_flags().lines]) + service_flags(BACKENDS)


def shares(zonelb, peer):
    """Each backend's share of the next packets. All connections send alike, so it tells how many of them it has."""
    def packets():
        return zonelb.metrics().by("zonelb_packets_total", "backend")
    begin, first = received(zonelb.metrics()), packets()
    wait_for(lambda: received(zonelb.metrics()) > begin + 200_000,
             lambda: f"packets\n{zonelb.output()}\n{peer.process.output()}", timeout=30)
    moved = {name: count - first.get(name, 0) for name, count in packets().items()}
    return {name: count / sum(moved.values()) for name, count in moved.items()}


def survives(zonelb):
    """Did it live through its peer's death? It may die of the driver's fault only."""
    try:
        wait_for(lambda: not zonelb.process.running(), "a crash", timeout=1)
    except AssertionError:
        return zonelb.status_code("/readyz") == 200
    # With ASan it says so itself.
    assert (zonelb.process.exit_code() in (-signal.SIGSEGV, -signal.SIGBUS)
            or "AddressSanitizer: SEGV" in zonelb.output() and "librte_net_memif" in zonelb.output()), zonelb.output()
    return False


@pytest.mark.parametrize("role, deaths", CASES)
def test_zonelb_goes_on_when_its_peer_is_killed(run, role, deaths):
    if not shutil.which(TESTPMD):
        pytest.skip(f"{TESTPMD} is not installed (package dpdk-dev)")
    write_pcap(f"{run.folder}/in.pcap", [f.tcp(source_port=20000 + n, flags="A") for n in range(CONNECTIONS)])
    other = {"server": "client", "client": "server"}[role]
    # A client of memif asks for its server once, when its port starts.
    peer = Peer(run, other, 0).wait_started() if role == "client" else None
    crashes, at_first = 0, None
    with Appliance(run.namespace, flags(), f"{EAL} -l 0-1 --vdev={memif(run, role)}", run.folder) as zonelb:
        for number in range(1, deaths + 2):
            peer = peer or Peer(run, other, number).wait_started()
            if role == "client" and number > 1:
                zonelb.process.stop()
                zonelb.start().ready()
            now = shares(zonelb, peer)
            at_first = at_first or now
            assert set(now) == {f"b{n}" for n in range(1, BACKENDS + 1)}
            assert all(abs(now[name] - at_first[name]) < 0.01 for name in now), (at_first, now)
            if number > deaths:
                break
            peer.process.kill()
            peer = None
            if not survives(zonelb):
                crashes += 1
                if role == "server":  # A client has no server to come back to yet.
                    zonelb.start().ready()
        print(f"{deaths} deaths of the peer, {crashes} crashes inside the driver")
