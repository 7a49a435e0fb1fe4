"""What a run found, as Markdown for README and as a plot."""

from bench import cases, plot


def machine_sentence(result):
    machine = result["machine"]
    return (f"{result['date']}, {machine['cpu']} (family/model {machine['cpu_family_model']}), {machine['cpus']} CPUs"
            f"{', virtual' if machine['hypervisor'] else ''}{tsc(machine)}, kernel {machine['kernel']}, "
            f"DPDK {machine['dpdk']}, {machine['huge_pages_2mb']} pages of 2 MB reserved")


def tsc(machine):
    return f", TSC {machine['tsc_mhz']} MHz" if machine["tsc_mhz"] else ""


def verdict(met):
    return {True: "yes", False: "no", None: ""}[met]


def number(value):
    return "" if value is None else f"{value:g}"


def case_table(result):
    lines = ["| case | target | median | min | max | floor | stages: match, forward | met |",
             "|---|---|---|---|---|---|---|---|"]
    for case in result["cases"]:
        measured = case["measured"]
        cycles = measured["cycles_per_packet"]
        stages = ", ".join(f"{value:.0f}" for value in measured["stages"].values())
        lines.append(f"| {case['title']} | {number(case['target'])} | {cycles['median']:.1f} | {cycles['min']:.1f} "
                     f"| {cycles['max']:.1f} | {measured['floor']['median']:.1f} | {stages} | {verdict(case['met'])} |")
    return lines


def comparison_table(result):
    limit = {"throughput": "≥", "ratio": "≤", "difference": "≤"}
    unit = {"throughput": " ×", "ratio": " ×", "difference": " cycles"}
    lines = ["| comparison | target | measured | met |", "|---|---|---|---|"]
    for entry in result["comparisons"]:
        kind = entry["kind"]
        lines.append(f"| {entry['title']} | {limit[kind]} {entry['target']:g}{unit[kind]} "
                     f"| {entry['value']:.2f}{unit[kind]} | {verdict(entry['met'])} |")
    return lines


def table_table(result):
    lines = ["| table, cycles per key: ours, rte_hash | threads | load | hit | miss | insert | refused | better at look-ups |",
             "|---|---|---|---|---|---|---|---|"]
    for entry in result["tables"]:
        rows = entry["measured"]["rows"]
        for threads, load in sorted({(row["threads"], row["load_percent"]) for row in rows}):
            here = {row["operation"]: row for row in rows if (row["threads"], row["load_percent"]) == (threads, load)}
            pairs = " | ".join(f"{here[name]['cycles_per_key']['ours']:.0f}, {here[name]['cycles_per_key']['rte_hash']:.0f}"
                               for name in ("hit", "miss", "insert"))
            refused = here["insert"]["refused"]
            better = verdict(all(here[operation]["better"] == "ours" for operation in cases.LOOK_UPS))
            lines.append(f"| {entry['title']} | {threads} | {load} % | {pairs} | {refused['ours']}, {refused['rte_hash']} "
                         f"| {better} |")
    return lines


def swap_table(result):
    lines = ["| cycles per burst without swaps, with swaps | swaps a second | p50 | p99 | p99.9 | ratio of p99.9 | target "
             "| a flip, ms: median, p99, max | target | met |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for entry in result["swaps"]:
        measured = entry["measured"]
        pairs = " | ".join(f"{measured['without_swaps'][name]:.0f}, {measured['with_swaps'][name]:.0f}"
                           for name in ("p50", "p99", "p99.9"))
        flip = ", ".join(f"{measured['flip'][name]:.2f}" for name in ("median_ms", "p99_ms", "max_ms"))
        lines.append(f"| {entry['title']} | {measured['swaps_per_second']:.0f} | {pairs} | {measured['ratio']['p99.9']:.2f} "
                     f"| ≤ {entry['target_ratio']:g} | {flip} | ≤ {entry['target_ms']:g} | {verdict(entry['met'])} |")
    return lines


def wire_table(result):
    lines = ["| one worker, the real binary | target | macswap, Mpps | zonelb, Mpps | zonelb over macswap | met |",
             "|---|---|---|---|---|---|"]
    for entry in result["wire"]:
        lines.append(f"| {entry['title']} | ≥ {entry['target_ratio']:g} × | {entry['macswap_mpps']:.2f} "
                     f"| {entry['zonelb_mpps']:.2f} | {entry['ratio']:.2f} × | {verdict(entry['met'])} |")
    return lines


def markdown(result):
    parts = [machine_sentence(result), "Cycles per packet, medians of the runs of each case:" if result["cases"] else ""]
    for key, table in (("cases", case_table), ("comparisons", comparison_table), ("tables", table_table),
                       ("swaps", swap_table), ("wire", wire_table)):
        if result[key]:
            parts.append("\n".join(table(result)))
    return "\n\n".join(part for part in parts if part) + "\n"


def draw(result):
    """The hit curve as SVG."""
    curve = [(case["flows"], case["measured"]) for case in result["cases"] if case["flows"]]
    machine = result["machine"]
    return plot.svg("Cycles per packet of a tracked connection",
                    f"zonelb: {machine['cpu']}{tsc(machine)}, {result['date']}; "
                    "dashed: the peers' published figures",
                    [(flows, measured["cycles_per_packet"]["median"]) for flows, measured in curve],
                    [(flows, measured["floor"]["median"]) for flows, measured in curve], cases.PEERS)
