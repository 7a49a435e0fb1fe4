"""zonelb-bench's modes print what README says. No test looks at a time: the machine may be busy."""

import json
import os
import re
import subprocess

import pytest

from lab.appliance import ROOT, binary


def zonelb_bench(*words):
    done = subprocess.run([binary("zonelb-bench"), *words], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def keys_in_readme(mode):
    """The keys in the table under the heading of `mode`."""
    with open(f"{ROOT}/README.md") as file:
        section = re.search(rf"\n#### zonelb-bench {mode}\n(.*?)\n#", file.read(), re.S)[1]
    return set(re.findall(r"^\| `(\w+)` \|", section, re.M))


TABLE = ("--table-only", "--capacity", "4096", "--runs", "1")


@pytest.mark.parametrize("family", [(), ("--ipv6",)], ids=["ipv4", "ipv6"])
def test_our_table_beside_rte_hash(family):
    threads = min(2, os.cpu_count())
    result = json.loads(zonelb_bench(*TABLE, "--json", "--threads", str(threads), *family))
    assert set(result) == keys_in_readme("--table-only")
    rows = {(row["threads"], row["load_percent"], row["operation"]): row for row in result["rows"]}
    assert set(rows) == {(thread, load, operation) for thread in range(1, threads + 1) for load in (10, 50, 80, 90)
                         for operation in ("hit", "miss", "insert")}
    for (thread, load, _), row in rows.items():
        cycles = row["cycles_per_key"]
        assert cycles[row["better"]] == min(cycles.values()) > 0  # either one when they tie
        if thread == 1 and load <= 80:
            assert row["refused"]["ours"] == 0


def test_tables_as_text():
    assert re.search(r"1 +90 % +miss", zonelb_bench(*TABLE, "--threads", "1"))


@pytest.mark.long
@pytest.mark.parametrize("family", [(), ("--ipv6",)], ids=["ipv4", "ipv6"])
def test_a_table_of_50_million_takes_four_in_five(family):
    result = json.loads(zonelb_bench("--flows", "50000000", "--connections", "50000000", "--new-percent", "100",
                                     "--table", "emptied", "--runs", "1", "--json", *family))
    assert result["entries"] == 40_000_000
    assert result["untracked"] == result["evictions"] == 0


SWAPS = ("--swaps", "--services", "4", "--backends", "20", "--zones", "2", "--flows", "1000", "--phases", "1",
         "--phase-seconds", "0.2", "--per-second", "100")


@pytest.mark.skipif(os.cpu_count() < 2, reason="the worker and the main core need a CPU each")
def test_bursts_with_swaps_beside_those_without():
    result = json.loads(zonelb_bench(*SWAPS, "--json"))
    assert set(result) == keys_in_readme("--swaps")
    assert result["swaps"] > 0
    for kind in ("with_swaps", "without_swaps"):
        counts = [count for _, count in result[kind]["histogram"]]
        assert sum(counts) == result[kind]["bursts"] > 0
        assert result[kind]["p50"] <= result[kind]["p99"] <= result[kind]["p99.99"]
    assert set(result["ratio"]) == {"p50", "p90", "p99", "p99.9", "p99.99"}


@pytest.mark.skipif(os.cpu_count() < 2, reason="the worker and the main core need a CPU each")
def test_swaps_as_text_with_one_service():
    text = zonelb_bench(*("1" if word == "4" else word for word in SWAPS))
    assert re.search(r"p99\.9 +\d+ +\d+ +\d", text)


def test_a_wrong_option_is_refused():
    for words in (("--table-only", "--capacity", "1"), ("--swaps", "--per-second", "0")):
        assert subprocess.run([binary("zonelb-bench"), *words], capture_output=True).returncode == 2
