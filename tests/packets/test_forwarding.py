"""Whole frames, byte for byte: what comes out of zonelb for what goes in."""

import pytest
from scapy.layers.inet import ICMP, IPOption
from scapy.layers.inet6 import ICMPv6PacketTooBig

from lab.flags import Flags

from packets import frames as f
from packets.pcap import read_pcap, write_pcap
from packets.run import backend_address, backend_mac, decoder_complaints, port_flags, service_flags

VLANS = [None, 100]
INNER = pytest.mark.parametrize("ipv6", [False, True], ids=["inner4", "inner6"])
OUTER = pytest.mark.parametrize("ipv6_backend", [False, True], ids=["outer4", "outer6"])


def client_frames(ipv6, vlan=None):
    """One of each kind a client may send."""
    made = [f.tcp(ipv6, vlan=vlan),
            f.tcp(ipv6, source_port=40001, flags="PA", payload=b"GET / HTTP/1.1\r\n\r\n", vlan=vlan),
            f.tcp(ipv6, source_port=40002, flags="FA", vlan=vlan),
            f.udp(ipv6, vlan=vlan),
            f.udp(ipv6, source_port=40001, payload=b"", vlan=vlan),
            f.padded(f.udp(ipv6, source_port=40002, payload=b"", vlan=vlan)),
            f.of_length(1514 if vlan is None else 1518, lambda **options: f.tcp(ipv6, vlan=vlan, **options)),
            ]
    if not ipv6:
        made.append(f.udp(checksum=0, source_port=40003, vlan=vlan))
    return made


def assert_sound(run, frames):
    """tshark finds no bad checksum and nothing malformed."""
    path = f"{run.folder}/sound.pcap"
    write_pcap(path, frames)
    assert decoder_complaints(path, run.folder) == ""


@INNER
@pytest.mark.parametrize("vlan", VLANS)
def test_l2_dsr_changes_nothing_but_the_mac_addresses(run, ipv6, vlan):
    sent = client_frames(ipv6, vlan)
    result = run(port_flags(vlan=vlan) + service_flags(), sent)
    assert result.frames == [f.redirected(frame, backend_mac(1)) for frame in sent]
    assert result.drops() == {}
    assert_sound(run, result.frames)


@INNER
def test_a_port_without_vlan_leaves_each_frame_in_its_own(run, ipv6):
    sent = client_frames(ipv6, vlan=7) + client_frames(ipv6, vlan=8) + client_frames(ipv6)
    result = run(port_flags() + service_flags(), sent)
    assert result.frames == [f.redirected(frame, backend_mac(1)) for frame in sent]


SECOND_MAC = "02:70:63:61:70:01"


def through_two_ports(run, sent, mtu=1500, second_mtu=1500, vlan=None, **service):
    """What comes out of a second port, behind which the only backend is, and all else."""
    silent, given = f"{run.folder}/silent.pcap", f"{run.folder}/second.pcap"
    write_pcap(silent, [])
    flags = (port_flags(mtu=mtu) + service_flags(backends=0, **service)
             + Flags().port(name="net_pcap1", address="10.5.0.2/16", mtu=second_mtu, vlan=vlan)
             .backend(service="s", name="b", zone="zone-a", address="10.5.0.7", mac=backend_mac(7)))
    result = run(flags, sent, eal=f"-l 0-1 --vdev=net_pcap1,rx_pcap={silent},tx_pcap={given}")
    return [frame for frame in read_pcap(given) if not f.is_own_chatter(frame, SECOND_MAC)], result


@INNER
@pytest.mark.parametrize("came_in, port_vlan, leaves_in", [(None, 100, 100), (7, 100, 100), (7, None, 7)])
def test_a_frame_leaves_by_another_port_with_the_tag_of_that_port(run, ipv6, came_in, port_vlan, leaves_in):
    sent = client_frames(ipv6, came_in)
    received, result = through_two_ports(run, sent, vlan=port_vlan)
    assert received == [f.redirected(f.tagged(frame, leaves_in), backend_mac(7), SECOND_MAC) for frame in sent]
    assert (result.frames, result.drops()) == ([], {})


@INNER
def test_a_tunnel_leaves_by_another_port_with_the_tag_of_that_port(run, ipv6):
    sent = [f.tcp(ipv6, flags=flags) for flags in ("S", "A", "PA")]
    received, result = through_two_ports(run, sent, vlan=100, forwarding="IPIP")
    outer_headers = 18 + 20
    assert [frame[:18] for frame in received] == [bytes.fromhex(
        f"{backend_mac(7)}{SECOND_MAC}".replace(":", "") + "810000640800")] * len(sent)
    assert [frame[outer_headers:] for frame in received] == [frame[14:] for frame in sent], result.drops()


@INNER
def test_who_sends_too_much_for_the_other_port_is_told(run, ipv6):
    """In a known connection: its packets are looked at least."""
    small = [f.tcp(ipv6, flags=flags) for flags in ("S", "A", "A")]
    if ipv6:
        fits, large = (f.of_length(14 + length, lambda payload: f.tcp(True, flags="PA", payload=payload))
                       for length in (1400, 1401))
    else:
        fits, large = (f.of_length(14 + length, lambda payload: bytes(f.raw(
            f.ether() / f.ip(flags="DF") / f.TCP(sport=40000, dport=80, flags="PA") / f.Raw(payload))))
            for length in (1400, 1401))
    sent = [*small, large, fits]
    received, result = through_two_ports(run, sent, mtu=9000, second_mtu=1400)
    assert received == [f.redirected(frame, backend_mac(7), SECOND_MAC) for frame in (*small, fits)]
    assert result.drops() == {"too_big": 1}
    answer, = map(f.Ether, result.frames)
    assert answer[ICMPv6PacketTooBig].mtu == 1400 if ipv6 else answer[ICMP].nexthopmtu == 1400


@INNER
@OUTER
@pytest.mark.parametrize("vlan", VLANS)
@pytest.mark.parametrize("forwarding", ["IPIP", "VXLAN"])
def test_tunnels_wrap_the_packet_untouched(run, forwarding, ipv6_backend, ipv6, vlan):
    wrap = {"IPIP": f.ipip, "VXLAN": f.vxlan}[forwarding]
    sent = client_frames(ipv6, vlan)
    flags = port_flags(vlan=vlan, mtu=1600) + service_flags(forwarding=forwarding, ipv6_backends=ipv6_backend)
    result = run(flags, sent)
    assert len(result.frames) == len(sent), result.drops()
    for before, after in zip(sent, result.frames):
        assert after == wrap(before, backend_mac(1), backend_address(1, ipv6_backend), after, vlan)
    assert_sound(run, result.frames)


@INNER
@OUTER
def test_tunnels_copy_dscp_and_ecn(run, ipv6, ipv6_backend):
    traffic_class = {"tc": 0xBA} if ipv6 else {"tos": 0xBA}
    frame = bytes(f.raw(f.ether() / f.ip(ipv6, **traffic_class) / f.UDP(sport=1, dport=53) / b"x"))
    result = run(port_flags() + service_flags(forwarding="IPIP", ipv6_backends=ipv6_backend), [frame])
    assert result.frames == [f.ipip(frame, backend_mac(1), backend_address(1, ipv6_backend), result.frames[0])]


def test_outer_udp_ports_spread_flows_and_keep_each_flow_together(run):
    sent = [f.udp(source_port=port) for port in range(40000, 40100)] * 2
    result = run(port_flags() + service_flags(forwarding="VXLAN"), sent)
    outer_ports = {}  # by the flow's own
    for frame in result.frames:
        inner = f.Ether(f.Ether(frame)[f.UDP].payload.load[8:])
        outer_ports.setdefault(inner[f.UDP].sport, []).append(f.Ether(frame)[f.UDP].sport)
    assert sorted(outer_ports) == list(range(40000, 40100))
    assert all(len(ports) == 2 and ports[0] == ports[1] for ports in outer_ports.values())
    assert len({ports[0] for ports in outer_ports.values()}) > 80


@pytest.mark.parametrize("vni,port", [(0xABCDEF, 8472), (77, 4789)])
def test_vxlan_number_and_port_are_flags(run, vni, port):
    frame = f.tcp()
    result = run(port_flags() + service_flags(forwarding="VXLAN", vxlan_vni=vni, vxlan_port=port), [frame])
    assert result.frames == [f.vxlan(frame, backend_mac(1), backend_address(1), result.frames[0], vni=vni, port=port)]


@INNER
@pytest.mark.parametrize("length", [60, 61, 64, 1514, 9000, 9014])
def test_frame_lengths_from_the_shortest_to_jumbo(run, length, ipv6):
    frame = f.udp(ipv6, payload=b"")
    frame = f.padded(frame, length) if length == 60 else f.of_length(max(length, 62 if ipv6 else 60),
                                                                     lambda **options: f.udp(ipv6, **options))
    result = run(port_flags(mtu=9000) + service_flags(), [frame])
    assert result.frames == [f.redirected(frame, backend_mac(1))]
    assert_sound(run, result.frames)


@INNER
@OUTER
@pytest.mark.parametrize("came_in, leaves_in", [(7, 7), (0, None)], ids=["tag", "priority tag"])
@pytest.mark.parametrize("forwarding", ["IPIP", "VXLAN"])
def test_a_port_without_vlan_puts_the_tag_in_front_of_the_tunnel(run, forwarding, came_in, leaves_in, ipv6_backend,
                                                                 ipv6):
    """VLAN 0 is none (IEEE 802.1Q 6.9)."""
    wrap = {"IPIP": f.ipip, "VXLAN": f.vxlan}[forwarding]
    sent = client_frames(ipv6, came_in)
    result = run(port_flags(mtu=1600) + service_flags(forwarding=forwarding, ipv6_backends=ipv6_backend), sent)
    assert len(result.frames) == len(sent), result.drops()
    for before, after in zip(sent, result.frames):
        assert after == wrap(before, backend_mac(1), backend_address(1, ipv6_backend), after, leaves_in)


@INNER
@OUTER
@pytest.mark.parametrize("forwarding", ["IPIP", "VXLAN"])
def test_jumbo_frames_through_tunnels(run, forwarding, ipv6_backend, ipv6):
    wrap = {"IPIP": f.ipip, "VXLAN": f.vxlan}[forwarding]
    frame = f.of_length(9000, lambda **options: f.tcp(ipv6, flags="PA", **options))
    result = run(port_flags(mtu=9200) + service_flags(forwarding=forwarding, ipv6_backends=ipv6_backend), [frame])
    assert result.frames == [wrap(frame, backend_mac(1), backend_address(1, ipv6_backend), result.frames[0])]
    assert_sound(run, result.frames)


@OUTER
@pytest.mark.parametrize("forwarding, beyond_ip", [("IPIP", 0), ("VXLAN", 8 + 8 + 14)])
def test_who_sends_too_much_for_the_tunnel_is_told(run, forwarding, beyond_ip, ipv6_backend):
    """RFC 1191, RFC 8201: the sender learns what fits, if it asked (DF) or is an IPv6 host."""
    fits = 1500 - (40 if ipv6_backend else 20) - beyond_ip
    large4 = f.of_length(1514, lambda payload: bytes(f.raw(
        f.ether() / f.ip(flags="DF") / f.TCP(sport=1, dport=80) / f.Raw(payload))))
    large6 = f.of_length(1514, lambda payload: f.tcp(True, payload=payload))
    result = run(port_flags() + service_flags(forwarding=forwarding, ipv6_backends=ipv6_backend), [large4, large6])
    assert result.drops() == {"too_big": 2}
    answer4, answer6 = map(f.Ether, result.frames)
    assert (answer4.dst, answer4[f.IP].src, answer4[f.IP].dst) == (f.GATEWAY_MAC, f.OWN, f.CLIENT)
    assert (answer4[ICMP].type, answer4[ICMP].code, answer4[ICMP].nexthopmtu) == (3, 4, fits)
    assert bytes(answer4[ICMP].payload)[:28] == large4[14:42]
    assert (answer6.dst, answer6[f.IPv6].src, answer6[f.IPv6].dst) == (f.GATEWAY_MAC, f.OWN6, f.CLIENT6)
    assert answer6[ICMPv6PacketTooBig].mtu == fits
    assert bytes(answer6[ICMPv6PacketTooBig].payload)[:48] == large6[14:62]
    assert_sound(run, result.frames)


def test_ipv4_options_do_not_shift_the_ports(run):
    frame = bytes(f.raw(f.ether() / f.ip(options=[("NOP"), ("NOP"), ("NOP"), ("NOP")])
                        / f.UDP(sport=4000, dport=53) / b"x"))
    result = run(port_flags() + service_flags(), [frame])
    assert result.frames == [f.redirected(frame, backend_mac(1))]


def test_ipv6_extension_headers_are_walked(run):
    from scapy.layers.inet6 import IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop
    frame = bytes(f.raw(f.ether() / f.ip(True) / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt()
                        / f.UDP(sport=4000, dport=53) / b"x"))
    result = run(port_flags() + service_flags(), [frame])
    assert result.frames == [f.redirected(frame, backend_mac(1))]


def test_ttl_is_not_decremented(run):
    sent = [bytes(f.raw(f.ether() / f.ip(ttl=1) / f.UDP(sport=1, dport=53) / b"x")),
            bytes(f.raw(f.ether() / f.ip(True, hlim=1) / f.UDP(sport=1, dport=53) / b"x"))]
    result = run(port_flags() + service_flags(), sent)
    assert result.frames == [f.redirected(frame, backend_mac(1)) for frame in sent]


def test_padding_does_not_enter_a_tunnel(run):
    frame = f.padded(f.udp(payload=b""))
    assert len(frame) == 60
    result = run(port_flags() + service_flags(forwarding="IPIP"), [frame])
    assert len(result.frames[0]) == 14 + 20 + 20 + 8


def test_segments_of_a_connection_follow_its_first(run):
    """Eight connections, their segments interleaved."""
    sent = [f.tcp(source_port=40000 + flow, flags=flags) for flags in ("S", "A", "PA", "A", "FA") for flow in range(8)]
    result = run(port_flags() + service_flags(backends=5), sent)
    chosen = [frame[:6] for frame in result.frames]
    assert len(chosen) == len(sent)
    assert all(chosen[at] == chosen[at % 8] for at in range(len(chosen)))
    assert len(set(chosen)) > 1


@INNER
def test_a_syn_of_an_established_connection_begins_a_new_one(run, ipv6):
    """The client has forgotten the old one (semantics.md section 4); a SYN that is repeated is no second one."""
    # So many of another connection that the SYN comes in another burst.
    others = [f.tcp(ipv6, source_port=40001, flags=flags) for flags in ["S"] + 80 * ["A"]]
    sent = [*(f.tcp(ipv6, flags=flags) for flags in ("S", "S", "A", "PA", "A")), *others,
            *(f.tcp(ipv6, flags=flags) for flags in ("S", "A", "A"))]
    result = run(port_flags() + service_flags(backends=3), sent)
    assert len(result.frames) == len(sent)
    assert result.metrics.sum("zonelb_new_connections_total") == 3


@pytest.mark.parametrize("connections", ["64k", "16"])
@INNER
def test_packets_of_one_flow_keep_their_order_whatever_surrounds_them(run, ipv6, connections):
    """Known and new flows, frames to be read at sight and others (IP options, a tag) share bursts. All are long
    enough to be read at sight. The smaller table has no room for all flows."""
    options = {} if ipv6 else {"options": [IPOption(b"\x01\x01\x01\x00")]}

    def numbered(flow, number):
        unusual = {"vlan": 0} if number % 3 == 1 else {}
        return f.udp(ipv6, source_port=41000 + flow, payload=number.to_bytes(4, "big") + bytes(20), **unusual,
                     **(options if number % 3 == 2 else {}))

    # A flow after the other begins, so that each burst holds known ones and new ones.
    sent = [numbered(flow, number) for number in range(120) for flow in range(number // 5 + 1)]
    result = run(port_flags(connections=connections) + service_flags(ipv6_backends=ipv6), sent)
    assert len(result.frames) == len(sent), result.drops()
    seen = {}
    for frame in result.frames:
        datagram = f.Ether(frame)[f.UDP]
        seen.setdefault(datagram.sport, []).append(int.from_bytes(datagram.payload.load[:4], "big"))
    assert len(seen) == 24
    assert all(numbers == sorted(numbers) for numbers in seen.values())


@INNER
def test_bursts_of_both_families_begin_with_either(run, ipv6):
    """The family of its first frame decides what is read first in a burst, and nothing else."""
    def burst(first):
        sources = range(41000 + first, 41000 + first + 64)
        return [f.tcp(ipv6 if number % 4 == 0 else not ipv6, source_port=source, vlan=7 if number % 4 == 3 else None)
                for number, source in enumerate(sources)]

    sent = burst(0) + burst(64) + burst(0)
    result = run(port_flags() + service_flags(), sent)
    assert result.drops() == {}
    for family in (b"\x08\x00", b"\x86\xdd"):
        def of_family(frames):
            return [frame for frame in frames if family in (frame[12:14], frame[16:18])]
        assert of_family(result.frames) == [f.redirected(frame, backend_mac(1)) for frame in of_family(sent)]
    assert result.metrics.one("zonelb_connection_table_entries") == 128
    assert len(result.frames) == len(sent)


@pytest.mark.long
def test_a_table_for_fifty_million_connections(run):
    sent = [f.tcp(source_port=port) for port in range(1024, 2024)]
    result = run(port_flags(connections="50M") + service_flags(backends=3), sent + sent)
    assert result.metrics.one("zonelb_connection_table_capacity", family="ipv4") >= 50_000_000
    assert result.metrics.one("zonelb_connection_table_entries") == len(sent)
    assert len(result.frames) == 2 * len(sent)
