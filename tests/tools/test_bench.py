"""tools/bench works and writes what README says. No test looks at a figure: the machine may be busy."""

import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import pytest

from lab.appliance import ROOT, binary

SVG = "{http://www.w3.org/2000/svg}"


def bench(folder, *words):
    done = subprocess.run([f"{ROOT}/tools/bench", "--quick", "--output", folder, *words], text=True,
                          capture_output=True, env={**os.environ, "ZONELB_BUILD": os.path.dirname(
                              os.path.dirname(os.path.dirname(binary("zonelb"))))})
    assert done.returncode == 0, done.stderr
    with open(folder / "bench.json") as file:
        return json.load(file), done.stdout


def keys_in_readme():
    with open(f"{ROOT}/README.md") as file:
        section = re.search(r"\n### bench\.json\n(.*?)\n#", file.read(), re.S)[1]
    return set(re.findall(r"^\| `(\w+)` \|", section, re.M))


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    result, table = bench(folder)
    return folder, result, table


def test_the_json_has_the_keys_that_readme_names(quick):
    _, result, _ = quick
    assert set(result) == keys_in_readme()


def test_every_case_has_its_target_beside_what_was_measured(quick):
    _, result, table = quick
    assert len(result["cases"]) >= 3
    for case in result["cases"]:
        assert case["measured"]["cycles_per_packet"]["median"] > 0
        assert f"| {case['title']} |" in table


def test_the_plot_is_a_drawing_that_names_its_lines(quick):
    folder, result, _ = quick
    drawing = xml.parse(folder / "bench.svg").getroot()
    assert drawing.tag == f"{SVG}svg"
    words = [text.text for text in drawing.iter(f"{SVG}text")]
    for name in ("zonelb", "Katran", "VPP 26.06 lb", "bare MAC swap", "cycles per packet", "flows"):
        assert name in words
    # A value at each measured point of ours.
    curve = [case["measured"]["cycles_per_packet"]["median"] for case in result["cases"] if case["flows"]]
    for cycles in curve:
        assert f"{cycles:.0f}" in words


def test_the_real_binary_beside_testpmd(tmp_path):
    if not shutil.which("dpdk-testpmd"):
        pytest.skip("dpdk-testpmd is not installed (package dpdk-dev)")
    if os.cpu_count() < 2:
        pytest.skip("the sender and the worker need a CPU each")
    result, table = bench(tmp_path, "--only-wire")
    assert [case["name"] for case in result["wire"]] == ["memif", "pcap-null"]
    for case in result["wire"]:
        assert case["macswap_mpps"] > 0 and case["zonelb_mpps"] > 0
        assert f"| {case['title']} |" in table
