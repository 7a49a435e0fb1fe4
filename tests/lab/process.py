"""A program that runs beside us, with its output in a file."""

import os
import signal
import subprocess

from . import cleanup
from .waiting import wait_for


class Process:
    """Started by the constructor; ended at the end of the program at the latest, unless detached."""

    def __init__(self, words, log, environment=None):
        self.log = log
        self.ended_by_us = False
        with open(log, "ab") as output:
            self._popen = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=output,
                                           stderr=subprocess.STDOUT, start_new_session=True,
                                           env={**os.environ, **(environment or {})})
        self._undo = cleanup.at_end(self.stop)

    @property
    def pid(self):
        return self._popen.pid

    def exit_code(self):
        """None while it runs."""
        return self._popen.poll()

    def running(self):
        return self.exit_code() is None

    def output(self):
        with open(self.log, errors="replace") as file:
            return file.read()

    def signal(self, number):
        if self.running():
            os.kill(self.pid, number)

    def wait(self, timeout=15):
        wait_for(lambda: not self.running(), f"{self.log}: process {self.pid} has ended", timeout)
        return self.exit_code()

    def stop(self, timeout=10):
        """SIGTERM, and SIGKILL when that is not heard; the exit code."""
        cleanup.forget(self._undo)
        self.ended_by_us |= self.running()
        if self.running():
            self._popen.terminate()
            try:
                self._popen.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.exit_code()

    def kill(self):
        """kill -9."""
        cleanup.forget(self._undo)
        self.ended_by_us |= self.running()
        self.signal(signal.SIGKILL)
        self._popen.wait(10)

    def detach(self):
        """It goes on when we end."""
        cleanup.forget(self._undo)
