"""The real zonelb between virtual ports, beside testpmd's MAC swap in its place: same ports, same sender, same
counters, in turns. Two CPUs: a sender's core and a worker's; main cores sleep on either."""

import json
import os
import socket
import statistics
import subprocess
import time

from lab import cleanup
from lab.appliance import binary, run_folder
from lab.flags import Flags
from lab.process import Process
from lab.waiting import wait_for

from bench.machine import ROOT, free_huge_pages

TESTPMD = "dpdk-testpmd"
VIP = "10.0.0.80"
MAC = "02:00:00:00:00:02"
PCAP_MAC = "02:70:63:61:70:00"  # net_pcap's first port, always
HUGE_PAGES_NEEDED = 600  # of 2 MB: two processes with a buffer for each frame of the flow file
LONGEST_ANSWER = 16384
MEMIF_FLOWS = 1000       # few: the sender must not wait for its own memory
PCAP_FLOWS = 100_000
BUFFERS = 2 * PCAP_FLOWS  # net_pcap holds all frames of its file
SETTLE = 0.5              # seconds: all flows are in the table, the clocks are up


class Program:
    """A running DPDK program, its throughput read from its ports' counters by DPDK's telemetry socket."""

    def __init__(self, folder, process):
        self.path, self.process = f"{folder}/dpdk/rte/dpdk_telemetry.v2", process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()

    def read(self, port, counter):
        """0 while there is no such socket."""
        if not self.process.running():
            raise RuntimeError(f"ended with {self.process.exit_code()}:\n{self.process.output()}")
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
                connection.settimeout(5)
                connection.connect(self.path)
                connection.recv(LONGEST_ANSWER)  # its greeting
                connection.send(f"/ethdev/stats,{port}".encode())
                statistics_of_port = json.loads(connection.recv(LONGEST_ANSWER))["/ethdev/stats"] or {}
                return statistics_of_port.get(counter, 0)
        except (FileNotFoundError, ConnectionRefusedError):
            return 0

    def mpps(self, port, counter, seconds):
        wait_for(lambda: self.read(port, counter) > 0, lambda: f"packets\n{self.process.output()}", timeout=30)
        time.sleep(SETTLE)
        before, begin = self.read(port, counter), time.monotonic()
        time.sleep(seconds)
        after, end = self.read(port, counter), time.monotonic()
        return (after - before) / (end - begin) / 1e6


class Wire:
    """What both runs share: CPUs, memory, a folder for all files, and how programs start."""

    def __init__(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            raise SystemExit("bench: --wire needs two CPUs, one for the sender and one for the worker")
        self.sender_cpu, self.worker_cpu = cpus[:2]
        self.huge = free_huge_pages() >= HUGE_PAGES_NEEDED
        self.folder = run_folder()

    def flows(self, number, mac):
        path = f"{self.folder}/{number}-flows.pcap"
        subprocess.run([f"{ROOT}/tools/flow-file", path, "--flows", str(number), "--vip", VIP, "--mac", mac],
                       check=True)
        return path

    def eal(self, worker_cpu, main_cpu, *devices):
        """Lcore 0 waits for commands, lcore 1 forwards."""
        memory = ["--in-memory"] if self.huge else ["--no-huge", "--no-shconf", "-m", "1024"]
        return [*memory, "--no-pci", "--log-level=4", "--lcores", f"0@{main_cpu},1@{worker_cpu}",
                *(f"--vdev={device}" for device in devices)]

    def run(self, name, words):
        folder = f"{self.folder}/{name}"
        os.makedirs(folder, exist_ok=True)
        return Program(folder, Process(words, f"{folder}/log", {"RUNTIME_DIRECTORY": folder}))

    def testpmd(self, name, eal, mode):
        # With a period for its statistics it does not wait at its standard input, which has nothing for it.
        return self.run(name, [TESTPMD, *eal, "--", f"--forward-mode={mode}", f"--total-num-mbufs={BUFFERS}",
                               "--disable-link-check", "--nb-cores=1", "--stats-period=10"])

    def zonelb(self, name, eal, flags):
        folder = f"{self.folder}/{name}"
        os.makedirs(folder, exist_ok=True)
        path = flags.write(f"{folder}/zonelb.flags")
        return self.run(name, [binary("zonelb"), "--flagfile", path, "--eal", " ".join(eal), "--http-listen", "",
                               "--control-socket", f"{folder}/control.sock"])

    def over_memif(self, seconds):
        """(macswap, zonelb) in Mpps: sent by testpmd from a file into memif, counted where they come back."""
        return (self.round_trip(seconds, self.testpmd, "macswap"),
                self.round_trip(seconds, self.zonelb, port_flags("net_memif0") + service_flags("10.0.1.1")))

    def round_trip(self, seconds, start, what):
        memif = f"net_memif0,id=0,socket={self.folder}/memif.sock,socket-abstract=no"
        source = f"net_pcap0,rx_pcap={self.flows(MEMIF_FLOWS, MAC)},infinite_rx=1"
        under_test = self.eal(self.worker_cpu, self.sender_cpu, f"{memif},role=server,mac={MAC}")
        sender = self.eal(self.sender_cpu, self.worker_cpu, source, f"{memif},role=client")
        with start("under-test", under_test, what) as forwarder:
            wait_for(lambda: os.path.exists(f"{self.folder}/memif.sock"),
                     lambda: f"memif's socket\n{forwarder.process.output()}", timeout=30)
            with self.testpmd("sender", sender, "io") as program:
                return program.mpps(1, "ipackets", seconds)

    def from_file(self, seconds):
        """(macswap, zonelb) in Mpps: from a file of many flows to a port that swallows them, within one program."""
        flags = (port_flags("net_pcap0").port(name="net_null0", address="10.8.0.2/16").mbufs(BUFFERS)
                 + service_flags("10.8.1.1"))
        return self.one_way(seconds, self.testpmd, "macswap"), self.one_way(seconds, self.zonelb, flags)

    def one_way(self, seconds, start, what):
        source = f"net_pcap0,rx_pcap={self.flows(PCAP_FLOWS, PCAP_MAC)},infinite_rx=1"
        eal = self.eal(self.worker_cpu, self.sender_cpu, source, "net_null0,no-rx=1")
        with start("under-test", eal, what) as program:
            return program.mpps(1, "opackets", seconds)


def port_flags(name):
    return (Flags().port(name=name, address="10.0.0.2/16", gateway="10.0.0.1", gateway_mac="02:aa:00:00:00:01")
            .client_network(cidr="10.1.0.0/16", zone="zone-a").client_network(cidr="10.2.0.0/16", zone="zone-b")
            .client_network(cidr="10.3.0.0/16", zone="zone-c"))


def service_flags(first_backend):
    """A service of two backends a zone, of known MAC addresses, as the benchmark has it: L2_DSR, zonal affinity."""
    flags = Flags().backend_service(name="web", zonal_affinity="SPILL_CROSS_ZONE")
    network = first_backend.rpartition(".")[0]
    for number, zone in enumerate("abcabc", 1):
        flags.backend(service="web", name=f"b{number}", address=f"{network}.{number}", zone=f"zone-{zone}",
                      mac=f"02:bb:00:00:00:{number:02x}")
    return flags.forwarding_rule(name="web", address=VIP, protocol="TCP", ports=[80], backend_service="web")


def measure(cases, rounds, seconds, say):
    """A dictionary for each case: rounds of (macswap, zonelb) in turns, and the median of their ratios."""
    wire = Wire()
    results = []
    for case in cases:
        pairs = []
        for number in range(rounds):
            pairs.append(getattr(wire, case.run)(seconds))
            say(f"{case.title}, round {number + 1}: macswap {pairs[-1][0]:.2f} Mpps, zonelb {pairs[-1][1]:.2f} Mpps")
        ratio = statistics.median(zonelb / macswap for macswap, zonelb in pairs)
        results.append({"name": case.name, "title": case.title, "target_ratio": case.target,
                        "macswap_mpps": statistics.median(pair[0] for pair in pairs),
                        "zonelb_mpps": statistics.median(pair[1] for pair in pairs),
                        "ratio": ratio, "met": ratio >= case.target, "rounds": [list(pair) for pair in pairs],
                        "pages": "2 MB" if wire.huge else "4 kB", "memif": "copying"})
    return results
