"""Every vector of tests/vectors through `zonelbctl explain`: the five sets, the pool, the match, the spill, and a
choice that lies inside modified_eligible."""

import json
from pathlib import Path

from lab.appliance import explain_cases, run_folder
from lab.flags import Flags

VECTORS = Path(__file__).parent.parent / "vectors"
SETS = ("original_eligible", "zonal_match_test", "zonal_matched", "modified_eligible")


def vectors():
    return [json.loads(line) for path in sorted(VECTORS.glob("*.jsonl")) for line in path.open()]


class Zones:
    """A client network for each zone that a vector names."""

    def __init__(self):
        self.numbers = {}

    def client(self, zone):
        """An address in the zone; with None, one that belongs to no zone."""
        number = self.numbers.setdefault(zone, len(self.numbers) + 1) if zone else 200
        return f"10.{number}.0.7"

    def flags(self):
        flags = Flags().region("here")
        for zone, number in self.numbers.items():
            flags.client_network(cidr=f"10.{number}.0.0/16", zone=zone)
        return flags


def add_service(flags, number, vector, zones):
    """The vector's service as one of many in one configuration; its backends' names get a prefix."""
    service = vector["service"]
    spillover = service["spillover_ratio"] if service["zonal_affinity"] == "SPILL_CROSS_ZONE" else None
    flags.backend_service(name=f"s{number}", zonal_affinity=service["zonal_affinity"], spillover_ratio=spillover,
                          failover_ratio=service["failover_ratio"],
                          drop_traffic_if_unhealthy=service["drop_traffic_if_unhealthy"])
    for at, backend in enumerate(vector["backends"]):
        zones.client(backend["zone"])
        flags.backend(service=f"s{number}", name=f"v{number}-{backend['name']}", zone=backend["zone"],
                      address=f"172.16.{at // 200}.{at % 200 + 1}", failover=backend["failover"] or None,
                      drain=backend.get("draining") or None)
    flags.forwarding_rule(name=f"r{number}", address=f"192.168.{number // 250}.{number % 250 + 1}", protocol="TCP",
                          ports=[80], backend_service=f"s{number}")


def case_of(number, vector, zones):
    unhealthy = [f"v{number}-{b['name']}" for b in vector["backends"] if not b["healthy"]]
    return {"rule": f"r{number}", "client": f"{zones.client(vector['client']['zone'])}:40000", "unhealthy": unhealthy}


def test_every_vector():
    zones, services, all_vectors = Zones(), Flags(), vectors()
    for number, vector in enumerate(all_vectors):
        add_service(services, number, vector, zones)
    cases = [case_of(number, vector, zones) for number, vector in enumerate(all_vectors)]
    path = f"{run_folder()}/vectors.flags"
    (zones.flags() + services).write(path)
    answers = explain_cases(path, cases)
    assert len(answers) == len(all_vectors) > 2000

    for number, (vector, answer) in enumerate(zip(all_vectors, answers)):
        expect, name = vector["expect"], vector["id"]
        plain = {key: [b.removeprefix(f"v{number}-") for b in answer[key]] for key in SETS}
        assert plain == {key: expect[key] for key in SETS}, name
        for key in ("active_pool", "zonal_match", "spilled"):
            assert answer[key] == expect[key], (name, key, answer)
        assert answer["client"]["zone"] == vector["client"]["zone"], name
        assert (answer["selected"] is None) == (not expect["modified_eligible"]), name
        assert answer["selected"] is None or answer["selected"] in answer["modified_eligible"], name
        assert (answer["ratio"] is None) == (not expect["zonal_match"]), name
