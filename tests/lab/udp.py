"""UDP: servers that answer with their host's name, all in one thread of this program."""

import socket

from .socket_loop import SocketLoop


class UdpServers(SocketLoop):
    """add(namespace, name, address, port): from then on each datagram there is answered with the name."""

    def add(self, namespace, name, address, port):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        server = namespace.socket(family, socket.SOCK_DGRAM)
        server.bind((address, port))
        self.watch(server, name.encode())

    def receive(self, server, name):
        _, client = server.recvfrom(65536)
        server.sendto(name, client)


def ask(namespace, address, port, source=None, source_port=0, timeout=2.0, tries=1):
    """The name that answers a datagram; None when nobody does."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with namespace.socket(family, socket.SOCK_DGRAM) as client:
        if source or source_port:
            client.bind((source or ("::" if family == socket.AF_INET6 else "0.0.0.0"), source_port))
        client.settimeout(timeout)
        client.connect((address, port))
        for _ in range(tries):
            client.send(b"who?")
            try:
                return client.recv(1000).decode()
            except OSError:
                continue
    return None
