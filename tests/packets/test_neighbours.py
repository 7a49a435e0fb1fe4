"""ARP, neighbour discovery and echo: what zonelb answers and asks by itself."""

import pytest
from scapy.layers.inet import ICMP
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr

from lab.flags import Flags

from packets import frames as f
from packets.run import backend_address, port_flags, service_flags
from packets.test_forwarding import assert_sound

ASKER, ASKER6, ASKER_MAC = "10.0.0.9", "2001:db8::9", "02:cc:00:00:00:09"


def arp_request(address, vlan=None):
    header = f.Ether(src=ASKER_MAC, dst="ff:ff:ff:ff:ff:ff")
    header = header if vlan is None else header / f.Dot1Q(vlan=vlan)
    return bytes(f.raw(header / f.ARP(op=1, hwsrc=ASKER_MAC, psrc=ASKER, hwdst="00:00:00:00:00:00", pdst=address)))


def solicitation(address):
    group = "ff02::1:ff" + address[-2:].rjust(6, "0")[:2] + ":" + address.rsplit(":", 1)[1].rjust(4, "0")
    mac = "33:33:ff:00:00:" + address.rsplit(":", 1)[1].rjust(2, "0")
    return bytes(f.raw(f.Ether(src=ASKER_MAC, dst=mac) / f.IPv6(src=ASKER6, dst=group, hlim=255)
                       / f.ICMPv6ND_NS(tgt=address) / ICMPv6NDOptSrcLLAddr(lladdr=ASKER_MAC)))


@pytest.mark.parametrize("vlan", [None, 100])
@pytest.mark.parametrize("address", [f.OWN, f.VIP])
def test_arp_is_answered(run, address, vlan):
    result = run(port_flags(vlan=vlan) + service_flags(), [arp_request(address, vlan)])
    answers = [f.Ether(frame) for frame in result.frames]
    assert len(answers) == 1
    arp = answers[0][f.ARP]
    assert (arp.op, arp.hwsrc, arp.psrc, arp.hwdst, arp.pdst) == (2, f.OWN_MAC, address, ASKER_MAC, ASKER)
    assert answers[0].dst == ASKER_MAC and (f.Dot1Q in answers[0]) == (vlan is not None)


def test_arp_for_others_is_not_answered(run):
    assert run(port_flags() + service_flags(), [arp_request("10.0.0.77")]).frames == []


def test_of_two_ports_only_that_of_the_network_answers(run):
    flags = port_flags() + service_flags() + Flags().port(
        name="net_null0", address="10.5.0.2/16", address6="2001:db8:5::2/64")
    flags.forwarding_rule(name="there", address="10.5.0.80", protocol="TCP", ports=[80], backend_service="s")
    flags.forwarding_rule(name="there6", address="2001:db8:5::80", protocol="TCP", ports=[80], backend_service="s")
    flags.forwarding_rule(name="nowhere", address="192.0.2.80", protocol="TCP", ports=[80], backend_service="s")
    asked = [arp_request("10.5.0.80"), arp_request("10.5.0.2"), solicitation("2001:db8:5::80"),
             arp_request("192.0.2.80")]
    result = run(flags, asked, eal="-l 0-1 --vdev=net_null0,no-rx=1")
    assert [f.Ether(frame)[f.ARP].psrc for frame in result.frames] == ["192.0.2.80"]
    assert result.drops() == {"not_ours": 3}


@pytest.mark.parametrize("address", [f.OWN6, f.VIP6])
def test_neighbour_solicitation_is_answered_with_the_link_layer_address(run, address):
    result = run(port_flags() + service_flags(), [solicitation(address)])
    assert len(result.frames) == 1
    answer = f.Ether(result.frames[0])
    advertisement = answer[f.ICMPv6ND_NA]
    assert advertisement.tgt == address and advertisement.S == 1
    assert answer[ICMPv6NDOptDstLLAddr].lladdr == f.OWN_MAC
    assert (answer.dst, answer[f.IPv6].dst, answer[f.IPv6].hlim) == (ASKER_MAC, ASKER6, 255)
    assert_sound(run, result.frames)


def test_vips_are_announced_at_start(run):
    chatter = [f.Ether(frame) for frame in run(port_flags() + service_flags(), [f.tcp()], sent=3).chatter]
    assert f.VIP in [packet[f.ARP].psrc for packet in chatter
                     if f.ARP in packet and packet[f.ARP].psrc == packet[f.ARP].pdst]
    assert f.VIP6 in [packet[f.ICMPv6ND_NA].tgt for packet in chatter if f.ICMPv6ND_NA in packet]


def test_a_backend_without_mac_is_asked_for(run):
    chatter = [f.Ether(frame) for frame in run(port_flags() + service_flags(mac=False), [f.tcp()], sent=2).chatter]
    asked = [packet for packet in chatter if f.ARP in packet and packet[f.ARP].pdst == backend_address(1)]
    assert asked and asked[0][f.ARP].psrc == f.OWN and asked[0].dst == "ff:ff:ff:ff:ff:ff"


def test_a_confirmation_without_link_layer_address_is_heard(run):
    """The answer to a unicast solicitation may leave the option out (RFC 4861 7.2.4)."""
    answer = bytes(f.raw(f.Ether(src="02:00:00:00:00:0b", dst=f.OWN_MAC)
                         / f.IPv6(src=backend_address(1, True), dst=f.OWN6, hlim=255)
                         / f.ICMPv6ND_NA(tgt=backend_address(1, True), R=0, S=1, O=0)))
    result = run(port_flags() + service_flags(ipv6_backends=True), [answer])
    assert result.drops() == {}
    assert result.metrics.one("zonelb_local_packets_total", kind="nd") == 1


@pytest.mark.parametrize("size", [0, 1, 56, 1472])
@pytest.mark.parametrize("address", [f.VIP, f.OWN])
def test_echo_is_answered(run, address, size):
    payload = bytes(range(256))[:size] if size < 256 else bytes(size)
    ask = bytes(f.raw(f.ether() / f.ip(destination=address) / ICMP(type=8, id=7, seq=9) / f.Raw(payload)))
    result = run(port_flags() + service_flags(), [ask])
    assert len(result.frames) == 1
    answer = f.Ether(result.frames[0])
    assert (answer.dst, answer.src) == (f.GATEWAY_MAC, f.OWN_MAC)
    assert (answer[f.IP].src, answer[f.IP].dst) == (address, f.CLIENT)
    assert (answer[ICMP].type, answer[ICMP].id, answer[ICMP].seq) == (0, 7, 9)
    assert bytes(answer[ICMP].payload) == payload
    assert_sound(run, result.frames)


@pytest.mark.parametrize("address", [f.VIP6, f.OWN6])
def test_echo6_is_answered(run, address):
    ask = bytes(f.raw(f.ether() / f.ip(True, destination=address) / ICMPv6EchoRequest(id=7, seq=9, data=b"payload")))
    result = run(port_flags() + service_flags(), [ask])
    assert len(result.frames) == 1
    answer = f.Ether(result.frames[0])
    assert (answer.dst, answer[f.IPv6].src, answer[f.IPv6].dst) == (f.GATEWAY_MAC, address, f.CLIENT6)
    reply = answer[ICMPv6EchoReply]
    assert (reply.id, reply.seq, reply.data) == (7, 9, b"payload")
    assert_sound(run, result.frames)
