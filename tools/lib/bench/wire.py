"""The real zonelb between virtual ports, beside testpmd's MAC swap in its place: same ports, same sender, same
counters, in turns. Two CPUs: a sender's core and a worker's; main cores sleep on either."""

import json
import os
import socket
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass

from lab.appliance import binary, run_folder
from lab.flags import Flags
from lab.process import Process
from lab.waiting import wait_for

from bench.machine import ROOT, free_huge_pages, read

TESTPMD = "dpdk-testpmd"
VIP = "10.0.0.80"
MAC = "02:00:00:00:00:02"
PCAP_MAC = "02:70:63:61:70:00"  # net_pcap's first port, always
HUGE_PAGES_NEEDED = 600  # of 2 MB: two processes with a buffer for each frame of the flow file
LONGEST_ANSWER = 16384
MEMIF_FLOWS = 1000       # few: the sender must not wait for its own memory
PCAP_FLOWS = 100_000
BUFFERS = 2 * PCAP_FLOWS  # net_pcap holds all frames of its file
UNDISTURBED = 0.95        # of the time on its CPU: a round to be counted
SETTLE = 0.5              # seconds: all flows are in the table, the clocks are up


class Program:
    """A running DPDK program, its throughput read from its ports' counters by DPDK's telemetry socket."""

    def __init__(self, folder, words):
        self.path = f"{folder}/dpdk/rte/dpdk_telemetry.v2"
        self.connection = None
        self.process = Process(words, f"{folder}/log", {"RUNTIME_DIRECTORY": folder})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.connection:
            self.connection.close()
        # At once: of two programs that share a memif, the driver of the one left behind may crash.
        self.process.kill()

    def connect(self):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            connection.settimeout(30)
            connection.connect(self.path)
            connection.recv(LONGEST_ANSWER)  # its greeting
        except OSError:
            connection.close()
            raise
        return connection

    def ask(self, question, key):
        """0 while the program does not listen, or has no such port."""
        if not self.process.running():
            raise RuntimeError(f"ended with {self.process.exit_code()}:\n{self.process.output()}")
        try:
            self.connection = self.connection or self.connect()
        except (FileNotFoundError, ConnectionRefusedError):
            return 0
        self.connection.send(question.encode())
        answer = json.loads(self.connection.recv(LONGEST_ANSWER))
        return (answer[question.partition(",")[0]] or {}).get(key, 0)

    def wait_until_started(self, port):
        wait_for(lambda: self.ask(f"/ethdev/info,{port}", "dev_started"),
                 lambda: f"port {port} started\n{self.process.output()}", timeout=30)

    def wait_until_forwarding(self, port, counter):
        wait_for(lambda: self.ask(f"/ethdev/stats,{port}", counter) > 0,
                 lambda: f"packets\n{self.process.output()}", timeout=30)

    def worker_time(self):
        """Seconds for which the worker has had its CPU."""
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            folder = f"/proc/{self.process.pid}/task/{task}"
            if "worker" in read(f"{folder}/comm"):
                return int(read(f"{folder}/schedstat").split()[0]) / 1e9
        raise RuntimeError(f"no worker thread\n{self.process.output()}")


@dataclass
class Rate:
    mpps: float
    share: float  # of the time for which the workers had their CPUs; 1 on a quiet machine


def rate(program, port, counter, seconds, others=()):
    """Of a port's counter, `others` being programs at work on it too."""
    def reading():
        asked = time.monotonic()
        count = program.ask(f"/ethdev/stats,{port}", counter)
        return (asked + time.monotonic()) / 2, count, [one.worker_time() for one in (program, *others)]
    program.wait_until_forwarding(port, counter)
    time.sleep(SETTLE)
    begin, before, busy_before = reading()
    time.sleep(seconds)
    end, after, busy_after = reading()
    share = min(later - earlier for earlier, later in zip(busy_before, busy_after)) / (end - begin)
    return Rate((after - before) / (end - begin) / 1e6, min(share, 1.0))


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
        if not os.path.exists(path):
            subprocess.run([f"{ROOT}/tools/flow-file", path, "--flows", str(number), "--vip", VIP, "--mac", mac],
                           check=True)
        return path

    def fresh_folder(self):
        return tempfile.mkdtemp(dir=self.folder)

    def eal(self, worker_cpu, main_cpu, *devices):
        """Lcore 0 waits for commands, lcore 1 forwards."""
        memory = ["--in-memory"] if self.huge else ["--no-huge", "--no-shconf", "-m", "1024"]
        return [*memory, "--no-pci", "--log-level=4", "--lcores", f"0@{main_cpu},1@{worker_cpu}",
                *(f"--vdev={device}" for device in devices)]

    def testpmd(self, eal, mode):
        # With a period for its statistics it does not wait at its standard input, which has nothing for it.
        return Program(self.fresh_folder(), [TESTPMD, *eal, "--", f"--forward-mode={mode}", "--nb-cores=1",
                                             f"--total-num-mbufs={BUFFERS}", "--disable-link-check",
                                             "--stats-period=10"])

    def zonelb(self, eal, flags):
        folder = self.fresh_folder()
        path = flags.write(f"{folder}/zonelb.flags")
        return Program(folder, [binary("zonelb"), "--flagfile", path, "--eal", " ".join(eal), "--http-listen", "",
                                "--control-socket", f"{folder}/control.sock"])

    def over_memif(self, seconds):
        """Rates of macswap and zonelb: sent by testpmd from a file into memif, counted where they come back."""
        return (self.round_trip(seconds, self.testpmd, "macswap"),
                self.round_trip(seconds, self.zonelb, port_flags("net_memif0") + service_flags("10.0.1.1")))

    def round_trip(self, seconds, start, what):
        memif = f"net_memif0,id=0,socket={self.fresh_folder()}/memif.sock,socket-abstract=no"
        source = f"net_pcap0,rx_pcap={self.flows(MEMIF_FLOWS, MAC)},infinite_rx=1"
        under_test = self.eal(self.worker_cpu, self.sender_cpu, f"{memif},role=server,mac={MAC}")
        sender = self.eal(self.sender_cpu, self.worker_cpu, source, f"{memif},role=client")
        with start(under_test, what) as forwarder:
            # testpmd as a client does not try again when the server's port is not ready.
            forwarder.wait_until_started(0)
            with self.testpmd(sender, "io") as program:
                return rate(program, 1, "ipackets", seconds, [forwarder])

    def from_file(self, seconds):
        """Rates of macswap and zonelb: from a file of many flows to a port that swallows them, within one program."""
        flags = (port_flags("net_pcap0").port(name="net_null0", address="10.8.0.2/16").mbufs(BUFFERS)
                 + service_flags("10.8.1.1"))
        return self.one_way(seconds, self.testpmd, "macswap"), self.one_way(seconds, self.zonelb, flags)

    def one_way(self, seconds, start, what):
        source = f"net_pcap0,rx_pcap={self.flows(PCAP_FLOWS, PCAP_MAC)},infinite_rx=1"
        eal = self.eal(self.worker_cpu, self.sender_cpu, source, "net_null0,no-rx=1")
        with start(eal, what) as program:
            return rate(program, 1, "opackets", seconds)


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


def undisturbed(run, seconds, rounds, tries, say):
    """Rounds of rates of (macswap, zonelb), those in which the workers lost their CPUs to other programs repeated: the
    best of at most `tries`."""
    found = []
    while len(found) < tries and sum(share >= UNDISTURBED for share, _ in found) < rounds:
        pair = run(seconds)
        found.append((min(one.share for one in pair), pair))
        say(f"  macswap {pair[0].mpps:.2f} Mpps, zonelb {pair[1].mpps:.2f} Mpps, "
            f"{found[-1][0]:.0%} of the time on their CPUs")
    found.sort(key=lambda one: one[0], reverse=True)
    return [pair for _, pair in found[:rounds]]


def measure(cases, rounds, tries, seconds, say):
    """A dictionary for each case; the ratio is the median of the rounds'."""
    wire = Wire()
    results = []
    for case in cases:
        say(case.title)
        pairs = undisturbed(getattr(wire, case.run), seconds, rounds, tries, say)
        ratio = statistics.median(zonelb.mpps / macswap.mpps for macswap, zonelb in pairs)
        results.append({"name": case.name, "title": case.title, "target_ratio": case.target,
                        "macswap_mpps": statistics.median(macswap.mpps for macswap, _ in pairs),
                        "zonelb_mpps": statistics.median(zonelb.mpps for _, zonelb in pairs),
                        "ratio": ratio, "met": ratio >= case.target,
                        "rounds": [{"macswap": vars(macswap), "zonelb": vars(zonelb)} for macswap, zonelb in pairs],
                        "pages": "2 MB" if wire.huge else "4 kB", "memif": "copying"})
    return results
