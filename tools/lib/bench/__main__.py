"""The run of tools/bench: cases through zonelb-bench, the wire runs, a JSON file, a plot, a table for README."""

import argparse
import datetime
import json
import os
import resource
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [f"{ROOT}/tests", f"{ROOT}/tools/lib"]

from bench import cases, machine, report, wire  # noqa: E402
from lab.appliance import binary  # noqa: E402


def say(text):
    print(text, file=sys.stderr, flush=True)


def switches():
    """How often our children lost their CPU to others: what tells a disturbed run from a quiet one."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_nivcsw


def zonelb_bench(arguments):
    """What one run of zonelb-bench prints, and how often it was interrupted."""
    before = switches()
    words = [binary("zonelb-bench"), "--json", *final_options(arguments)]
    done = subprocess.run(words, text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"bench: {' '.join(words)}: exit code {done.returncode}\n{done.stderr}{done.stdout}")
    return {**json.loads(done.stdout), "interrupted": switches() - before}


def measure(case, common):
    measured = zonelb_bench(f"{common} {case.arguments}")
    say(f"{case.title}: {cycles(measured):.1f} cycles per packet, floor {measured['floor']['median']:.1f}")
    return measured


def measure_tables(wanted):
    found = []
    for case in chosen(cases.TABLE_CASES, wanted):
        machine.wait_for_quiet(wanted.wait)
        measured = zonelb_bench(arguments_of(case, wanted))
        look_ups = [row for row in measured["rows"] if row["operation"] in cases.LOOK_UPS]
        better = sum(row["better"] == "ours" for row in look_ups)
        say(f"table beside rte_hash, {case.title}: better in {better} of {len(look_ups)} rows of look-ups")
        found.append({"name": case.name, "title": case.title, "arguments": arguments_of(case, wanted),
                      "met": better == len(look_ups), "measured": measured})
    return found


def measure_swaps(wanted):
    """The worker and the main core need a CPU each."""
    found = []
    for case in chosen(cases.SWAP_CASES, wanted) if os.cpu_count() > 1 else ():
        machine.wait_for_quiet(wanted.wait)
        measured = zonelb_bench(arguments_of(case, wanted))
        ratio, flip = measured["ratio"]["p99.9"], measured["flip"]["p99_ms"]
        say(f"swaps, {case.title}: p99.9 of a burst {ratio:.2f} times that without, a flip's p99 {flip:.2f} ms")
        found.append({"name": case.name, "title": case.title, "arguments": arguments_of(case, wanted),
                      "target_ratio": case.target_ratio, "target_ms": case.target_ms,
                      "met": ratio <= case.target_ratio and flip <= case.target_ms, "measured": measured})
    return found


def arguments_of(case, wanted):
    return case.quick_arguments if wanted.quick else case.arguments


def cycles(measured):
    return measured["cycles_per_packet"]["median"]


def summary(case, rounds):
    """Of a case's rounds the middle one, and the medians of all."""
    middle = sorted(rounds, key=cycles)[(len(rounds) - 1) // 2]
    return {"name": case.name, "title": case.title, "arguments": case.arguments, "target": case.target,
            "flows": case.flows, "met": None if case.target is None else cycles(middle) <= case.target,
            "rounds": [cycles(one) for one in rounds], "measured": middle}


def final_options(text):
    """The last value of each option: zonelb-bench refuses an option given twice."""
    options = {}
    for option in text.split("--")[1:]:
        name, _, value = option.strip().partition(" ")
        options[name] = value.split()
    return [word for name, values in options.items() for word in (f"--{name}", *values)]


def compare(comparison, rounds):
    """The median of the rounds' values; None unless both cases were run."""
    if comparison.case not in rounds or comparison.base not in rounds:
        return None
    value = statistics.median(value_of(comparison.kind, case, base)
                              for case, base in zip(rounds[comparison.case], rounds[comparison.base]))
    met = value >= comparison.target if comparison.kind == "throughput" else value <= comparison.target
    return {"name": comparison.name, "title": comparison.title, "kind": comparison.kind, "target": comparison.target,
            "value": value, "met": met}


def value_of(kind, case, base):
    if kind == "difference":
        return cycles(case) - cycles(base)
    ratio = cycles(case) / cycles(base)
    return ratio if kind == "ratio" else case["workers"] / base["workers"] / ratio


def chosen(known, wanted):
    """Of `known` those that the command line asks for."""
    if wanted.only_wire:
        return []
    return [case for case in known
            if (case.name in wanted.case if wanted.case else not wanted.quick or getattr(case, "quick", True))]


def require_known(names):
    known = {case.name for case in (*cases.CASES, *cases.TABLE_CASES, *cases.SWAP_CASES)}
    if unknown := set(names) - known:
        raise SystemExit(f"bench: no case named {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")


def needed_for_workers(case):
    """Two workers need two CPUs."""
    words = case.arguments.split()
    return int(words[words.index("--workers") + 1]) if "--workers" in words else 1


def run_cases(wanted):
    """{case: its rounds}. A round runs all cases, so that what is compared is measured close together."""
    rounds = {}
    for case in chosen(cases.CASES, wanted):
        if needed_for_workers(case) > os.cpu_count():
            say(f"{case.title}: left out, as this machine has {os.cpu_count()} CPU")
        else:
            rounds[case] = []
    for number in range(wanted.rounds):
        if wanted.rounds > 1:
            say(f"round {number + 1}")
        for case, measured in rounds.items():
            machine.wait_for_quiet(wanted.wait)
            measured.append(measure(case, cases.QUICK if wanted.quick else cases.FULL))
    return rounds


def in_process(wanted):
    """The result so far, without the wire runs."""
    result = {"date": datetime.date.today().isoformat(), "quick": wanted.quick, "machine": machine.describe(),
              "load_before": machine.load()}
    rounds = run_cases(wanted)
    result["machine"]["tsc_mhz"] = tsc_mhz(rounds)
    result["cases"] = [summary(case, measured) for case, measured in rounds.items()]
    by_name = {case.name: measured for case, measured in rounds.items()}
    result["comparisons"] = [found for found in (compare(one, by_name) for one in cases.COMPARISONS) if found]
    result["tables"] = measure_tables(wanted)
    result["swaps"] = measure_swaps(wanted)
    result["wire"] = []
    return result


def over_wire(wanted):
    rounds, tries, seconds = (1, 1, 1) if wanted.quick else (5, 15, 3)
    return wire.measure(cases.WIRE_CASES, rounds, tries, seconds, say)


def tsc_mhz(rounds):
    """As zonelb-bench converts cycles; None when it did not run."""
    for measured in rounds.values():
        return round(cycles(measured[0]) * measured[0]["mpps_per_core"])
    return None


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    say(f"wrote {path}")


def save(result, folder):
    os.makedirs(folder, exist_ok=True)
    write(f"{folder}/bench.json", json.dumps(result, indent=1) + "\n")
    if any(case["flows"] for case in result["cases"]):
        write(f"{folder}/bench.svg", report.draw(result))
    write(f"{folder}/bench.md", report.markdown(result))


def arguments():
    parser = argparse.ArgumentParser(prog="tools/bench", formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="a few short cases: to see that it works, not to quote")
    add("--wire", action="store_true", help="also the real binary beside testpmd, over memif and from a file")
    add("--only-wire", action="store_true", help="nothing but that")
    add("--case", action="append", metavar="NAME", help="this case only; repeatable")
    add("--rounds", type=int, default=1, metavar="N", help="run all cases N times and take medians (1)")
    add("--wait", type=int, default=0, metavar="SECONDS", help="wait so long at most, before a case, for a quiet machine")
    add("--output", default=f"{ROOT}/build/bench", metavar="FOLDER", help="for bench.json, bench.svg, bench.md")
    return parser.parse_args()


def main():
    wanted = arguments()
    require_known(wanted.case or ())
    result = in_process(wanted)
    save(result, wanted.output)  # not to be lost if the rest fails
    if wanted.wire or wanted.only_wire:
        result["wire"] = over_wire(wanted)
        save(result, wanted.output)
    print(report.markdown(result), end="")


main()
