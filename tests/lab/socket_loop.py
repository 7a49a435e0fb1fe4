"""One thread of this program that serves many sockets."""

import selectors
import threading

from . import cleanup


class SocketLoop:
    """Calls `receive(socket, data)` of a subclass whenever one of its sockets has something to read."""

    def __init__(self):
        self._selector = selectors.DefaultSelector()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._undo = cleanup.at_end(self.stop)

    def watch(self, sock, data):
        sock.setblocking(False)
        self._selector.register(sock, selectors.EVENT_READ, data)

    def forget(self, sock):
        self._selector.unregister(sock)
        sock.close()

    def _run(self):
        while not self._stopping.is_set():
            for key, _ in self._selector.select(timeout=0.1):
                try:
                    while True:
                        self.receive(key.fileobj, key.data)
                except OSError:
                    continue

    def stop(self):
        cleanup.forget(self._undo)
        self._stopping.set()
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()
