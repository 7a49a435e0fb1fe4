"""A host: one network namespace."""

import ctypes
import os
import re
import socket
import subprocess
from contextlib import contextmanager

from . import cleanup

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_FOLDER = "/run/netns"


class CommandFailed(AssertionError):
    pass


def run(*words, stdin=None, timeout=60):
    """Runs a command; its standard output as text, CommandFailed with everything it said otherwise."""
    done = subprocess.run([str(word) for word in words], input=stdin, text=True, timeout=timeout,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise CommandFailed(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr}{done.stdout}")
    return done.stdout


def _enter(path):
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _libc.setns(descriptor, _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {path}")
    finally:
        os.close(descriptor)


class Namespace:
    """Made by the constructor, removed by remove(), at the end of a `with`, or at the end of the program."""

    def __init__(self, name):
        self.name = name
        run("ip", "netns", "add", name)
        self._undo = cleanup.at_end(self.remove)
        self.ip("link set lo up")

    def remove(self):
        cleanup.forget(self._undo)
        if os.path.exists(f"{_FOLDER}/{self.name}"):
            run("ip", "netns", "del", self.name)

    def keep(self):
        """It stays when this program ends."""
        cleanup.forget(self._undo)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def command(self, *words):
        """The words that run a command in this namespace."""
        return ["ip", "netns", "exec", self.name, *map(str, words)]

    def run(self, *words, **options):
        return run(*self.command(*words), **options)

    def ip(self, *lines):
        """Runs `ip` with each line's words, in one process."""
        run("ip", "-n", self.name, "-batch", "-", stdin="\n".join(lines) + "\n")

    def sysctl(self, **values):
        """Keys with `__` for the dots: net__ipv4__ip_forward=1."""
        with self.entered():
            for key, value in values.items():
                with open("/proc/sys/" + key.replace("__", "/"), "w") as file:
                    file.write(str(value))

    @contextmanager
    def entered(self):
        """The calling thread is in this namespace; sockets made here stay in it."""
        before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(f"{_FOLDER}/{self.name}")
            yield
        finally:
            if _libc.setns(before, _CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns back")
            os.close(before)

    def socket(self, *arguments):
        with self.entered():
            return socket.socket(*arguments)


def join(one, name, other, other_name):
    """A cable: a veth pair between two namespaces. Both ends up, IPv6 without duplicate detection."""
    one.ip(f"link add {name} type veth peer name {other_name} netns {other.name}")
    for namespace, device in ((one, name), (other, other_name)):
        namespace.sysctl(**{f"net__ipv6__conf__{device}__accept_dad": 0})
        namespace.ip(f"link set {device} up")


def remove_abandoned(prefix):
    """Removes namespaces PREFIX-PID-… of programs that no longer run."""
    for name in os.listdir(_FOLDER) if os.path.isdir(_FOLDER) else []:
        found = re.match(rf"{re.escape(prefix)}-(\d+)-", name)
        if found and not os.path.exists(f"/proc/{found[1]}"):
            end_processes(name)
            run("ip", "netns", "del", name)


def end_processes(namespace_name):
    """Ends the processes inside a namespace of ours whose owner is gone."""
    for pid in run("ip", "netns", "pids", namespace_name).split():
        try:
            os.kill(int(pid), 9)
        except ProcessLookupError:
            pass
