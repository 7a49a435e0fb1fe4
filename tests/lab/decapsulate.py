"""IP-in-IP for kernels without it: raw sockets take the outer packets, a TUN device receives the inner ones."""

import fcntl
import os
import socket
import struct

from .socket_loop import SocketLoop

_TUNSETIFF = 0x400454CA
_IFF_TUN_NO_PI = 0x0001 | 0x1000
_IPV4_IN = 4
_IPV6_IN = 41


def _tun(namespace, device):
    with namespace.entered():
        descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
        fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH22x", device.encode(), _IFF_TUN_NO_PI))
    namespace.ip(f"link set {device} up")
    return descriptor


class IpipDecapsulators(SocketLoop):
    """add(namespace): 4in4, 6in4, 4in6 and 6in6 packets to that host reach its stack without their outer header."""

    def __init__(self):
        super().__init__()
        self._tuns = []

    def add(self, namespace, device="ipip0"):
        tun = _tun(namespace, device)
        self._tuns.append(tun)
        for family in (socket.AF_INET, socket.AF_INET6):
            for protocol in (_IPV4_IN, _IPV6_IN):
                outer = namespace.socket(family, socket.SOCK_RAW, protocol)
                outer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
                self.watch(outer, tun)

    def receive(self, outer, tun):
        packet = outer.recv(65536)
        if outer.family == socket.AF_INET:  # comes with its outer header; IPv6 without
            packet = packet[(packet[0] & 15) * 4:]
        os.write(tun, packet)

    def stop(self):
        super().stop()
        for tun in self._tuns:
            os.close(tun)
