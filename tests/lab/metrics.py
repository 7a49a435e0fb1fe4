"""Reading what zonelb exports."""

import re
import socket

_SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """One reading of /metrics."""

    def __init__(self, text):
        self.text = text
        self.samples = []
        for line in text.splitlines():
            if found := _SAMPLE.match(line):
                labels = dict(_LABEL.findall(found[2] or ""))
                self.samples.append((found[1], labels, float(found[3])))

    def all(self, name, **labels):
        return [(have, value) for sample, have, value in self.samples
                if sample == name and labels.items() <= have.items()]

    def sum(self, name, **labels):
        return sum(value for _, value in self.all(name, **labels))

    def one(self, name, **labels):
        found = self.all(name, **labels)
        assert len(found) == 1, f"{name} {labels}: {len(found)} samples"
        return found[0][1]

    def by(self, name, label, **labels):
        """Sums by the values of one label, zeros left out."""
        sums = {}
        for have, value in self.all(name, **labels):
            if value:
                sums[have[label]] = sums.get(have[label], 0) + value
        return sums

    def drops(self):
        return self.by("zonelb_drops_total", "reason")


def http_get(namespace, port, path, timeout=5):
    """(status, body) of a GET to 127.0.0.1:port inside the namespace."""
    with namespace.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        connection.connect(("127.0.0.1", port))
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := connection.recv(65536):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"chunked" not in head.lower(), "a plain body was expected"
    return int(head.split()[1]), body.decode()
