"""What zonelb does with packets is what `zonelbctl explain` says of them, what /metrics counts, and what weights
ask for."""

import random
from collections import Counter

import pytest

from lab.appliance import Appliance, explain_cases
from lab.flags import Flags
from lab.waiting import wait_for

from packets import frames as f
from packets.pcap import write_pcap
from packets.run import backend_mac, port_flags, waiting_service

PACKETS = 2000
ZONES = ("zone-a", "zone-b", "zone-c")


def zoned(service, weights=None, drained=(), per_zone=3, failover=()):
    """A service over three zones whose clients are 10.1…10.3 and 2001:db8:1…3; the rest of the world has no zone."""
    flags = Flags().backend_service(name="s", **service)
    for number in range(1, 3 * per_zone + 1):
        flags.backend(service="s", name=f"b{number}", address=f"10.0.2.{number}", mac=backend_mac(number),
                      zone=ZONES[(number - 1) // per_zone], weight=(weights or {}).get(number),
                      drain=True if number in drained else None, failover=True if number in failover else None)
    for number in (2, 3):
        flags.client_network(cidr=[f"10.{number}.0.0/16", f"2001:db8:{number}::/48"], zone=ZONES[number - 1])
    for version, address in (("v4", f.VIP), ("v6", f.VIP6)):
        flags.forwarding_rule(name=f"tcp-{version}", address=address, protocol="TCP", ports=[80, "8000-8100"],
                              backend_service="s")
        flags.forwarding_rule(name=f"udp-{version}", address=address, protocol="UDP", ports="all", backend_service="s")
    return port_flags() + flags


CONFIGURATIONS = {
    "plain": zoned({}),
    "stays in the zone": zoned(dict(zonal_affinity="STAY_WITHIN_ZONE", session_affinity="CLIENT_IP_PORT_PROTO")),
    "spills": zoned(dict(zonal_affinity="SPILL_CROSS_ZONE", spillover_ratio=0.5, session_affinity="CLIENT_IP"),
                    drained=(1, 2, 5), weights={3: 5, 7: 2, 8: 7}),
    "by source": zoned(dict(zonal_affinity="SPILL_CROSS_ZONE", session_affinity="CLIENT_IP_NO_DESTINATION"),
                       weights={1: 3, 4: 0}),
    "fails over": zoned(dict(failover_ratio=0.9, session_affinity="CLIENT_IP_PROTO"), failover=(3, 6, 9),
                        drained=(1, 2, 4)),
}


def random_case(draw, port):
    """A case for explain and the frame it is about."""
    ipv6, is_udp = draw.random() < 0.4, draw.random() < 0.5
    network = draw.choice((1, 1, 2, 2, 3, 3, 77))
    host = draw.randrange(1, 0xFFFF)
    source = f"2001:db8:{network}::{host:x}" if ipv6 else f"10.{network}.{host >> 8}.{host & 255}"
    service_port = draw.randrange(1, 0x10000) if is_udp else draw.choice((80, *range(8000, 8101)))
    rule = f"{'udp' if is_udp else 'tcp'}-{'v6' if ipv6 else 'v4'}"
    destination = f.VIP6 if ipv6 else f.VIP
    both = [f"[{address}]:{number}" if ipv6 else f"{address}:{number}"
            for address, number in ((source, port), (destination, service_port))]
    make = f.udp if is_udp else f.tcp
    return ({"rule": rule, "client": both[0], "destination": both[1]},
            make(ipv6, port=service_port, source_port=port, source=source))


def chosen(frame):
    """Name of the backend a frame went to."""
    return f"b{frame[5]}"


def assert_counted(result):
    """/metrics counts the packets and bytes that each backend was sent."""
    frames, sizes = Counter(), Counter()
    for frame in result.frames:
        frames[chosen(frame)] += 1
        sizes[chosen(frame)] += len(frame)
    assert result.metrics.by("zonelb_packets_total", "backend") == frames
    assert result.metrics.by("zonelb_bytes_total", "backend") == sizes


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_packets_go_where_explain_says_and_are_counted(run, name):
    draw = random.Random(name)
    flags = CONFIGURATIONS[name]
    cases, sent = zip(*(random_case(draw, port) for port in range(20000, 20000 + PACKETS)))
    result = run(flags, list(sent))
    assert len(result.frames) == PACKETS, result.drops()
    expected = [answer["selected"] for answer in explain_cases(f"{run.folder}/zonelb.flags", list(cases))]
    # A worker may send a burst's IPv4 packets before its IPv6 ones: compare packet by packet.
    went_to = {frame[12:]: chosen(frame) for frame in result.frames}
    assert [went_to[frame[12:]] for frame in sent] == expected

    assert_counted(result)
    frames = Counter(expected)
    by_rule = Counter(case["rule"] for case in cases)
    assert result.metrics.by("zonelb_packets_total", "rule") == by_rule
    assert result.metrics.sum("zonelb_new_connections_total", service="s") == PACKETS
    assert result.metrics.sum("zonelb_drops_total") == 0
    assert set(frames) > {"b9"} or name == "fails over"


def test_bursts_for_services_with_many_backends_and_with_none(run):
    """More backends and counters than a worker's caches are trusted to hold; beside them services without a backend,
    with none to send to, and with none yet. What each connection meets is as if it came alone."""
    flags = zoned(dict(zonal_affinity="SPILL_CROSS_ZONE"), per_zone=60)
    flags.backend_service(name="empty").backend_service(name="closed", drop_traffic_if_unhealthy=True)
    flags.backend(service="closed", name="c1", zone="zone-a", address="10.0.3.1", mac=backend_mac(1), drain=True)
    for name, port in (("empty", 90), ("closed", 91)):
        for version, address in (("v4", f.VIP), ("v6", f.VIP6)):
            flags.forwarding_rule(name=f"{name}-{version}", address=address, protocol="TCP", ports=[port],
                                  backend_service=name)
    draw = random.Random(5)
    cases, open_to = zip(*(random_case(draw, port) for port in range(20000, 21000)))
    unserved, unready = ([f.tcp(draw.random() < 0.4, port=draw.choice(ports), source_port=port)
                          for port in range(21000, 21300)] for ports in ((90, 91), (92,)))
    sent = [*open_to, *unserved, *unready]
    draw.shuffle(sent)
    with waiting_service(run.namespace, flags, port=92):
        result = run(flags, sent + sent)
    assert result.drops() == {"no_backend": 2 * len(unserved), "starting": 2 * len(unready)}
    expected = [answer["selected"] for answer in explain_cases(f"{run.folder}/zonelb.flags", list(cases))]
    assert len(set(expected)) > 128
    went_to = Counter((frame[12:], chosen(frame)) for frame in result.frames)
    assert went_to == {(frame[12:], name): 2 for frame, name in zip(open_to, expected)}
    assert result.metrics.by("zonelb_new_connections_total", "backend") == Counter(expected)
    assert_counted(result)


def test_the_order_of_flags_does_not_matter(run):
    flags = CONFIGURATIONS["stays in the zone"]
    draw = random.Random(1)
    sent = [random_case(draw, port)[1] for port in range(20000, 20500)]
    first = run(flags, sent).frames
    shuffled = Flags(flags.lines)
    draw.shuffle(shuffled.lines)
    assert run(shuffled, sent).frames == first


@pytest.mark.parametrize("affinity", ["NONE", "CLIENT_IP"])
def test_shares_are_within_a_point_of_the_weights(run, affinity):
    """20,000 connections; ports and addresses in sequence, as real clients and test tools take them."""
    weights = {1: 1, 2: 2, 3: 3, 4: 4, 5: 1, 6: 5, 7: 1, 8: 1, 9: 2}
    flags = zoned(dict(session_affinity=affinity), weights=weights)
    template = f.tcp()
    first = 0x0A010001
    if affinity == "NONE":
        sources = [(first + n // 2000, 30000 + n % 2000) for n in range(20000)]
    else:
        sources = [(first + n, 40000) for n in range(20000)]
    result = run(flags, [f.from_client(template, *source) for source in sources])
    assert len(result.frames) == 20000
    shares = Counter(map(chosen, result.frames))
    for number, weight in weights.items():
        wanted = weight / sum(weights.values())
        assert abs(shares[f"b{number}"] / 20000 - wanted) < 0.01, (number, shares)


def test_four_workers_keep_a_connection_together_while_backends_come_and_go(run):
    """All four queues get packets of the same 60 connections, over and over, while backends drain and return: each
    connection stays where it began, by the table, not by luck of the hash."""
    connections = [f.tcp(source_port=20000 + n, flags="A") for n in range(60)]
    path = f"{run.folder}/loop.pcap"
    write_pcap(path, connections)
    flags = zoned({}).workers(4)
    eal = run.eal([path] * 4, infinite=True, eal="--lcores '0@0,1@0,2@1,3@0,4@1'")
    with Appliance(run.namespace, flags, eal, run.folder) as zonelb:
        def packets():
            return zonelb.metrics().by("zonelb_packets_total", "backend")

        def share_of_the_next(count):
            before = packets()
            wait_for(lambda: sum(packets().values()) - sum(before.values()) > count, f"{count} packets more")
            after = packets()
            moved = {name: after[name] - before.get(name, 0) for name in after}
            return {name: round(moved[name] / sum(moved.values()), 2) for name in moved}

        wait_for(lambda: sum(packets().values()) > 100_000, "traffic")
        begun = zonelb.metrics().sum("zonelb_new_connections_total")
        assert begun == len(connections), "one entry a connection, whoever inserts it"
        at_first = share_of_the_next(500_000)
        busiest = sorted(at_first, key=at_first.get)[-3:]
        for name in busiest:
            zonelb.control("drain", name)
            drained = share_of_the_next(500_000)
            assert all(abs(drained[other] - at_first[other]) < 0.03 for other in at_first), (name, at_first, drained)
        for name in busiest:
            zonelb.control("undrain", name)
        back = share_of_the_next(500_000)
        assert all(abs(back[other] - at_first[other]) < 0.03 for other in at_first)
        assert zonelb.metrics().sum("zonelb_new_connections_total") == begun
