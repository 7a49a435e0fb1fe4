"""Configurations that must be refused: exit code 2, a message of its own for each, nothing started."""

import os
import subprocess

import pytest

from lab.appliance import binary
from lab.flags import Flags

from packets.pcap import write_pcap
from packets import frames as f
from packets.run import EAL, PORT

GOOD = {
    "port": f"name={PORT},address=10.0.0.2/16",
    "client-network": "cidr=10.1.0.0/16,zone=zone-a",
    "health-check": "name=hc,protocol=HTTP,port=8080",
    "backend-service": "name=web,health-check=hc",
    "backend": "service=web,name=b1,address=10.0.2.1,zone=zone-a",
    "forwarding-rule": "name=r,address=10.0.0.80,protocol=TCP,ports=[80],backend-service=web",
}

# What is added to a resource's line of GOOD, or stands in a line of its own.
WRONG_KEYS = {
    "port": ["address=10.0.0.3", "mtu=20", "mtu=large", "vlan=0", "vlan=4095", "vlan=4096", "gateway=nowhere",
             "gateway=2001:db8::1", "gateway-mac=02:00", "address6=10.0.0.2/16", "speed=10G"],
    "client-network": ["region=elsewhere", "gateway=vpn", "zones=zone-b"],
    "health-check": ["check-interval=0s", "check-interval=301s", "timeout=6s", "healthy-threshold=0",
                     "healthy-threshold=11", "unhealthy-threshold=x", "request-path=healthz", "proxy-header=PROXY_V9",
                     "interval=5s"],
    "backend-service": ["session-affinity=STICKY", "zonal-affinity=PREFER", "spillover-ratio=1.5",
                        "spillover-ratio=-0.1", "spillover-ratio=half", "failover-ratio=2",
                        "drop-traffic-if-unhealthy=perhaps", "forwarding=MAGIC", "idle-timeout=10s",
                        "idle-timeout=57601s", "connection-draining-timeout=3601s", "connection-draining-timeout=soon",
                        "subsetting=true", "tracking-mode=PER_SESSION", "forwarding=GENEVE", "colour=blue",
                        "connection-persistence-on-unhealthy-backends=NEVER_PERSIST", "symmetric-hashing=true",
                        "vxlan-port=0"],
    "backend": ["weight=-1", "weight=heavy", "failover=maybe", "mac=02:00:00:00:00", "mac=01:00:5e:00:00:01",
                "port=80", "group=ig-a"],
    "forwarding-rule": ["allow-global-access=1x", "next-hop=true", "published=2", "host=example"],
}
REPLACED = {
    "a VIP that is no address": ("forwarding-rule", "name=r,address=web,protocol=TCP,ports=[80],backend-service=web"),
    "a protocol nobody has": ("forwarding-rule", "name=r,address=10.0.0.80,protocol=QUIC,ports=[80],backend-service=web"),
    "port 0": ("forwarding-rule", "name=r,address=10.0.0.80,protocol=TCP,ports=[0],backend-service=web"),
    "port 65536": ("forwarding-rule", "name=r,address=10.0.0.80,protocol=TCP,ports=[65536],backend-service=web"),
    "a range backwards": ("forwarding-rule",
                          "name=r,address=10.0.0.80,protocol=TCP,ports=[90-80],backend-service=web"),
    "no ports": ("forwarding-rule", "name=r,address=10.0.0.80,protocol=TCP,backend-service=web"),
    "a service nobody declared": ("forwarding-rule",
                                  "name=r,address=10.0.0.80,protocol=TCP,ports=[80],backend-service=wbe"),
    "a list that is not closed": ("forwarding-rule",
                                  "name=r,address=10.0.0.80,protocol=TCP,ports=[80,backend-service=web"),
    "a key without value": ("forwarding-rule", "name=r,address,protocol=TCP,ports=[80],backend-service=web"),
    "a key twice": ("forwarding-rule",
                    "name=r,name=q,address=10.0.0.80,protocol=TCP,ports=[80],backend-service=web"),
    "L3_DEFAULT": ("forwarding-rule", "name=r,address=10.0.0.80,protocol=L3_DEFAULT,ports=all,backend-service=web"),
    "a rule without name": ("forwarding-rule", "address=10.0.0.80,protocol=TCP,ports=[80],backend-service=web"),
    "a backend without address": ("backend", "service=web,name=b1,zone=zone-a"),
    "a backend in an unknown zone": ("backend", "service=web,name=b1,address=10.0.2.1,zone=zone-q"),
    "a backend of an unknown service": ("backend", "service=wbe,name=b1,address=10.0.2.1,zone=zone-a"),
    "a backend that is the VIP": ("backend", "service=web,name=b1,address=10.0.0.80,zone=zone-a"),
    "a check nobody declared": ("backend-service", "name=web,health-check=ch"),
    "a prefix with host bits": ("client-network", "cidr=10.1.0.5/16,zone=zone-a"),
    "a prefix too long": ("client-network", "cidr=10.1.0.0/33,zone=zone-a"),
    "a client network of nothing": ("client-network", "cidr=10.1.0.0/16"),
    "a probe nobody speaks": ("health-check", "name=hc,protocol=SMTP,port=25"),
    "a probe of a later issue": ("health-check", "name=hc,protocol=GRPC,port=25"),
    "a port without name": ("port", "address=10.0.0.2/16"),
}
ADDED = {
    "a flag nobody knows": "frobnicate = 1",
    "a misspelt flag": "backend-sevrice = name=x",
    "a line without =": "backend-service",
    "the same service twice": "backend-service = name=web",
    "the same backend twice": "backend = service=web,name=b1,address=10.0.2.9,zone=zone-a",
    "two rules for the same traffic": "forwarding-rule = name=q,address=10.0.0.80,protocol=TCP,ports=[80],backend-service=web",
    "the same prefix in two zones": "client-network = cidr=10.1.0.0/16,zone=zone-b",
    "the same port twice": f"port = name={PORT},address=10.0.0.9/16",
    "workers without number": "workers = many",
    "no room for connections": "connections = 0",
    "a size nobody has": "connections = 12q",
    "a bad listen address": "http-listen = 9105",
    "a health nobody has": "initial-health = sick",
    "a bad probe source": "probe-source = here",
    "proxy mode": "proxy-subnet = 10.64.0.0/24",
    "a flag file that does not exist": "flagfile = /missing/zonelb.flags",
}


def with_line(name, value):
    return "".join(f"{key} = {value if key == name else good}\n" for key, good in GOOD.items())


def wrong_configurations():
    for name, keys in WRONG_KEYS.items():
        for key in keys:
            yield f"{name}: {key}", with_line(name, f"{GOOD[name]},{key}")
    for what, (name, value) in REPLACED.items():
        yield what, with_line(name, value)
    for what, line in ADDED.items():
        yield what, with_line("", "") + line + "\n"


CASES = dict(wrong_configurations())


def start(folder, text):
    """Runs zonelb on a flag file; None for the exit code when it went on to run. True when it opened its port."""
    path, taken, given = f"{folder}/zonelb.flags", f"{folder}/in.pcap", f"{folder}/out.pcap"
    with open(path, "w") as file:
        file.write(text)
    write_pcap(taken, [f.tcp()])
    words = [binary("zonelb"), "--flagfile", path, "--control-socket", f"{folder}/control.sock",
             "--eal", f"{EAL} -l 0-1 --vdev={PORT},rx_pcap={taken},tx_pcap={given}"]
    if "http-listen" not in text:
        words += ["--http-listen", ""]
    try:
        done = subprocess.run(words, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=20)
    except subprocess.TimeoutExpired:
        return None, "", os.path.exists(given)
    return done.returncode, done.stderr, os.path.exists(given) or os.path.exists(f"{folder}/control.sock")


@pytest.fixture(scope="module")
def messages():
    return {}


@pytest.mark.parametrize("what", CASES)
def test_refused(run, messages, what):
    code, said, started = start(run.folder, CASES[what])
    assert code == 2, f"exit code {code}\n{said}"
    assert not started
    assert "EAL:" not in said
    message = said.replace(run.folder, "").strip()
    assert message and "terminate called" not in message
    assert "zonelb.flags:" in message, "the place is named"
    assert message not in messages, f"the same message as for: {messages[message]}"
    messages[message] = what


def test_there_are_enough_of_them():
    assert len(CASES) >= 50


def test_check_accepts_the_good_one_without_touching_a_port(run):
    path = f"{run.folder}/good.flags"
    Flags([f"{name} = {value}" for name, value in GOOD.items()]).write(path)
    done = subprocess.run([binary("zonelb"), "--check", "--flagfile", path], text=True, capture_output=True,
                          timeout=20)
    assert done.returncode == 0, done.stderr
