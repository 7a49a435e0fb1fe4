"""Frames as a client's router sends them, and the same frames as zonelb should send them on."""

import struct

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import ICMPv6ND_NA, ICMPv6ND_NS, IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw, raw

OWN_MAC = "02:70:63:61:70:00"  # net_pcap's first port
GATEWAY_MAC = "02:aa:00:00:00:01"
INNER_MAC = "02:7a:6c:62:00:01"
OWN, OWN6 = "10.0.0.2", "2001:db8::2"
VIP, VIP6 = "10.0.0.80", "2001:db8::80"
CLIENT, CLIENT6 = "10.1.0.5", "2001:db8:1::5"
VNI, VXLAN_PORT = 1, 4789


def ether(vlan=None):
    header = Ether(src=GATEWAY_MAC, dst=OWN_MAC)
    return header if vlan is None else header / Dot1Q(vlan=vlan)


def ip(ipv6=False, source=None, destination=None, **fields):
    if ipv6:
        return IPv6(src=source or CLIENT6, dst=destination or VIP6, **fields)
    return IP(src=source or CLIENT, dst=destination or VIP, **fields)


def tcp(ipv6=False, port=80, source_port=40000, flags="S", payload=b"", vlan=None, **addresses):
    return bytes(raw(ether(vlan) / ip(ipv6, **addresses)
                     / TCP(sport=source_port, dport=port, flags=flags, seq=1000) / Raw(payload)))


def udp(ipv6=False, port=53, source_port=40000, payload=b"question", vlan=None, checksum=None, **addresses):
    return bytes(raw(ether(vlan) / ip(ipv6, **addresses)
                     / UDP(sport=source_port, dport=port, chksum=checksum) / Raw(payload)))


def padded(frame, length=60):
    """As a NIC pads what is shorter than Ethernet allows."""
    return frame + bytes(max(0, length - len(frame)))


def of_length(length, make, **options):
    """A frame of exactly `length` bytes."""
    return make(payload=bytes(length - len(make(payload=b"", **options))), **options)


def from_client(template, address, port):
    """The frame of another client, its address being a number; much faster than scapy. An IPv4 header's checksum is
    made right; zonelb does not look at TCP's and UDP's."""
    frame = bytearray(template)
    if frame[12:14] == b"\x86\xdd":
        frame[22:38] = address.to_bytes(16, "big")
        frame[54:56] = struct.pack("!H", port)
        return bytes(frame)
    frame[26:30] = struct.pack("!I", address)
    frame[34:36] = struct.pack("!H", port)
    frame[24:26] = b"\0\0"
    total = sum(struct.unpack("!10H", frame[14:34]))
    total = (total & 0xFFFF) + (total >> 16)
    frame[24:26] = struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF)
    return bytes(frame)


def redirected(frame, mac, own_mac=OWN_MAC):
    """L2_DSR: the MAC addresses change, nothing else."""
    return mac_bytes(mac) + mac_bytes(own_mac) + frame[12:]


def tagged(frame, vlan):
    """The same frame in another VLAN."""
    rest = frame[16:] if frame[12:14] == b"\x81\x00" else frame[12:]
    return frame[:12] + struct.pack("!HH", 0x8100, vlan) + rest


def mac_bytes(mac):
    return bytes.fromhex(mac.replace(":", ""))


def _inner(frame):
    """The IP packet of a frame, without padding."""
    packet = Ether(frame)
    layer = packet[IP] if IP in packet else packet[IPv6]
    length = layer.len if isinstance(layer, IP) else layer.plen + 40
    start = 18 if Dot1Q in packet else 14
    return layer, frame[start:start + length]


def _outer(frame, mac, destination, payload_protocol, actual, vlan):
    """Outer headers; what may differ from flow to flow or packet to packet (IPv4 identification, IPv6 flow label)
    is taken from the actual frame."""
    inner, _ = _inner(frame)
    traffic_class = inner.tos if isinstance(inner, IP) else inner.tc
    header = Ether(src=OWN_MAC, dst=mac)
    if vlan is not None:
        header = header / Dot1Q(vlan=vlan)
    seen = Ether(actual)
    if ":" in destination:
        label = seen[IPv6].fl if IPv6 in seen else 0
        return header / IPv6(src=OWN6, dst=destination, nh=payload_protocol, hlim=64, tc=traffic_class, fl=label)
    dont_fragment = isinstance(inner, IPv6) or inner.flags.DF
    return header / IP(src=OWN, dst=destination, proto=payload_protocol, ttl=64, tos=traffic_class,
                       flags="DF" if dont_fragment else 0, id=seen[IP].id if IP in seen else 0)


def ipip(frame, mac, destination, actual, vlan=None):
    inner, packet = _inner(frame)
    protocol = 4 if isinstance(inner, IP) else 41
    return bytes(raw(_outer(frame, mac, destination, protocol, actual, vlan) / Raw(packet)))


def vxlan(frame, mac, destination, actual, vlan=None, vni=VNI, port=VXLAN_PORT):
    inner, packet = _inner(frame)
    header = struct.pack("!II", 0x08000000, vni << 8)
    ethernet = mac_bytes(INNER_MAC) + mac_bytes(OWN_MAC) + struct.pack("!H", 0x0800 if isinstance(inner, IP) else 0x86DD)
    source_port = Ether(actual)[UDP].sport
    assert source_port >= 49152, "RFC 7348: a port of the dynamic range"
    # Over IPv4 the checksum is zero, over IPv6 it must be right: scapy computes it.
    outer_udp = UDP(sport=source_port, dport=port, chksum=None if ":" in destination else 0)
    return bytes(raw(_outer(frame, mac, destination, 17, actual, vlan) / outer_udp / Raw(header + ethernet + packet)))


def is_own_chatter(frame, own_mac=OWN_MAC):
    """What zonelb sends by itself: announcements of its addresses and questions for neighbours."""
    ip_at = 18 if frame[12:14] == b"\x81\x00" else 14
    kind = frame[ip_at - 2:ip_at]
    if kind != b"\x08\x06" and (kind != b"\x86\xdd" or frame[ip_at + 6] != 58):
        return False  # neither ARP nor ICMPv6: most frames, and scapy is slow
    packet = Ether(frame)
    if packet.src != own_mac:
        return False
    if ARP in packet:
        return packet[ARP].op == 1 or packet[ARP].psrc == packet[ARP].pdst
    return ICMPv6ND_NS in packet or (ICMPv6ND_NA in packet and packet[IPv6].dst == "ff02::1")
