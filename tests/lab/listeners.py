"""Health endpoints for TCP probes: a port that accepts, or refuses."""

import socket

from .socket_loop import SocketLoop


class TcpListeners(SocketLoop):
    """`listeners.up(address)`: probes of it pass from now on; `down(address)`: they are refused."""

    def __init__(self, namespace, port):
        super().__init__()
        self._namespace, self._port = namespace, port
        self._sockets = {}

    def up(self, *addresses):
        for address in addresses:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            listener = self._namespace.socket(family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, self._port))
            listener.listen(128)
            self._sockets[address] = listener
            self.watch(listener, None)

    def down(self, *addresses):
        for address in addresses:
            self.forget(self._sockets.pop(address))

    def receive(self, listener, _):
        listener.accept()[0].close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
