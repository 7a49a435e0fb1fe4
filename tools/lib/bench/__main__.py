"""The run of tools/bench: cases through zonelb-bench, the wire runs, a JSON file, a plot, a table for README."""

import argparse
import datetime
import json
import os
import resource
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


def run_case(case, common, patience):
    machine.wait_for_quiet(patience)
    before = switches()
    words = [binary("zonelb-bench"), "--json", *final_options(f"{common} {case.arguments}")]
    done = subprocess.run(words, text=True, capture_output=True)
    if done.returncode:
        raise SystemExit(f"bench: {' '.join(words)}: exit code {done.returncode}\n{done.stderr}{done.stdout}")
    measured = json.loads(done.stdout)
    median = measured["cycles_per_packet"]["median"]
    say(f"{case.title}: {median:.1f} cycles per packet, floor {measured['floor']['median']:.1f}")
    return {"name": case.name, "title": case.title, "arguments": case.arguments, "target": case.target,
            "flows": case.flows, "met": None if case.target is None else median <= case.target,
            "interrupted": switches() - before, "measured": measured}


def final_options(text):
    """The last value of each option: zonelb-bench refuses an option given twice."""
    options = {}
    for option in text.split("--")[1:]:
        name, _, value = option.strip().partition(" ")
        options[name] = value.split()
    return [word for name, values in options.items() for word in (f"--{name}", *values)]


def compare(comparison, measured):
    """None unless both cases were run."""
    if comparison.case not in measured or comparison.base not in measured:
        return None
    case, base = measured[comparison.case], measured[comparison.base]
    cycles = [one["cycles_per_packet"]["median"] for one in (case, base)]
    value = {"ratio": cycles[0] / cycles[1],
             "difference": cycles[0] - cycles[1],
             "throughput": cycles[1] / cycles[0] * case["workers"] / base["workers"]}[comparison.kind]
    met = value >= comparison.target if comparison.kind == "throughput" else value <= comparison.target
    return {"name": comparison.name, "title": comparison.title, "kind": comparison.kind, "target": comparison.target,
            "value": value, "met": met}


def chosen_cases(wanted):
    if wanted.only_wire:
        return []
    known = {case.name for case in cases.CASES}
    if unknown := set(wanted.case or ()) - known:
        raise SystemExit(f"bench: no case named {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    return [case for case in cases.CASES if (case.name in wanted.case if wanted.case else case.quick or not wanted.quick)]


def needed_for_workers(case):
    """Two workers need two CPUs."""
    words = case.arguments.split()
    return int(words[words.index("--workers") + 1]) if "--workers" in words else 1


def run_cases(wanted):
    results = []
    for case in chosen_cases(wanted):
        if needed_for_workers(case) > os.cpu_count():
            say(f"{case.title}: left out, as this machine has {os.cpu_count()} CPU")
            continue
        results.append(run_case(case, cases.QUICK if wanted.quick else cases.FULL, wanted.wait))
    return results


def run(wanted):
    result = {"date": datetime.date.today().isoformat(), "quick": wanted.quick, "machine": machine.describe(),
              "load_before": machine.load()}
    result["cases"] = run_cases(wanted)
    measured = {case["name"]: case["measured"] for case in result["cases"]}
    result["comparisons"] = [found for found in (compare(one, measured) for one in cases.COMPARISONS) if found]
    rounds, seconds = (1, 1) if wanted.quick else (5, 3)
    result["wire"] = wire.measure(cases.WIRE_CASES, rounds, seconds, say) if wanted.wire or wanted.only_wire else []
    result["machine"]["tsc_mhz"] = tsc_mhz(measured)
    return result


def tsc_mhz(measured):
    """As zonelb-bench converts cycles."""
    for one in measured.values():
        return round(one["cycles_per_packet"]["median"] * one["mpps_per_core"])
    return None


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    say(f"wrote {path}")


def arguments():
    parser = argparse.ArgumentParser(prog="tools/bench", formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--quick", action="store_true", help="a few short cases: to see that it works, not to quote")
    add("--wire", action="store_true", help="also the real binary beside testpmd, over memif and from a file")
    add("--only-wire", action="store_true", help="nothing but that")
    add("--case", action="append", metavar="NAME", help="this case only; repeatable")
    add("--wait", type=int, default=0, metavar="SECONDS", help="wait so long at most, before a case, for a quiet machine")
    add("--output", default=f"{ROOT}/build/bench", metavar="FOLDER", help="for bench.json, bench.svg, bench.md")
    return parser.parse_args()


def main():
    wanted = arguments()
    result = run(wanted)
    os.makedirs(wanted.output, exist_ok=True)
    write(f"{wanted.output}/bench.json", json.dumps(result, indent=1) + "\n")
    if any(case["flows"] for case in result["cases"]):
        write(f"{wanted.output}/bench.svg", report.draw(result))
    table = report.markdown(result)
    write(f"{wanted.output}/bench.md", table)
    print(table, end="")


main()
