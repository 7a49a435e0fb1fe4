"""UDP: servers that answer with their host's name, all in one thread of this program."""

import selectors
import socket
import threading

from . import cleanup


class UdpServers:
    """add(namespace, name, address, port): from then on each datagram there is answered with the name."""

    def __init__(self):
        self._selector = selectors.DefaultSelector()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        self._undo = cleanup.at_end(self.stop)

    def add(self, namespace, name, address, port):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        server = namespace.socket(family, socket.SOCK_DGRAM)
        server.bind((address, port))
        server.setblocking(False)
        self._selector.register(server, selectors.EVENT_READ, name.encode())

    def _serve(self):
        while not self._stopping.is_set():
            for key, _ in self._selector.select(timeout=0.1):
                try:
                    while True:
                        _, client = key.fileobj.recvfrom(65536)
                        key.fileobj.sendto(key.data, client)
                except OSError:
                    continue

    def stop(self):
        cleanup.forget(self._undo)
        self._stopping.set()
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()


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
