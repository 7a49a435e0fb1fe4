"""A big transfer goes on at full speed while backends come and go around it."""

import threading

import pytest

from lab import iperf
from lab.setup_flags import web_flags
from lab.topology import VIP, VIP6

UP, DOWN = (), ("-R",)
CASES = [pytest.param(address, direction, seconds, id=f"{'down' if direction else 'up'}-{address}-{seconds}s",
                      marks=[pytest.mark.long] if seconds > 6 else [])
         for address, direction, seconds in ((VIP, UP, 6), (VIP6, DOWN, 6),
                                             (VIP, UP, 60), (VIP, DOWN, 60), (VIP6, UP, 60), (VIP6, DOWN, 60))]


class Flips(threading.Thread):
    """Each backend of a zone in turn is unhealthy for a while, the transfer's own too; then both are."""

    def __init__(self, lab, appliance, names):
        super().__init__(daemon=True)
        self.number, self.error = 0, None
        self._lab, self._appliance, self._names = lab, appliance, names
        self._stopping = threading.Event()
        self.start()

    def run(self):
        try:
            while not self._stopping.wait(0.5):
                names = ([name] for name in self._names)
                for group in (*names, self._names):
                    for healthy in (False, True):
                        for name in group:
                            self._lab.backends[name].nginx.healthy(healthy)
                        self._appliance.wait_health(**{name: healthy for name in group})
                    self.number += 1
        except Exception as error:  # the test's own thread must hear of it
            self.error = error

    def stop(self):
        self._stopping.set()
        self.join(60)
        assert not self.error, self.error
        return self.number


@pytest.mark.parametrize("address, direction, seconds", CASES)
def test_no_second_without_data(lab, zonelb, address, direction, seconds):
    appliance = zonelb(web_flags(vip=address, session_affinity="CLIENT_IP", zonal_affinity="SPILL_CROSS_ZONE"))
    appliance.wait_health(c1=True, c2=True)
    with iperf.servers(lab, "c1", "c2"):
        flips = Flips(lab, appliance, ["c1", "c2"])
        try:
            report = iperf.measure(lab.clients["c"], address, seconds, "-i", 1, *direction)
        finally:
            number = flips.stop()
    rates = iperf.each_second(report)
    print(f"{number} flips; Mb/s each second: {min(rates) / 1e6:.0f} to {max(rates) / 1e6:.0f}")
    assert len(rates) >= seconds
    assert min(rates) > 0, rates
    assert number >= seconds / 4
    assert iperf.received(report) > 20e6
