"""What tools/flow-file writes, as scapy reads it."""

import subprocess
from collections import Counter
from ipaddress import ip_address, ip_network

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import raw
from scapy.utils import rdpcap

from lab.appliance import ROOT

TOOL = f"{ROOT}/tools/flow-file"
ZONES = {False: ["10.1.0.0/16", "10.2.0.0/24"], True: ["2001:db8:1::/48", "2001:db8:2::/120"]}
VIP = {False: "10.0.0.81", True: "2001:db8::81"}


@pytest.fixture
def written(tmp_path):
    def write(*words):
        path = str(tmp_path / "flows.pcap")
        subprocess.run([TOOL, path, *words], check=True)
        return list(rdpcap(path))
    return write


def flow(packet):
    l3, l4 = packet[1], packet[2]
    return l3.src, l4.sport, l3.dst, l4.dport


def rebuilt(packet):
    """The same frame with lengths and checksums of scapy's own computing."""
    copy = Ether(raw(packet))
    for layer, names in ((IP, ["chksum", "len"]), (IPv6, ["plen"]), (TCP, ["chksum"]), (UDP, ["chksum", "len"])):
        if layer in copy:
            for name in names:
                delattr(copy[layer], name)
    return raw(copy)


@pytest.mark.parametrize("ipv6", [False, True], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_each_flow_once_from_the_zones_in_equal_shares(written, ipv6, protocol):
    clients = [word for network in ZONES[ipv6] for word in ("--clients", network)]
    # More flows than the small zone has addresses: clients use several ports.
    packets = written("--flows", "1k", *clients, "--vip", VIP[ipv6], "--port", "8080", "--protocol", protocol,
                      "--mac", "02:00:00:00:00:09")
    assert len({flow(packet) for packet in packets}) == len(packets) == 1000
    assert {(packet[1].dst, packet[2].dport, packet.dst) for packet in packets} == {
        (VIP[ipv6], 8080, "02:00:00:00:00:09")}
    by_zone = Counter(network for packet in packets for network in ZONES[ipv6]
                      if ip_address(packet[1].src) in ip_network(network))
    assert by_zone == {network: 500 for network in ZONES[ipv6]}
    assert {type(packet[2]) for packet in packets} == {TCP if protocol == "tcp" else UDP}
    assert [raw(packet) for packet in packets] == [rebuilt(packet) for packet in packets]


def test_sizes_in_turn_and_flags(written):
    packets = written("--flows", "30", "--size", "64,594,1518", "--flags", "syn,ack")
    # A frame's size counts the FCS, which no capture has; the smallest is without Ethernet's padding.
    assert [len(packet) for packet in packets[:6]] == [60, 590, 1514] * 2
    assert {str(packet[TCP].flags) for packet in packets} == {"SA"}
    assert [raw(packet) for packet in packets] == [rebuilt(packet) for packet in packets]


def test_the_same_words_write_the_same_file(tmp_path):
    paths = [tmp_path / "1.pcap", tmp_path / "2.pcap"]
    for path in paths:
        subprocess.run([TOOL, path, "--flows", "100"], check=True)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("words, complaint", [
    (["--clients", "10.1.0.0/32", "--flows", "60k"], "fewer than the 60000 flows"),
    (["--clients", "10.1.0.0/16", "--clients", "10.1.2.0/24"], "overlap"),
    (["--clients", "10.1.0.0/16", "--vip", "2001:db8::80"], "family"),
    (["--flags", "SIN"], "--flags"),
    (["--size", "63"], "--size"),
])
def test_what_cannot_be_is_refused(tmp_path, words, complaint):
    done = subprocess.run([TOOL, tmp_path / "flows.pcap", *words], text=True, capture_output=True)
    assert done.returncode == 2
    assert complaint in done.stderr
