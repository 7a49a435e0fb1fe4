"""run(flags, frames): the fixture of every packet test."""

import os

import pytest

from lab.appliance import binary, run_folder
from lab.namespace import Namespace, remove_abandoned

from packets.run import Runner


@pytest.fixture(scope="session")
def namespace():
    if os.geteuid():
        pytest.skip("network namespaces need root")
    if not os.path.exists(binary("zonelb")):
        pytest.fail(f"{binary('zonelb')} has not been built")
    remove_abandoned("zonelb")
    with Namespace(f"zonelb-{os.getpid()}-packets") as made:
        yield made


@pytest.fixture
def run(namespace):
    return Runner(namespace, run_folder())
