"""What differs between two cases, in a study's words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from longfat.analysis.compare.changes import Change, case_changes
from longfat.model.case import Case, Command, File
from longfat.model.network import Host, Link, LinkImpairments, Network
from longfat.model.probes import Queue, Tcp
from longfat.model.traffic import Iperf3, Ping

BULK = Iperf3(name="bulk", source="h1", target="h2", time_s=2.0)
RTT = Ping(name="rtt", source="h1", target="h2")


@pytest.fixture
def case(make_case: Callable[..., Case]) -> Case:
    lines = ("tc one", "tc two", "tc three")
    return make_case(BULK, RTT, root=lines)


def changes(a: Case, **fields: Any) -> list[tuple[str, str | None, str | None]]:
    found = case_changes(a, dataclasses.replace(a, **fields))
    return [(one.path, one.before, one.after) for one in found]


def with_links(case: Case, *links: Link) -> Network:
    return dataclasses.replace(case.network, links=links)


def test_equal_cases_and_other_seeds_differ_in_nothing(case: Case) -> None:
    assert changes(case) == []
    assert changes(case, seed=7) == []


def test_plain_fields_have_units(case: Case) -> None:
    assert changes(case, kernel="6.12", memory_bytes=1 << 30, seed=2) == [
        ("kernel", "6.1", "6.12"),
        ("memory", "512MB", "1GB"),
    ]


def test_flows_are_distinguished_by_name(case: Case) -> None:
    longer = dataclasses.replace(BULK, time_s=2.5, rate_bps=10_000_000, udp=True)
    assert changes(case, flows=(longer, RTT)) == [
        ("flows.bulk.time", "2s", "2.5s"),
        ("flows.bulk.rate", None, "10mbit"),
        ("flows.bulk.udp", "no", "yes"),
    ]
    assert changes(case, flows=(RTT, BULK)) == [("flows, their order", "bulk, rtt", "rtt, bulk")]
    ((path, before, after),) = changes(case, flows=(BULK,))
    assert (path, after) == ("flows.rtt", None)
    assert before == "{tool: ping, source: h1, target: h2, count: 4, interval: 1s, size: 56}"


def test_arguments_and_probes(case: Case) -> None:
    odd = dataclasses.replace(BULK, args=("-C", "bbr"))
    assert changes(case, flows=(odd, RTT)) == [("flows.bulk.args", "[]", "[-C, bbr]")]
    queue = Queue(name="q", of=("s1-eth1",), every_s=0.001)
    tcp = Tcp(name="q", of=("bulk",), every_s=0.001)
    assert changes(case, probes=(queue,)) == [
        ("probes.q", None, "{kind: queue, of: [s1-eth1], every: 1ms}")
    ]
    before = dataclasses.replace(case, probes=(queue,))
    assert [path for path, _, _ in changes(before, probes=(tcp,))] == [
        "probes.q.kind",
        "probes.q.of",
    ]


def test_what_both_directions_of_a_link_have_in_common_is_reported_once(case: Case) -> None:
    first, second = case.network.links
    slow, slower = (
        LinkImpairments(delay_s=0.01, loss=0.001),
        LinkImpairments(delay_s=0.02, loss=0.001),
    )
    before = dataclasses.replace(
        case,
        network=with_links(case, dataclasses.replace(first, a_to_b=slow, b_to_a=slow), second),
    )
    both = dataclasses.replace(first, a_to_b=slower, b_to_a=slower, mtu_bytes=9000)
    assert changes(before, network=with_links(case, both, second)) == [
        ("links[0].delay", "10ms", "20ms"),
        ("links[0].mtu", None, "9000"),
    ]
    one = dataclasses.replace(first, a_to_b=slow, b_to_a=dataclasses.replace(slow, loss=0.5))
    assert changes(before, network=with_links(case, one, second)) == [
        ("links[0].to.h1.loss", "0.1%", "50%")
    ]


def test_links_that_lead_elsewhere_come_or_go(case: Case) -> None:
    first, second = case.network.links
    network = with_links(case, first, dataclasses.replace(second, a="h1"), second)
    assert changes(case, network=network) == [
        ("links[1]", "h2 - s1", "h1 - s1"),
        ("links[2]", None, "h2 - s1"),
    ]


def test_hosts_and_their_fields(case: Case) -> None:
    hosts = (
        dataclasses.replace(case.network.hosts[0], address="10.0.0.9/8", forwards=True),
        case.network.hosts[1],
        Host(name="h3", address=None),
    )
    network = dataclasses.replace(case.network, hosts=hosts)
    assert changes(case, network=network) == [
        ("hosts.h1.address", "10.0.0.1/8", "10.0.0.9/8"),
        ("hosts.h1.forwards", "no", "yes"),
        ("hosts.h3", None, "{}"),
    ]


def test_setup_is_compared_line_by_line(case: Case) -> None:
    def lines(*texts: str) -> tuple[Command, ...]:
        return tuple(Command(node="root", line=text) for text in texts)

    assert changes(case, setup=lines("tc one", "tc 2", "tc three", "tc four")) == [
        ("setup[1]", "root: tc two", "root: tc 2"),
        ("setup[3]", None, "root: tc four"),
    ]
    assert changes(case, setup=lines("tc two", "tc three")) == [("setup[0]", "root: tc one", None)]


def test_as_plain_data() -> None:
    assert Change("kernel", "6.1", None).to_json() == {
        "path": "kernel",
        "before": "6.1",
        "after": None,
    }


def test_of_a_file_size_and_checksum_are_reported(case: Case) -> None:
    one = dataclasses.replace(
        case, files=(File(path="/opt/a", content=b"a"), File(path="/opt/b", content=b"b" * 2000))
    )
    other = (File(path="/opt/b", content=b"c" * 2000, executable=True),)
    assert changes(one, files=other) == [
        ("files./opt/a", "1 byte, SHA-256 ca978112ca1b...", None),
        (
            "files./opt/b",
            "2,000 bytes, SHA-256 d4c6e5ac27e3...",
            "2,000 bytes, SHA-256 218853113d17..., executable",
        ),
    ]
    assert changes(one, files=one.files) == []
