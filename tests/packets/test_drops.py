"""Every named drop: the frame that causes it, the count that tells of it, nothing sent on."""

import os
import re
import struct

import pytest
from scapy.layers.inet import ICMP
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6NDOptSrcLLAddr, IPv6ExtHdrRouting

from lab.flags import Flags

from packets import frames as f
from packets.run import port_flags, service_flags, waiting_service

FLAGS = port_flags() + service_flags()


def source(path):
    with open(os.path.join(os.path.dirname(__file__), "../..", path)) as file:
        return file.read()


def build(*layers):
    packet = f.ether()
    for layer in layers:
        packet = packet / layer
    return bytes(f.raw(packet))


def patched(frame, at, value):
    return frame[:at] + value + frame[at + len(value):]


IP_AT, L4_AT, L4_AT6 = 14, 34, 54
NO_NEIGHBOUR = port_flags() + service_flags(mac=False)
DRAINED = port_flags() + service_flags(drain=True)
SOLICITATION_FROM_AFAR = bytes(f.raw(
    f.Ether(src=f.GATEWAY_MAC, dst=f.OWN_MAC) / f.IPv6(src="2001:db8::9", dst=f.OWN6, hlim=64)
    / f.ICMPv6ND_NS(tgt=f.OWN6) / ICMPv6NDOptSrcLLAddr(lladdr=f.GATEWAY_MAC)))


def other_region():
    return FLAGS + Flags().client_network(cidr="10.9.0.0/16", region="elsewhere")


CASES = [
    ("runt", FLAGS, f.tcp()[:20]),
    ("runt", FLAGS, f.tcp()[:13]),
    ("multi_segment", FLAGS, f.of_length(6000, f.udp)),
    ("unknown_ethertype", FLAGS, patched(f.tcp(), 12, b"\x88\xb5")),
    ("unknown_ethertype", FLAGS, bytes(f.raw(f.ether(100) / f.Dot1Q(vlan=200) / f.ip() / f.TCP(dport=80)))),
    ("vlan_mismatch", port_flags(vlan=100) + service_flags(), f.tcp()),
    ("vlan_mismatch", port_flags(vlan=100) + service_flags(), f.tcp(vlan=101)),
    ("not_ours", FLAGS, f.tcp(destination="10.0.0.99")),
    ("not_ours", FLAGS, f.tcp(True, destination="2001:db8::99")),
    ("no_rule", FLAGS, f.tcp(port=81)),
    ("no_rule", FLAGS, f.udp(port=80)),
    ("no_rule", FLAGS, f.tcp(True, port=81)),
    ("bad_ip_version", FLAGS, patched(f.tcp(), IP_AT, b"\x65")),
    ("bad_ip_version", FLAGS, patched(f.tcp(True), IP_AT, b"\x45")),
    ("bad_ip_header_length", FLAGS, patched(f.tcp(), IP_AT, b"\x44")),
    ("bad_ip_checksum", FLAGS, patched(f.tcp(), IP_AT + 10, b"\x12\x34")),
    ("truncated", FLAGS, f.tcp(payload=bytes(100))[:-20]),
    ("truncated", FLAGS, f.tcp(True, payload=bytes(100))[:-20]),
    ("bad_l4_header", FLAGS, patched(f.tcp(), L4_AT + 12, b"\x10")),
    ("bad_l4_header", FLAGS, patched(f.udp(), L4_AT + 4, struct.pack("!H", 7))),
    ("bad_l4_header", FLAGS, patched(f.udp(True), L4_AT6 + 4, struct.pack("!H", 1000))),
    ("fragment", FLAGS, build(f.ip(flags="MF"), f.UDP(sport=1, dport=53), f.Raw(bytes(64)))),
    ("fragment", FLAGS, build(f.ip(frag=8, proto=17), f.Raw(bytes(64)))),
    ("extension_headers", FLAGS, build(f.ip(True), IPv6ExtHdrRouting(addresses=["2001:db8::77"], segleft=1),
                                       f.UDP(sport=1, dport=53))),
    ("unsupported_protocol", FLAGS, build(f.ip(proto=47), f.Raw(bytes(20)))),
    ("unsupported_protocol", FLAGS, build(f.ip(True, nh=132), f.Raw(bytes(20)))),
    ("icmp_not_echo", FLAGS, build(f.ip(), ICMP(type=13), f.Raw(bytes(12)))),
    ("bad_icmp_checksum", FLAGS, build(f.ip(), ICMP(type=8, chksum=0x1234), f.Raw(b"echo"))),
    ("bad_icmp_checksum", FLAGS, build(f.ip(True), ICMPv6EchoRequest(cksum=0x1234, data=b"echo"))),
    ("bad_arp", FLAGS, bytes(f.raw(f.Ether(src=f.GATEWAY_MAC, dst=f.OWN_MAC)
                                   / f.ARP(hwtype=6, op=1, psrc="10.0.0.9", pdst=f.OWN)))),
    ("bad_nd", FLAGS, SOLICITATION_FROM_AFAR),
    ("bad_source", FLAGS, f.tcp(source="127.0.0.1")),
    ("bad_source", FLAGS, f.tcp(source="255.255.255.255")),
    ("bad_source", FLAGS, f.tcp(True, source="::1")),
    ("bad_source", FLAGS, f.tcp(True, source="ff02::1")),
    ("other_region", other_region(), f.tcp(source="10.9.0.5")),
    ("no_backend", DRAINED, f.tcp()),
    ("neighbour_unresolved", NO_NEIGHBOUR, f.tcp()),
    ("too_big", port_flags() + service_flags(forwarding="VXLAN"), f.of_length(1514, f.udp)),
]
# Reasons that no frame from a file brings about: tests/unit/dataplane/worker_test.cpp has their cases.
NOT_BY_A_FRAME = {"tx_full", "no_buffer", "ring_full", "no_route"}
# Its own test below.
BY_TIME = {"starting"}


@pytest.mark.parametrize("reason,flags,frame", CASES, ids=[f"{case[0]}-{n}" for n, case in enumerate(CASES)])
def test_drop(run, reason, flags, frame):
    result = run(flags, [frame])
    assert result.drops() == {reason: 1}
    assert result.frames == []


def test_every_reason_has_its_case():
    body = re.search(r"enum class DropReason[^{]*\{(.*?)\};", source("lib/packet/drop_reason.hpp"), re.S)[1]
    reasons = set(re.findall(r"^\s*(\w+)\s*(?:,|$)", re.sub(r"//.*", "", body), re.M)) - {"count"}
    assert {case[0] for case in CASES} | NOT_BY_A_FRAME | BY_TIME == reasons
    in_unit_tests = re.findall(r"dropped\(DropReason::(\w+)\)", source("tests/unit/dataplane/worker_test.cpp"))
    assert set(in_unit_tests) == NOT_BY_A_FRAME


def test_a_good_frame_among_bad_ones_goes_through(run):
    bad = [case[2] for case in CASES if case[1] is FLAGS]
    good = f.tcp(source_port=50000)
    result = run(FLAGS, bad + [good] + bad)
    assert len(result.frames) == 1 and result.frames[0][12:] == good[12:]
    assert sum(result.drops().values()) == 2 * len(bad)


def test_a_service_waits_for_its_first_round_of_probes_while_others_go_on(run):
    flags = Flags(FLAGS.lines)
    with waiting_service(run.namespace, flags, port=8080):
        result = run(flags, [f.tcp(port=8080), f.tcp(port=80)])
    assert result.drops() == {"starting": 1}
    assert [frame[12:] for frame in result.frames] == [f.tcp(port=80)[12:]]
