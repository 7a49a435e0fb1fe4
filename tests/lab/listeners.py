"""Health endpoints for TCP probes, all in one thread of this program: a port that accepts, or refuses."""

import selectors
import socket
import threading

from . import cleanup


class TcpListeners:
    """`listeners.up(address)`: probes of it pass from now on; `down(address)`: they are refused."""

    def __init__(self, namespace, port):
        self._namespace, self._port = namespace, port
        self._selector = selectors.DefaultSelector()
        self._sockets = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()
        self._undo = cleanup.at_end(self.stop)

    def up(self, *addresses):
        for address in addresses:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            listener = self._namespace.socket(family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, self._port))
            listener.listen(128)
            listener.setblocking(False)
            with self._lock:
                self._sockets[address] = listener
                self._selector.register(listener, selectors.EVENT_READ)

    def down(self, *addresses):
        for address in addresses:
            with self._lock:
                listener = self._sockets.pop(address)
                self._selector.unregister(listener)
                listener.close()

    def _accept(self):
        while not self._stopping.wait(0.02):
            with self._lock:
                for key, _ in self._selector.select(timeout=0):
                    try:
                        key.fileobj.accept()[0].close()
                    except OSError:
                        continue

    def stop(self):
        cleanup.forget(self._undo)
        self._stopping.set()
        self._thread.join()
        self.down(*list(self._sockets))
        self._selector.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
