"""The narrated run of tools/demo, on the test network of tests/lab."""

import os
import shutil
import sys
import textwrap
from collections import Counter

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{ROOT}/tests")

from lab import cleanup  # noqa: E402
from lab.appliance import Appliance, binary  # noqa: E402
from lab.clients import Download  # noqa: E402
from lab.namespace import end_processes, run  # noqa: E402
from lab.setup_flags import EAL, dual_stack_flags, probe_flags  # noqa: E402
from lab.topology import FAILOVERS, PRIMARIES, VIP, VIP6, ZONES, Lab  # noqa: E402

PREFIX = "zl-"
FOLDER = "/run/zonelb-demo"
CONNECTIONS = 60
GROUPS = ZONES + ("f",)


def say(text=""):
    print(textwrap.indent(textwrap.dedent(text).strip(), "  "), flush=True)


def title(text):
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def leftovers():
    names = os.listdir("/run/netns") if os.path.isdir("/run/netns") else []
    return sorted(name for name in names if name.startswith(PREFIX))


def take_down():
    for name in leftovers():
        end_processes(name)
    for name in leftovers():
        run("ip", "netns", "del", name)
    shutil.rmtree(FOLDER, ignore_errors=True)


class Demo:
    def __init__(self, lab):
        self.lab = lab
        self.keys = dict(zonal_affinity="SPILL_CROSS_ZONE", spillover_ratio=0.5)
        self.appliance = Appliance(lab.appliance, self.flags(), EAL, FOLDER)

    def flags(self):
        return dual_stack_flags(probe_flags(), **self.keys)

    def set_health(self, healthy, *names):
        for name in names:
            self.lab.backends[name].nginx.healthy(healthy)
        self.appliance.wait_health(**{name: healthy for name in names})

    def reload(self, **keys):
        self.keys.update(keys)
        self.appliance.reload(self.flags())

    def table(self, address=VIP):
        """60 curls a client, each a new connection: who answered?"""
        host = f"\\[{address}\\]" if ":" in address else address
        names = [[name for name in self.lab.backends if name[0] == group] for group in GROUPS]
        head = " │".join("".join(f"{name:>5}" for name in group) for group in names)
        print(f"\n      {CONNECTIONS} curls from  {head}")
        for zone, client in self.lab.clients.items():
            said = client.namespace.run("curl", "-s", "-m", 30, "-H", "Connection: close",
                                        f"http://{host}/[1-{CONNECTIONS}]")
            seen = Counter(said.split())
            row = " │".join("".join(f"{seen[name] or '·':>5}" for name in group) for group in names)
            lost = CONNECTIONS - sum(seen.values())
            print(f"        client-{zone}     {row}" + (f"   {lost} without an answer" if lost else ""), flush=True)

    def why(self, client):
        print()
        say(f"zonelbctl explain says of {client}: {self.appliance.explain('web-v4', client)['why']}")

    def run(self):
        title("1  Calm")
        say("Three zones with two servers each, and two failover servers (f1 in zone a, f2 in zone b).\n"
            "zonal-affinity=SPILL_CROSS_ZONE, spillover-ratio=0.5: every client is served in its own zone.")
        self.table()
        print()
        say("The same over IPv6:")
        self.table(VIP6)
        print()
        download = Download(self.lab.clients["a"])
        say(f"client-a also starts a long download; {download.server} serves it. It must survive all that follows.")

        title(f"2  One backend down: {download.server} fails its health check")
        self.set_health(False, download.server)
        say("One of two healthy is 0.5, not below the ratio: traffic stays in zone a, on the other server.")
        self.table()

        title("3  The zone below its spillover ratio: spillover-ratio=0.6, by editing the flags and SIGHUP")
        self.reload(spillover_ratio=0.6)
        say("One of two is now too few: clients of zone a use every healthy primary, in all zones.")
        self.table()
        self.why("10.1.0.5:40000")

        title("4  Zone a dead")
        self.set_health(False, "a1", "a2")
        say("Clients of zone a are served by the other zones; clients of b and c notice nothing.")
        self.table()

        title("5  All primaries dead")
        self.set_health(False, *(place.name for place in PRIMARIES))
        say("The failover servers take over; where the client's zone has one, that one.")
        self.table()
        self.why("10.3.0.5:40000")

        title("6  Recovery")
        self.set_health(True, *(place.name for place in PRIMARIES))
        say("Everybody is served at home again.")
        self.table()

        print()
        download.stop()
        assert not download.error, f"the download broke: {download.error}"
        say(f"The download from {download.server} went on through all of it: {download.received / 1e6:.0f} MB, "
            f"longest pause {download.longest_gap * 1000:.0f} ms.")


def what_to_type():
    control = f"{os.path.relpath(binary('zonelbctl'))} --control-socket {FOLDER}/control.sock"
    title("It stays up. What to type (as root):")
    say(f"""
        alias ctl='{control}'
        ctl status                                  and: ctl services, ctl connections, ctl drops
        ctl explain --rule web-v4 --client 10.1.0.5:40000
        ctl drain a2                                no new connections to a2; ctl undrain a2
        ip netns exec {PREFIX}client-a curl http://{VIP}/
        ip netns exec {PREFIX}client-b curl -g 'http://[{VIP6}]/'
        rm {FOLDER}/nginx-a1/healthy       a1 fails its health check; touch it again: well
        $EDITOR {FOLDER}/zonelb.flags      then: ctl reload
        ip netns exec {PREFIX}zonelb curl -s http://127.0.0.1:9105/metrics
        tail -f {FOLDER}/zonelb.log

        servers: {', '.join(place.name for place in PRIMARIES + FAILOVERS)} (namespaces {PREFIX}a1 …)
        to remove it all: tools/demo --down""")


def main(keep):
    if left := leftovers():
        sys.exit(f"a demo is up already ({', '.join(left)}); tools/demo --down removes it")
    os.makedirs(FOLDER, exist_ok=True)
    undo = cleanup.at_end(lambda: shutil.rmtree(FOLDER, ignore_errors=True))
    with Lab(PREFIX, FOLDER) as lab:
        demo = Demo(lab)
        with demo.appliance:
            demo.run()
            if keep:
                cleanup.forget(undo)
                demo.appliance.process.detach()
                lab.keep()
                what_to_type()
                sys.stdout.flush()
                os._exit(0)  # past every clean-up, which is what --keep means


if __name__ == "__main__":
    if sys.argv[1:] == ["--down"]:
        take_down()
    else:
        main(sys.argv[1:] == ["--keep"])
