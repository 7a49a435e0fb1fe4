"""Each pmd-config file that this machine has a port for starts zonelb, ready and with a port that is up."""

import glob
import os

import pytest

from lab.appliance import ROOT, Appliance
from lab.clients import tally
from lab.flags import Flags
from lab.process import Process
from lab.setup_flags import web_flags
from lab.topology import APPLIANCE, DATA_DEVICE

FOLDER = f"{ROOT}/pmd-config"
HERE = {
    "af_packet": ("net_af_packet0", f"iface={DATA_DEVICE}"),
    "tap": ("net_tap0", "iface=zl0"),
    "pcap": ("net_pcap0", "rx_pcap={folder}/in.pcap,tx_pcap={folder}/out.pcap"),
    "memif": ("net_memif0", "role=server,id=0,socket={folder}/memif.sock,socket-abstract=no"),
    "null": ("net_null0", "no-rx=1"),
    "af_xdp": ("net_af_xdp0", f"iface={DATA_DEVICE}"),
}
HARDWARE = {"virtio", "iavf", "ice", "i40e", "mlx5", "ena", "vmxnet3"}


def appliance_on(lab, kind, flags, folder):
    port, device_arguments = HERE[kind]
    flags = Flags([line.replace("net_af_packet0", port) for line in flags.lines])
    return Appliance(lab.appliance, flags, f"--no-telemetry -l 0-1 --vdev={port},{device_arguments}"
                     .replace("{folder}", folder), folder, arguments=("--pmd-config", f"{FOLDER}/{kind}.flags"))


@pytest.mark.parametrize("kind", HERE)
def test_starts_and_ends_cleanly(lab, kind, tmp_path):
    with open(tmp_path / "in.pcap", "wb") as empty:
        empty.write(bytes.fromhex("d4c3b2a1 0200 0400 00000000 00000000 00000400 01000000"))
    with appliance_on(lab, kind, web_flags(), str(tmp_path)) as zonelb:
        assert zonelb.process.stop() == 0, zonelb.output()


def test_af_xdp_forwards(lab, tmp_path):
    with appliance_on(lab, "af_xdp", web_flags(zonal_affinity="STAY_WITHIN_ZONE"), str(tmp_path)):
        assert set(tally(lab.clients["a"], 40)) == {"a1", "a2"}


def test_tap_reaches_the_host(lab, tmp_path):
    """The kernel's end of the tap pings zonelb."""
    with appliance_on(lab, "tap", web_flags(), str(tmp_path)):
        lab.appliance.ip("link set zl0 up", "addr add 10.0.255.1/32 dev zl0", f"route add {APPLIANCE}/32 dev zl0")
        lab.appliance.run("ping", "-c", 3, "-i", 0.1, "-W", 2, "-I", "10.0.255.1", APPLIANCE)


@pytest.mark.parametrize("kind", HARDWARE)
def test_files_for_hardware_are_accepted(lab, kind, tmp_path):
    """No such port is here: --check reads the file all the same."""
    flags = web_flags().write(str(tmp_path / "zonelb.flags"))
    from lab.appliance import binary
    process = Process([binary("zonelb"), "--check", "--pmd-config", f"{FOLDER}/{kind}.flags", "--flagfile", flags],
                      str(tmp_path / "log"))
    assert process.wait() == 0, process.output()


def test_every_file_is_in_one_of_the_lists():
    files = {os.path.basename(path)[:-len(".flags")] for path in glob.glob(f"{FOLDER}/*.flags")}
    assert files == set(HERE) | HARDWARE
