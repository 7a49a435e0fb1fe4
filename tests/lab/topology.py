"""The test network. Clients of three zones reach a server network through a router; zonelb sits in that network on
one port ("on a stick"); backends answer clients directly.

    client-a 10.1.0.0/16 ──┐            ┌── zonelb 10.0.0.2 (its kernel probes from 10.0.0.3)
    client-b 10.2.0.0/16 ──┤ router     ├── a1 10.0.1.11, a2 10.0.1.12        zone-a
    client-c 10.3.0.0/16 ──┘ 10.0.0.1 ──┤── b1 10.0.2.11, b2 …  c1 … c2 …     zone-b, zone-c
                             (bridge)   └── f1 10.0.1.21, f2 10.0.2.21        failover, zones a and b

The same in IPv6: 2001:db8:1::/48 … clients, 2001:db8:0:0::/64 servers. A client owns every address of its network.
"""

import os
from dataclasses import dataclass

from . import cleanup
from .namespace import Namespace, join, remove_abandoned, run
from .servers import Nginx

ZONES = ("a", "b", "c")
VIP, VIP6 = "10.0.0.80", "2001:db8::80"
APPLIANCE, APPLIANCE6 = "10.0.0.2", "2001:db8::2"
PROBE_SOURCE, PROBE_SOURCE6 = "10.0.0.3", "2001:db8::3"
ROUTER, ROUTER6 = "10.0.0.1", "2001:db8::1"
DATA_DEVICE = "data0"
VXLAN_INNER_MAC = "02:7a:6c:62:00:01"
_QUIET = {"net__ipv6__conf__all__accept_ra": 0, "net__ipv6__conf__default__accept_dad": 0,
          "net__ipv4__conf__all__rp_filter": 0, "net__ipv4__conf__default__rp_filter": 0}


@dataclass(frozen=True)
class Place:
    """A backend's place: zone number and host number give its addresses."""
    name: str
    zone: str
    failover: bool
    host: int

    @property
    def number(self):
        return ZONES.index(self.zone) + 1

    @property
    def address(self):
        return f"10.0.{self.number}.{self.host}"

    @property
    def address6(self):
        return f"2001:db8::{self.number}:{self.host}"

    @property
    def mac(self):
        return f"02:00:00:00:{self.number:02x}:{self.host:02x}"


PRIMARIES = tuple(Place(f"{zone}{n}", zone, False, 10 + n) for zone in ZONES for n in (1, 2))
FAILOVERS = (Place("f1", "a", True, 21), Place("f2", "b", True, 21))


class Client:
    def __init__(self, lab, zone):
        number = ZONES.index(zone) + 1
        self.zone = zone
        self.network, self.network6 = f"10.{number}.0.0/16", f"2001:db8:{number}::/48"
        self.address, self.address6 = f"10.{number}.0.5", f"2001:db8:{number}::5"
        self.namespace = lab.namespace(f"client-{zone}")
        join(self.namespace, "eth0", lab.router, f"client-{zone}")
        lab.router.ip(f"addr add 192.168.{number}.1/30 dev client-{zone}",
                      f"addr add fd00:{number}::1/64 dev client-{zone} nodad",
                      f"route add {self.network} via 192.168.{number}.2",
                      f"route add {self.network6} via fd00:{number}::2")
        self.namespace.sysctl(**_QUIET, net__ipv4__ip_nonlocal_bind=1, net__ipv6__ip_nonlocal_bind=1)
        self.namespace.ip(f"addr add 192.168.{number}.2/30 dev eth0",
                          f"addr add fd00:{number}::2/64 dev eth0 nodad",
                          f"addr add {self.address}/32 dev lo", f"addr add {self.address6}/128 dev lo nodad",
                          f"route add local {self.network} dev lo", f"route add local {self.network6} dev lo",
                          f"route add default via 192.168.{number}.1 src {self.address}",
                          f"route add default via fd00:{number}::1 src {self.address6}")
        _software_checksums(self.namespace, "eth0")

    def source(self, n, ipv6=False):
        """The n-th address of this client's network, from 1."""
        number = ZONES.index(self.zone) + 1
        return f"2001:db8:{number}::1:{n:x}" if ipv6 else f"10.{number}.{1 + n // 250}.{1 + n % 250}"


class Backend:
    def __init__(self, lab, place):
        self.place = place
        self.name = place.name
        self.namespace = lab.namespace(place.name)
        join(self.namespace, "eth0", lab.router, f"to-{place.name}")
        lab.router.ip(f"link set to-{place.name} master servers")
        self.namespace.sysctl(**_QUIET, net__ipv4__conf__all__arp_ignore=1, net__ipv4__conf__all__arp_announce=2)
        self.namespace.ip(f"link set eth0 address {place.mac}",
                          f"addr add {place.address}/16 dev eth0", f"addr add {place.address6}/64 dev eth0 nodad",
                          f"addr add {VIP}/32 dev lo", f"addr add {VIP6}/128 dev lo nodad",
                          f"route add default via {ROUTER}", f"route add default via {ROUTER6}")
        _software_checksums(self.namespace, "eth0")
        self.nginx = Nginx(self.namespace, place.name, lab.folder)

    def receive_vxlan(self, vni=1, port=4789):
        """Interfaces that take VXLAN over IPv4 and over IPv6 to this host."""
        for device, local in (("vxlan4", self.place.address), ("vxlan6", self.place.address6)):
            self.namespace.ip(f"link add {device} address {VXLAN_INNER_MAC} type vxlan id {vni} dstport {port} "
                              f"dev eth0 local {local} nolearning udp6zerocsumrx", f"link set {device} up")


class Lab:
    """All of it, up. Names of namespaces begin with the prefix; `with Lab(prefix, folder) as lab:`."""

    def __init__(self, prefix, folder, places=PRIMARIES + FAILOVERS):
        self.prefix, self.folder = prefix, folder
        os.chmod(folder, 0o755)
        self.namespaces = []
        self._undo = cleanup.at_end(self.remove)
        self.router = self.namespace("router")
        self._set_up_router()
        self.appliance = self.namespace("zonelb")
        self._set_up_appliance()
        self.clients = {zone: Client(self, zone) for zone in ZONES}
        self.backends = {place.name: Backend(self, place) for place in places}
        for backend in self.backends.values():
            backend.nginx.wait_listening()

    def namespace(self, name):
        made = Namespace(f"{self.prefix}{name}")
        self.namespaces.append(made)
        return made

    def _set_up_router(self):
        self.router.sysctl(**_QUIET, net__ipv4__ip_forward=1, net__ipv6__conf__all__forwarding=1)
        self.router.ip("link add servers address 02:00:00:00:00:01 type bridge mcast_snooping 0",
                       "link set servers up",
                       f"addr add {ROUTER}/16 dev servers", f"addr add {ROUTER6}/64 dev servers nodad")

    def _set_up_appliance(self):
        here = self.appliance
        here.sysctl(**_QUIET, net__ipv4__conf__all__arp_ignore=1)
        for device, peer in ((DATA_DEVICE, "to-zonelb"), ("probe0", "to-probe")):
            join(here, device, self.router, peer)
            self.router.ip(f"link set {peer} master servers")
        here.sysctl(**{f"net__ipv6__conf__{DATA_DEVICE}__disable_ipv6": 1})
        here.ip(f"link set {DATA_DEVICE} address 02:00:00:00:00:02",
                f"addr add {PROBE_SOURCE}/16 dev probe0", f"addr add {PROBE_SOURCE6}/64 dev probe0 nodad")
        _software_checksums(here, "probe0")
        _software_checksums(self.router, "servers")

    def remove(self):
        cleanup.forget(self._undo)
        for backend in getattr(self, "backends", {}).values():
            backend.nginx.stop()
        for namespace in self.namespaces:
            namespace.remove()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def keep(self):
        """It stays up when this program ends."""
        cleanup.forget(self._undo)
        for backend in self.backends.values():
            backend.nginx.process.detach()
        for namespace in self.namespaces:
            namespace.keep()

    def all_healthy(self):
        for backend in self.backends.values():
            backend.nginx.healthy()


def _software_checksums(namespace, device):
    """af_packet hands on a sender's unfinished checksums: they must be finished before."""
    namespace.run("ethtool", "-K", device, "tx", "off")


def lab_for_this_run(folder):
    """A lab whose names no other run uses; remains of runs that were killed go first."""
    remove_abandoned("zonelb")
    return Lab(f"zonelb-{os.getpid()}-", folder)
