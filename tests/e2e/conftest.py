"""One lab for the whole run; every test gets it with all servers healthy."""

import os
import shutil
import signal

import pytest

from lab.appliance import Appliance, binary, run_folder
from lab.setup_flags import EAL
from lab.topology import lab_for_this_run


@pytest.fixture(scope="session")
def whole_lab():
    if os.geteuid():
        pytest.skip("network namespaces need root")
    for program in ("ip", "nginx", "ethtool", "ping"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    if not os.path.exists(binary("zonelb")):
        pytest.fail(f"{binary('zonelb')} has not been built")
    with lab_for_this_run(run_folder()) as lab:
        yield lab


@pytest.fixture
def lab(whole_lab):
    whole_lab.all_healthy()
    return whole_lab


@pytest.fixture
def zonelb(lab):
    """zonelb(flags) starts an appliance, ready to forward; it stops when the test ends."""
    started = []

    def start(flags, eal=EAL):
        appliance = Appliance(lab.appliance, flags, eal)
        started.append(appliance)
        return appliance.start().ready()
    yield start
    for appliance in started:
        process = appliance.process
        assert process.running() or process.ended_by_us, f"zonelb ended on its own:\n{appliance.output()}"
        code = process.stop()
        print(f"zonelb said:\n{appliance.output()}")
        assert code in (0, -signal.SIGKILL), "SIGTERM did not end it cleanly"
