"""Floods of new flows on a full table. The established connections' service leaves by net_pcap, so that each of its
frames is seen; the flooded one's frames end in net_null."""

import ipaddress
import os
import threading
import time
from collections import defaultdict

import pytest

from lab.appliance import Appliance, run_folder
from lab.flags import Flags
from lab.listeners import TcpListeners
from lab.namespace import Namespace
from lab.waiting import wait_for

from packets import frames as f
from packets.pcap import captured, read_pcap
from packets.run import EAL, PORT, backend_address, service_flags
from packets.stream import Flood, Stream

KEPT, SETS, GROUP = 1000, 5, 320  # connections; blocks they are spread over; one frame in so many is theirs
FLOODING = KEPT // SETS * (GROUP - 1)  # clients
LENGTH = 80  # of every frame
FIRST_PORT = 1024
BEAT = 128  # frames, more than a burst
FILLED = 0.78  # of the table: confirmed connections. The flood fills the rest.
BACKENDS = 4
HEALTH_PORT = 8080
VIP, VIP6 = "10.0.0.81", "2001:db8::81"  # the flooded ones
FILES = "taken{}.pcap", "given{}.pcap"
FLOODS = {"syn": (f.tcp, {"flags": "S"}), "ack": (f.tcp, {"flags": "A"}), "udp": (f.udp, {})}
CASES = [pytest.param(kind, ipv6, workers, seconds, id=f"{kind}-{'ipv6' if ipv6 else 'ipv4'}-{workers}-{seconds}s",
                      marks=[pytest.mark.long] if seconds > 5 else [])
         for kind, ipv6, workers, seconds in (
             ("syn", False, 1, 5), ("ack", False, 1, 5), ("udp", False, 1, 5), ("syn", True, 2, 5),
             ("syn", False, 1, 60), ("ack", False, 1, 60), ("udp", False, 1, 60),
             ("syn", True, 1, 60), ("ack", True, 1, 60), ("udp", True, 1, 60),
             ("syn", False, 2, 60), ("ack", False, 2, 60), ("udp", False, 2, 60))]


def flags(workers):
    """Established are connections of `s` (TCP, its backends b1 … are probed) and of `dns` (UDP, u1 …)."""
    made = (Flags().port(name=PORT, address=f"{f.OWN}/16", address6=f"{f.OWN6}/64", gateway="10.0.0.1",
                         gateway6="2001:db8::1", gateway_mac=f.GATEWAY_MAC)
            .port(name="net_null0", address="10.8.0.2/16", address6="2001:db8:0:8::2/64")
            .region("here").relaxed_limits(True).workers(workers).connections("64k").connections6("64k")
            .client_network(cidr=["10.2.0.0/15", "2001:db8:2::/47"], zone="zone-a")
            .health_check(name="hc", protocol="TCP", port=HEALTH_PORT, check_interval="100ms", timeout="100ms"))
    made += service_flags(BACKENDS, protocols=("TCP",), health_check="hc")
    return (made + more_flags("dns", "u", "10.0.3", ("UDP",), (f.VIP, f.VIP6))
            + more_flags("flooded", "n", "10.8.2", ("TCP", "UDP"), (VIP, VIP6)))


def more_flags(service, letter, network, protocols, vips):
    made = Flags().backend_service(name=service)
    for number in range(1, BACKENDS + 1):
        made.backend(service=service, name=f"{letter}{number}", zone="zone-a", address=f"{network}.{number}",
                     mac=f"02:cc:00:00:{ord(letter):02x}:0{number}")
    for address in vips:
        for protocol in protocols:
            made.forwarding_rule(name=f"{service}-{protocol.lower()}-v{6 if ':' in address else 4}", address=address,
                                 protocol=protocol, ports=[80 if protocol == "TCP" else 53], backend_service=service)
    return made


def of_clients(make, ipv6, network, count, port, **options):
    """Frames of the first `count` clients of a network."""
    template = f.of_length(LENGTH, make, ipv6=ipv6, **options)
    first = int(ipaddress.ip_address(f"2001:db8:{network}::1" if ipv6 else f"10.{network}.0.1"))
    return [f.from_client(template, first + n, port) for n in range(count)]


class Rig:
    """zonelb, a stream for each of its workers, and what they have been told to send."""

    def __init__(self, kind, ipv6, workers):
        make, options = FLOODS[kind]
        flooded = VIP6 if ipv6 else VIP
        self.folder = run_folder()
        self.flooding = of_clients(make, ipv6, 3, FLOODING, FIRST_PORT, destination=flooded, **options)
        self.filling = of_clients(f.tcp, ipv6, 3, FLOODING, FIRST_PORT - 1, destination=flooded, flags="A")
        self.kept = [frame for pair in zip(of_clients(f.tcp, ipv6, 2, KEPT // 2, 7000, flags="A"),
                                           of_clients(f.udp, ipv6, 2, KEPT // 2, 7001)) for frame in pair]
        self.workers, self.port_at = workers, 54 if ipv6 else 34
        nobody = f.udp(port=9)
        self.streams = [Stream(self.file(0, n), [nobody] * BEAT) for n in range(workers)]
        self.rounds = 0  # times that each kept frame was sent
        self.zonelb = None

    def file(self, kind, number):
        return f"{self.folder}/{FILES[kind].format(number)}"

    def eal(self):
        files = "".join(f",rx_pcap={self.file(0, n)}" for n in range(self.workers))
        files += "".join(f",tx_pcap={self.file(1, n)}" for n in range(self.workers))
        return (f"{EAL} --lcores {','.join(f'{n}@{max(n - 1, 0)}' for n in range(self.workers + 1))} "
                f"--vdev={PORT}{files} --vdev=net_null0,no-rx=1")

    def wait_for_snapshot(self):
        """net_pcap makes a worker wait while it holds a snapshot: two beats later it has the one of now."""
        before = [stream.beats for stream in self.streams]
        wait_for(lambda: all(now.beats >= was + 2 * BEAT for now, was in zip(self.streams, before)), "two beats")

    def flush(self):
        """Until zonelb has forwarded what was sent."""
        def forwarded():
            return self.zonelb.metrics().sum("zonelb_packets_total")
        wait_for(lambda: forwarded() >= self.sent(),
                 lambda: f"{self.sent()} frames, {forwarded()} so far\n{self.zonelb.control('drops')}", timeout=60)

    def send(self, stream, frames):
        wait_for(stream.send([(b"".join(map(captured, frames)), len(frames))]).is_set, "frames sent", timeout=60)
        self.flush()

    def send_kept(self):
        for stream in self.streams:
            self.send(stream, self.kept)
            self.rounds += 1

    def flood(self):
        """It begins; returns what ends it."""
        stop = threading.Event()
        floods, ends = [], []
        for number, stream in enumerate(self.streams):
            floods.append(Flood(self.flooding, [self.kept[n::SETS] for n in range(SETS)], GROUP, self.port_at))
            ends.append(stream.send(floods[-1].blocks(FIRST_PORT + number * 0x8000, stop)))

        def end():
            stop.set()
            wait_for(lambda: all(done.is_set() for done in ends), "the flood's end", timeout=30)
            self.flush()
            self.rounds += sum(flood.rounds for flood in floods)
        return end

    def sent(self):
        return sum(stream.sent for stream in self.streams)

    def came_out(self):
        """{frame without its MAC addresses: [the backend's MAC address each time]}"""
        seen = defaultdict(list)
        for number in range(self.workers):
            for frame in read_pcap(self.file(1, number)):
                if not f.is_own_chatter(frame):
                    seen[frame[12:]].append(frame[:6])
        return seen


def flip_until(end, rig, listeners):
    """Backends of the established connections go and return, one or two at a time; how often. TCP stays with an
    unhealthy backend, UDP with one that drains."""
    flips = 0
    while time.monotonic() < end or flips == 0:
        numbers = {flips % BACKENDS + 1, flips * 3 % BACKENDS + 1}
        for healthy in (False, True):
            for number in numbers:
                (listeners.up if healthy else listeners.down)(backend_address(number))
                rig.zonelb.control("undrain" if healthy else "drain", f"u{number}")
            rig.zonelb.wait_health(**{f"{letter}{number}": healthy for number in numbers for letter in "bu"})
            before = rig.sent()
            wait_for(lambda: rig.sent() > before + 2 * KEPT * GROUP, "the flood goes on", timeout=60)
        flips += 1
    return flips


@pytest.fixture
def place():
    """A namespace where the established connections' backends have their health endpoints."""
    with Namespace(f"zonelb-{os.getpid()}-flood") as namespace:
        addresses = [backend_address(number) for number in range(1, BACKENDS + 1)]
        namespace.ip(*(f"addr add {address}/32 dev lo" for address in addresses))
        with TcpListeners(namespace, HEALTH_PORT) as listeners:
            listeners.up(*addresses)
            yield namespace, listeners


@pytest.mark.parametrize("kind, ipv6, workers, seconds", CASES)
def test_established_connections_lose_nothing_and_stay(place, kind, ipv6, workers, seconds):
    namespace, listeners = place
    rig = Rig(kind, ipv6, workers)
    with Appliance(namespace, flags(workers), rig.eal(), rig.folder) as rig.zonelb:
        capacity = rig.zonelb.metrics().one("zonelb_connection_table_capacity", family="ipv6" if ipv6 else "ipv4")
        rig.filling = rig.filling[:int(capacity * FILLED)]
        rig.wait_for_snapshot()
        rig.send_kept()
        rig.send_kept()
        for _ in range(2):
            rig.send(rig.streams[0], rig.filling)
        calm = rig.zonelb.metrics()
        confirmed = KEPT + len(rig.filling)
        assert {name: calm.one(f"zonelb_{name}") for name in
                ("connection_table_entries", "connection_table_evictions_total", "untracked_connections_total")} == {
            "connection_table_entries": confirmed, "connection_table_evictions_total": 0,
            "untracked_connections_total": 0}

        sent_before, begin = rig.sent(), time.monotonic()
        end = rig.flood()
        flips = flip_until(begin + seconds, rig, listeners)
        end()
        flooded = (rig.sent() - sent_before) * (GROUP - 1) // GROUP
        rate = flooded / (time.monotonic() - begin) / 1e6
        after = rig.zonelb.metrics()
        evictions = after.one("zonelb_connection_table_evictions_total")
        untracked = after.one("zonelb_untracked_connections_total")
        print(f"{flooded / 1e6:.1f} M new flows at {rate:.2f} M/s, {flips} flips, {rig.rounds} rounds of {KEPT} "
              f"connections, {evictions:.0f} evictions, {untracked:.0f} untracked")
        assert after.one("zonelb_connection_table_entries") > 0.95 * capacity, "full all the time"
        assert evictions > 10 * capacity
        assert kind == "ack" or untracked > 0, "some buckets hold confirmed connections alone"
        assert after.sum("zonelb_packets_total", service="flooded") == flooded + 2 * len(rig.filling)

        # Every connection that was confirmed before is still known, the quiet ones too.
        rig.send(rig.streams[0], rig.filling)
        rig.send_kept()
        made = after.by("zonelb_new_connections_total", "service")
        assert rig.zonelb.metrics().by("zonelb_new_connections_total", "service") == made
        assert made["s"] + made["dns"] == KEPT
        for stream in rig.streams:
            stream.close()
        beats = sum(stream.beats for stream in rig.streams)
        wait_for(lambda: rig.zonelb.metrics().sum("zonelb_drops_total") >= beats, "the last frames")
        assert rig.zonelb.metrics().drops() == {"no_rule": beats}
        assert rig.zonelb.process.stop() == 0, rig.zonelb.output()
    seen = rig.came_out()
    assert set(seen) == {frame[12:] for frame in rig.kept}
    assert {len(macs) for macs in seen.values()} == {rig.rounds}, "every packet that went in came out"
    assert {len(set(macs)) for macs in seen.values()} == {1}, "none of them moved"
    assert len({macs[0] for macs in seen.values()}) == 2 * BACKENDS
