"""Frames in, frames out: the real zonelb between two pcap files."""

import os
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass

from lab.appliance import Appliance
from lab.flags import Flags
from lab.metrics import Metrics

from lab.waiting import wait_for

from packets import frames as f
from packets.pcap import read_pcap, write_pcap

PORT = "net_pcap0"
EAL = "--no-huge --no-shconf --no-pci --no-telemetry -m 512"


@dataclass
class Result:
    frames: list      # what came out, without zonelb's own announcements and questions
    chatter: list     # those
    metrics: Metrics  # read when all frames had been received
    log: str

    def drops(self):
        return {reason: int(count) for reason, count in self.metrics.drops().items()}


def port_flags(mtu=1500, vlan=None, connections="64k"):
    """The port, its addresses, a gateway that need not be asked for, the clients' zone."""
    return (Flags().port(name=PORT, address=f"{f.OWN}/16", address6=f"{f.OWN6}/64", gateway="10.0.0.1",
                         gateway6="2001:db8::1", gateway_mac=f.GATEWAY_MAC, mtu=mtu, vlan=vlan)
            .region("here").connections(connections)
            .client_network(cidr=["10.1.0.0/16", "2001:db8:1::/48"], zone="zone-a"))


def backend_mac(number):
    return f"02:bb:00:00:00:{number:02x}"


def service_flags(backends=1, ipv6_backends=False, drain=False, mac=True, protocols=("TCP", "UDP"), **service):
    """A service `s` with backends b1, b2 … of known MAC addresses, behind both VIPs at port 80 (TCP), 53 (UDP)."""
    flags = Flags().backend_service(name="s", **service)
    for number in range(1, backends + 1):
        flags.backend(service="s", name=f"b{number}", zone="zone-a",
                      address=backend_address(number, ipv6_backends),
                      mac=backend_mac(number) if mac else None, drain=True if drain else None)
    vips = {"v4": f.VIP, "v6": f.VIP6} if mac else {"v4": f.VIP}
    for version, address in vips.items():
        for protocol in protocols:
            flags.forwarding_rule(name=f"{protocol.lower()}-{version}", address=address, protocol=protocol,
                                  ports=[80 if protocol == "TCP" else 53], backend_service="s")
    return flags


@contextmanager
def waiting_service(namespace, flags, port):
    """Adds a service, at TCP `port` of both VIPs, whose first round of probes does not end: its server accepts and
    says nothing."""
    namespace.ip("addr replace 10.0.2.1/32 dev lo")
    flags.health_check(name="slow", protocol="HTTP", port=8080).backend_service(name="waiting", health_check="slow")
    flags.backend(service="waiting", name="w1", zone="zone-a", address="10.0.2.1", mac=backend_mac(1))
    for version, address in (("v4", f.VIP), ("v6", f.VIP6)):
        flags.forwarding_rule(name=f"waiting-{version}", address=address, protocol="TCP", ports=[port],
                              backend_service="waiting")
    with namespace.socket() as silent:
        silent.bind(("10.0.2.1", 8080))
        silent.listen()
        yield


def backend_address(number, ipv6=False):
    return f"2001:db8::b:{number:x}" if ipv6 else f"10.0.2.{number}"


class Runner:
    """Runs in a namespace of its own, so that ports of zonelb's HTTP server never collide."""

    def __init__(self, namespace, folder):
        self.namespace, self.folder = namespace, folder

    def eal(self, inputs, output=None, infinite=False, eal="-l 0-1"):
        files = "".join(f",rx_pcap={path}" for path in inputs)
        files += f",tx_pcap={output}" if output else ""
        files += ",infinite_rx=1" if infinite else ""
        return f"{EAL} --vdev={PORT}{files} {eal}"  # the first of pcap ports has OWN_MAC

    def __call__(self, flags, frames, eal="-l 0-1", sent=0):
        """`sent`: frames that zonelb sends at least, its own included; waited for."""
        taken, given = f"{self.folder}/in.pcap", f"{self.folder}/out.pcap"
        write_pcap(taken, frames)
        with Appliance(self.namespace, flags, self.eal([taken], given, eal=eal), self.folder) as zonelb:
            wait_for(lambda: received(zonelb.metrics()) >= len(frames),
                     lambda: f"{len(frames)} frames received\n{zonelb.output()}")
            wait_for(lambda: zonelb.metrics().sum("zonelb_transmitted_packets_total") >= sent,
                     lambda: f"{sent} frames sent\n{zonelb.output()}")
            metrics = settled(zonelb)
            assert zonelb.process.stop() == 0, zonelb.output()
            log = zonelb.output()
        out = read_pcap(given)
        return Result([frame for frame in out if not f.is_own_chatter(frame)],
                      [frame for frame in out if f.is_own_chatter(frame)], metrics, log)


def received(metrics):
    return metrics.sum("zonelb_received_packets_total")


def settled(zonelb):
    """A reading after which nothing moves: the second of two equal ones."""
    def unchanged():
        first, second = ([sample for sample in reading.samples
                          if sample[0] in ("zonelb_packets_total", "zonelb_drops_total", "zonelb_local_packets_total")]
                         for reading in (zonelb.metrics(), zonelb.metrics()))
        return first == second
    wait_for(unchanged, "counters at rest")
    return zonelb.metrics()


def decoder_complaints(path, folder):
    """What tshark, which knows nothing of zonelb, finds wrong with the frames of a pcap file: bad checksums of any
    layer and malformed packets."""
    words = ["tshark", "-r", path, "-n", "--disable-protocol", "dns"]
    for preference in ("ip.check_checksum", "udp.check_checksum", "tcp.check_checksum"):
        words += ["-o", f"{preference}:TRUE"]
    # An ICMP error quotes only the head of a packet, whose own checksum covers more.
    words += ["-Y", "ip.checksum.status == 0 || icmp.checksum.status == 0 || icmpv6.checksum.status == 0 || "
                    "_ws.malformed || ((udp.checksum.status == 0 || tcp.checksum.status == 0) && "
                    "!(icmp.type == 3) && !(icmpv6.type == 2))"]
    done = subprocess.run(words, text=True, capture_output=True, env={**os.environ, "HOME": folder})
    assert done.returncode == 0, done.stderr
    return done.stdout
