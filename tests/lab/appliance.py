"""zonelb itself: the process, its signals, its metrics, its control socket."""

import json
import os
import shutil
import signal
import tempfile

from . import cleanup
from .metrics import Metrics, http_get
from .namespace import run
from .process import Process
from .waiting import wait_for

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HTTP_PORT = 9105


def binary(name):
    """build/app/NAME/NAME, or of another build folder by the variable ZONELB_BUILD."""
    return os.path.join(os.path.abspath(os.environ.get("ZONELB_BUILD", f"{ROOT}/build")), "app", name, name)


def run_folder():
    """A folder for one run's files; short, since a control socket's path has about 100 bytes."""
    folder = tempfile.mkdtemp(prefix="zonelb-", dir="/tmp")
    cleanup.at_end(lambda: shutil.rmtree(folder, ignore_errors=True))
    return folder


class Appliance:
    """One zonelb in a namespace: `with Appliance(namespace, flags, eal) as zonelb:`; ready inside the `with`."""

    def __init__(self, namespace, flags, eal, folder=None, arguments=()):
        self.namespace = namespace
        self.arguments = arguments
        self.folder = folder or run_folder()
        self.flag_file = f"{self.folder}/zonelb.flags"
        self.control_socket = f"{self.folder}/control.sock"
        self.log = f"{self.folder}/zonelb.log"
        self.eal = eal
        self.process = None
        flags.write(self.flag_file)

    def command(self):
        return self.namespace.command(binary("zonelb"), *self.arguments,
                                      "--flagfile", self.flag_file, "--eal", self.eal,
                                      "--control-socket", self.control_socket,
                                      "--http-listen", f"127.0.0.1:{HTTP_PORT}")

    def start(self):
        self.process = Process(self.command(), self.log)
        return self

    def ready(self):
        """Ports up, first health round over: it forwards."""
        def is_ready():
            assert self.process.running(), f"zonelb ended with {self.process.exit_code()}:\n{self.output()}"
            return self.status_code("/readyz") == 200
        wait_for(is_ready, lambda: f"zonelb ready\n{self.output()}", timeout=30)
        return self

    def __enter__(self):
        return self.start().ready()

    def __exit__(self, kind, *_):
        self.process.stop()
        if kind:
            print(f"zonelb said:\n{self.output()}")

    def output(self):
        return self.process.output()

    def status_code(self, path):
        """0 while nobody listens."""
        try:
            return http_get(self.namespace, HTTP_PORT, path)[0]
        except OSError:
            return 0

    def metrics(self):
        return Metrics(http_get(self.namespace, HTTP_PORT, "/metrics")[1])

    def reload(self, flags=None):
        """SIGHUP, with other flags if given; returns when the new generation is in force."""
        before = self.metrics().one("zonelb_snapshot_generation")
        if flags:
            flags.write(self.flag_file)
        self.process.signal(signal.SIGHUP)
        wait_for(lambda: self.metrics().one("zonelb_snapshot_generation") > before,
                 lambda: f"reloaded\n{self.output()}")

    def control(self, *words):
        """zonelbctl against this appliance; its text."""
        return run(binary("zonelbctl"), *words, "--control-socket", self.control_socket)

    def explain(self, rule, client, **options):
        """zonelbctl explain about the live state."""
        extra = [word for key, value in options.items() for word in (f"--{key}", value)]
        return json.loads(self.control("explain", "--rule", rule, "--client", client, *extra, "--json"))

    def wait_health(self, **healthy):
        """Until zonelb_backend_healthy says so: wait_health(a1=True, a2=False)."""
        def as_expected():
            metrics = self.metrics()
            return all({value for _, value in metrics.all("zonelb_backend_healthy", backend=name)} == {float(state)}
                       for name, state in healthy.items())
        wait_for(as_expected, lambda: f"health {healthy}\n{self.output()}")


def explain_cases(flag_file, cases):
    """zonelbctl explain --cases: a list of dictionaries in, a list out."""
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    answers = run(binary("zonelbctl"), "explain", "--flagfile", flag_file, "--cases", "-", stdin=lines)
    return [json.loads(line) for line in answers.splitlines()]
