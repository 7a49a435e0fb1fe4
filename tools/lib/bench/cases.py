"""What tools/bench runs, and what is expected of it: data alone.

A case is one run of zonelb-bench with `arguments`. `target`: cycles per packet at most, None for a case that only
draws the curve or that a comparison uses. `flows`: where it stands on the plot's axis, for cases of the hit curve."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    name: str
    title: str
    arguments: str
    target: float = None
    flows: int = None
    quick: bool = False


@dataclass(frozen=True)
class Comparison:
    """Of two cases of one run of tools/bench. kind: ratio (cycles of `case` over cycles of `base`), difference (cycles)
    or throughput (packets a second of all workers over those of `base`). `target` is the most, of throughput the least.
    """
    name: str
    title: str
    kind: str
    case: str
    base: str
    target: float
    quick: bool = False


LOOK_UPS = ("hit", "miss")


@dataclass(frozen=True)
class TableCase:
    """Our connection table beside rte_hash: it is to be better at look-ups (LOOK_UPS), at each load."""
    name: str
    title: str
    arguments: str
    quick_arguments: str


@dataclass(frozen=True)
class SwapCase:
    """New snapshots at full rate. `target_ratio`: of p99.9 of the cycles per burst with swaps to that without, at most;
    `target_ms`: the flip's own time, at most."""
    name: str
    title: str
    arguments: str
    quick_arguments: str
    target_ratio: float
    target_ms: float


@dataclass(frozen=True)
class WireCase:
    """`run` names a function of wire.Wire; `target` is the least of zonelb's packets a second over macswap's."""
    name: str
    title: str
    run: str
    target: float


@dataclass(frozen=True)
class Peer:
    """Published figures: cycles per packet by number of flows."""
    name: str
    points: tuple


# Options of every run, in front of a case's own.
FULL = "--runs 10 --packets 4000000"
QUICK = "--runs 3 --packets 100000"

# Empties the table before each run; a run takes it to 80 %.
FILLING = "--new-percent 100 --connections 10000000 --table emptied --packets 0"

CASES = (
    Case("flows-16", "L2_DSR, 16 flows, hit", "--flows 16", 28, 16, quick=True),
    Case("ipip-16", "IPIP, 16 flows, hit", "--flows 16 --forwarding IPIP", 34),
    Case("flows-1k", "L2_DSR, 1k flows, hit", "--flows 1000", None, 1_000, quick=True),
    Case("flows-10k", "L2_DSR, 10k flows, hit", "--flows 10000", None, 10_000),
    Case("flows-100k", "L2_DSR, 100k flows, hit", "--flows 100000", 32, 100_000, quick=True),
    Case("flows-1m", "L2_DSR, 1M flows, hit", "--flows 1000000", 50, 1_000_000),
    Case("flows-4m", "L2_DSR, 4M flows, hit", "--flows 4000000", None, 4_000_000),
    Case("flows-10m", "L2_DSR, 10M flows, hit", "--flows 10000000", 100, 10_000_000),
    Case("new-filling", "every packet a new flow, table of 10M from empty to 80 %",
         FILLING, 120),
    Case("new-full", "the same, table full of connections of one packet",
         "--new-percent 100 --connections 10000000 --table full", 140),
    Case("new-confirmed", "the same, table full of confirmed connections",
         "--new-percent 100 --connections 10000000 --table confirmed", 140),
    Case("services-1000", "1M flows, 10 % new, 1,000 services",
         "--flows 1000000 --new-percent 10 --services 1000 --backends 10000 --zones 16 --connections 8000000", 75),
    Case("ipv6-1m", "IPv6, 1M flows, hit", "--ipv6 --flows 1000000"),
    Case("affinity-off", "1M flows, hit, zonal affinity off", "--flows 1000000 --zonal-affinity DISABLED"),
    Case("new-affinity-off", "every packet a new flow, zonal affinity off",
         f"{FILLING} --zonal-affinity DISABLED"),
    Case("workers-2", "1M flows, hit, two workers", "--flows 1000000 --workers 2"),
    Case("new-workers-2", "every packet a new flow, two workers",
         f"{FILLING} --workers 2"),
)

COMPARISONS = (
    Comparison("ipv6", "IPv6 over IPv4, 1M flows", "ratio", "ipv6-1m", "flows-1m", 1.3),
    Comparison("affinity-hits", "zonal affinity on less off, hits", "difference", "flows-1m", "affinity-off", 2),
    Comparison("affinity-new", "zonal affinity on less off, new flows", "difference", "new-filling",
               "new-affinity-off", 10),
    Comparison("workers-hits", "two workers over one, hits", "throughput", "workers-2", "flows-1m", 1.85),
    Comparison("workers-new", "two workers over one, new flows", "throughput", "new-workers-2", "new-filling", 1.7),
)

QUICK_TABLE = "--runs 1 --capacity 16384"
TABLE_CASES = (
    TableCase("table-ipv4", "IPv4", "--table-only --runs 10", f"--table-only {QUICK_TABLE}"),
    TableCase("table-ipv6", "IPv6", "--table-only --ipv6 --runs 10", f"--table-only --ipv6 {QUICK_TABLE}"),
)

QUICK_SWAPS = "--flows 1000 --phases 1 --phase-seconds 0.2"
SWAP_CASES = (
    SwapCase("swaps-scale", "1,000 services, 10,000 backends, 16 zones", "--swaps",
             f"--swaps --services 10 --backends 100 {QUICK_SWAPS}", 1.1, 10),
    SwapCase("swaps-one-service", "one service of 10,000 backends, 16 zones", "--swaps --services 1",
             f"--swaps --services 1 --backends 100 {QUICK_SWAPS}", 1.1, 10),
)

WIRE_CASES = (
    WireCase("memif", "64-byte packets over memif, one worker", "over_memif", 0.8),
    WireCase("pcap-null", "64-byte packets from net_pcap (100k flows) to net_null, one worker", "from_file", 0.55),
)

# VPP with 16 flows: 75 to 90.
PEERS = (
    Peer("VPP 26.06 lb", ((16, 82.5), (100_000, 95), (1_000_000, 152), (4_000_000, 172))),
    Peer("Katran", ((1, 130), (1_000_000, 700))),
    Peer("bare MAC swap", ((1, 19), (10_000_000, 19))),
)
