"""Counts what test runners recorded: `count.py meson LOG.json | junit FILE.xml` prints "passed failed skipped",
then a line for each skipped test with its reason and for each failed one its name."""

import json
import re
import sys
import xml.etree.ElementTree as xml


def catch2_cases(output):
    """(passed, failed) test cases of a Catch2 run, None when the output is no such run's."""
    if found := re.search(r"All tests passed \(.* in (\d+) test cases?\)", output):
        return int(found[1]), 0
    if found := re.search(r"^test cases: +(\d+) \|(?:.*?(\d+) passed)?", output, re.M):
        passed = int(found[2] or 0)
        return passed, int(found[1]) - passed
    return None


def meson(path):
    passed = failed = skipped = 0
    notes = []
    with open(path) as log:
        for test in map(json.loads, log):
            result = test["result"]
            cases = catch2_cases(test.get("stdout", ""))
            if result == "SKIP":
                skipped += 1
                notes.append(f"skipped: {test['name']}")
            elif result in ("OK", "EXPECTEDFAIL"):
                passed += cases[0] if cases else 1
            else:
                passed += cases[0] if cases else 0
                failed += max(cases[1], 1) if cases else 1
                notes.append(f"failed: {test['name']} ({result})")
    return passed, failed, skipped, notes


def junit(path):
    passed = failed = skipped = 0
    notes = []
    for case in xml.parse(path).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
            notes.append(f"failed: {name}")
        elif skip is not None:
            skipped += 1
            notes.append(f"skipped: {name}: {skip.get('message')}")
        else:
            passed += 1
    return passed, failed, skipped, notes


if __name__ == "__main__":
    passed, failed, skipped, notes = {"meson": meson, "junit": junit}[sys.argv[1]](sys.argv[2])
    print(passed, failed, skipped)
    print("\n".join(notes))
