"""What the figures were measured on."""

import os
import platform
import re
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PAGES = "/sys/kernel/mm/hugepages/hugepages-2048kB"


def read(path):
    try:
        with open(path) as file:
            return file.read().strip()
    except OSError:
        return ""


def free_huge_pages():
    return int(read(f"{PAGES}/free_hugepages") or 0)


def cpu_fields():
    """Of the first CPU; the names differ between architectures."""
    fields = {}
    for line in read("/proc/cpuinfo").split("\n\n")[0].splitlines():
        name, _, value = line.partition(":")
        fields[name.strip()] = value.strip()
    return fields


def dpdk_version():
    done = subprocess.run(["pkg-config", "--modversion", "libdpdk"], text=True, capture_output=True)
    return done.stdout.strip() or "unknown"


def describe():
    cpu = cpu_fields()
    return {"cpu": cpu.get("model name") or platform.machine(),
            "cpu_family_model": f"{cpu.get('cpu family', '?')}/{cpu.get('model', '?')}",
            "cpus": os.cpu_count(),
            "architecture": platform.machine(),
            "hypervisor": "hypervisor" in cpu.get("flags", ""),
            "kernel": platform.release().split("-")[0],
            "huge_pages_2mb": int(read(f"{PAGES}/nr_hugepages") or 0),
            "dpdk": dpdk_version(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)}


def load():
    """Processes that want a CPU just now, this one left out."""
    running = re.match(r"\S+ \S+ \S+ (\d+)/", read("/proc/loadavg"))
    return int(running[1]) - 1


def wait_for_quiet(patience):
    """Until three readings in a row, half a second apart, find nothing else that runs; at most `patience` seconds."""
    end = time.monotonic() + patience
    quiet = 0
    while quiet < 3 and time.monotonic() < end:
        quiet = quiet + 1 if load() <= 0 else 0
        time.sleep(0.5)
