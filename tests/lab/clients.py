"""Clients that ask over HTTP who answers, and say when each of them was answered by whom."""

import asyncio
import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from .servers import DOWNLOAD
from .topology import VIP


@dataclass
class Visit:
    """One connection: who answered each of its requests, or what went wrong."""
    source: tuple = ()
    started: float = 0.0
    ended: float = 0.0
    answers: list = field(default_factory=list)
    error: str = ""


def _tcp_socket(namespace, address, source, source_port):
    ipv6 = ":" in address
    made = namespace.socket(socket.AF_INET6 if ipv6 else socket.AF_INET, socket.SOCK_STREAM)
    made.setblocking(False)
    if source or source_port:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((source or ("::" if ipv6 else "0.0.0.0"), source_port))
    return made


async def _request(loop, connection, address):
    host = f"[{address}]" if ":" in address else address
    await loop.sock_sendall(connection, f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer or not answer.endswith(b"\n"):
        part = await loop.sock_recv(connection, 4096)
        if not part:
            raise ConnectionError("closed by the server")
        answer += part
    return answer.rpartition(b"\r\n\r\n")[2].decode().strip()


async def _visit(namespace, address, port, source, source_port, requests, pause, timeout):
    visit = Visit(started=time.monotonic())
    loop = asyncio.get_running_loop()
    with _tcp_socket(namespace, address, source, source_port) as connection:
        async def converse():
            await loop.sock_connect(connection, (address, port))
            visit.source = connection.getsockname()[:2]
            for number in range(requests):
                if number:
                    await asyncio.sleep(pause)
                visit.answers.append(await _request(loop, connection, address))
        try:
            await asyncio.wait_for(converse(), timeout + requests * pause)
        except (OSError, asyncio.TimeoutError) as error:
            visit.error = repr(error)
    visit.ended = time.monotonic()
    return visit


def visits(namespace, count, address=VIP, port=80, sources=None, source_ports=None, requests=1, pause=0.0,
           concurrency=32, rate=None, timeout=5.0, stop=None):
    """`count` connections, each with `requests` requests `pause` seconds apart; at most `concurrency` at a time and
    `rate` begun a second; `stop` (an Event) ends it early. Sources and ports are taken in turn."""
    async def all_of_them():
        gate = asyncio.Semaphore(concurrency)
        begin = time.monotonic()

        async def one(number):
            async with gate:
                if stop and stop.is_set():
                    return None
                if rate:
                    await asyncio.sleep(max(0.0, begin + number / rate - time.monotonic()))
                return await _visit(namespace, address, port,
                                    sources[number % len(sources)] if sources else None,
                                    source_ports[number % len(source_ports)] if source_ports else 0,
                                    requests, pause, timeout)
        return [visit for visit in await asyncio.gather(*map(one, range(count))) if visit]
    return asyncio.run(all_of_them())


def tally(client, count, **options):
    """Who answered `count` new connections of a client; errors count under their text."""
    seen = visits(client.namespace, count, **options)
    return Counter(visit.error or visit.answers[0] for visit in seen)


def endpoint(address, port):
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


class Background(threading.Thread):
    """visits(...) beside the test; result() waits for them."""

    def __init__(self, *arguments, **options):
        super().__init__(daemon=True)
        self._call = lambda: visits(*arguments, **options)
        self._result = None
        self.start()

    def run(self):
        self._result = self._call()

    def result(self, timeout=120):
        self.join(timeout)
        assert not self.is_alive(), "clients have not finished"
        assert self._result is not None, "clients ended with an exception"
        return self._result


class Download(threading.Thread):
    """A long download read at `rate` bytes a second. `longest_gap`: the longest time without a byte; `error`: what
    ended it before stop()."""

    def __init__(self, client, address=VIP, port=80, rate=2_000_000):
        super().__init__(daemon=True)
        self.received, self.longest_gap, self.error, self.server = 0, 0.0, "", ""
        self._rate = rate
        self._stopping = threading.Event()
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._connection = client.namespace.socket(family, socket.SOCK_STREAM)
        # A small window: it must be opened again and again by segments that pass the load balancer.
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self._connection.settimeout(20)
        self._connection.connect((address, port))
        self._connection.sendall(b"GET / HTTP/1.1\r\nHost: download\r\n\r\n")
        self.server = self._connection.recv(4096).decode().split()[-1]
        self._connection.sendall(f"GET {DOWNLOAD} HTTP/1.1\r\nHost: download\r\n\r\n".encode())
        self.start()

    def run(self):
        block = 20_000
        last = time.monotonic()
        due = last
        try:
            while not self._stopping.is_set():
                part = self._connection.recv(block)
                now = time.monotonic()
                if not part:
                    self.error = "closed by the server"
                    return
                self.longest_gap = max(self.longest_gap, now - last)
                self.received += len(part)
                due += len(part) / self._rate
                time.sleep(max(0.0, due - now))
                last = time.monotonic()
        except OSError as error:
            self.error = repr(error)
        finally:
            self._connection.close()

    def stop(self):
        self._stopping.set()
        self.join(30)
        return self
