"""What is written is read back as an equal case."""

from __future__ import annotations

import string
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longfat.errors import InputError
from longfat.model.case import Case, Command, File
from longfat.model.kinds import percent_text, rate_text, size_text, time_text, times_text
from longfat.model.network import (
    ROOT_NAMESPACE,
    Host,
    Link,
    LinkImpairments,
    Network,
    Route,
    Switch,
)
from longfat.model.network.addressing import complete
from longfat.model.probes import Capture, Probe, Queue, Rate, Tcp
from longfat.model.traffic import Flow, Iperf3, Ping
from longfat.model.units import parse_fraction, parse_rate_bps, parse_size_bytes, parse_time_s
from longfat.study import read_study
from longfat.study.drawing import Drawing, Group, Note
from longfat.study.formats.write import study_text
from longfat.study.read import parse_study
from tests.paths import REPOSITORY


def back(case: Case, folder: Path, *, title: str = "A title") -> Case:
    file = folder / "study.yaml"
    file.write_text(study_text(title=title, case=case), encoding="utf-8")
    study = read_study(file)
    assert study.title == title
    return study.cases["default"].case


@pytest.mark.parametrize(
    "file",
    [
        *sorted(REPOSITORY.glob("labs/*/study.yaml")),
        REPOSITORY / "tests/study/data/everything.yaml",
    ],
    ids=lambda file: file.parent.name,
)
def test_every_case_of_the_labs(file: Path, tmp_path: Path) -> None:
    for planned in read_study(file).cases.values():
        assert back(planned.case, tmp_path) == planned.case


def test_it_is_readable() -> None:
    case = Case(
        kernel="6.12",
        network=Network(
            hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
            switches=(Switch(name="s1"),),
            links=(
                Link(a="h1", b="s1", mtu_bytes=9000),
                Link(
                    a="s1",
                    b="h2",
                    a_to_b=LinkImpairments(rate_bps=10**10, delay_s=0.02),
                    b_to_a=LinkImpairments(rate_bps=10**9, delay_s=0.02),
                    mtu_bytes=9000,
                ),
            ),
        ),
        setup=(
            Command(node=ROOT_NAMESPACE, line="tc qdisc add dev s1-eth1 root handle 1: netem"),
            Command(node="h1", line="sysctl -w net.ipv4.tcp_sack=0"),
            Command(node="h1", line="ip link show"),
        ),
        flows=(Iperf3(name="bulk", source="h1", target="h2", time_s=90.0, parallel=8),),
        probes=(Queue(name="queue", of=("s1-eth2",), every_s=0.01),),
    )
    assert (
        study_text(title="Readable", case=case)
        == """\
title: Readable
kernel: '6.12'

network:
  hosts: [h1, h2]
  switches: [s1]
  links:
    - [h1, s1, {mtu: 9000}]
    - [s1, h2, {delay: 20ms, mtu: 9000, to: {h2: {rate: 10gbit}, s1: {rate: 1gbit}}}]

setup:
  - root: 'tc qdisc add dev s1-eth1 root handle 1: netem'
  - h1:
      - sysctl -w net.ipv4.tcp_sack=0
      - ip link show

flows:
  bulk: {iperf3: h1 -> h2, time: 90s, parallel: 8}

probes:
  queue: {of: s1-eth2, every: 10ms}
"""
    )


def test_what_comes_by_itself_is_not_written(tmp_path: Path) -> None:
    hosts = (
        *(Host(name=name, address=None) for name in ("h1", "h2")),
        *(Host(name=name, address=None, forwards=True) for name in ("r1", "r2")),
    )
    links = (Link(a="h1", b="r1"), Link(a="r1", b="r2"), Link(a="r2", b="h2"))
    network = complete(Network(hosts=hosts, switches=(), links=links))
    case = Case(kernel="6.1", network=network)
    assert (
        study_text(title="x", case=case)
        == """\
title: x
kernel: '6.1'

network:
  hosts: [h1, h2]
  routers: [r1, r2]
  links: [[h1, r1], [r1, r2], [r2, h2]]
"""
    )
    assert back(case, tmp_path) == case
    by_hand = replace(network, hosts=tuple(replace(host, routes=()) for host in network.hosts))
    case = replace(case, network=by_hand)
    assert "addresses: none" in study_text(title="x", case=case)
    assert back(case, tmp_path) == case


@pytest.mark.parametrize(
    ("hosts", "written"),
    [
        ("[h1, h2]\n  routers: [r1, r2]", "  hosts: [h1, h2]\n  routers: [r1, r2]\n"),
        (
            "{h1: {timer_latency: 50us}, h2: }\n  routers: {r1: {timer_latency: 50us}, r2: }",
            "  hosts:\n    h1: {timer_latency: 50us}\n    h2:\n"
            "  routers:\n    r1: {timer_latency: 50us}\n    r2:\n",
        ),
        # A router before a host keeps its place: addresses are in the order of the nodes.
        (
            "{r1: {forwards: yes}, h1: , h2: , r2: {forwards: yes}}",
            "  hosts:\n    r1: {forwards: yes}\n    h1:\n    h2:\n    r2: {forwards: yes}\n",
        ),
    ],
)
def test_hosts_and_routers_are_lists_where_only_names_are_written(
    hosts: str, written: str, tmp_path: Path
) -> None:
    links = "  links: [[h1, r1], [r1, r2], [r2, h2]]"
    read = parse_study(f"title: x\nnetwork:\n  hosts: {hosts}\n{links}\n", name="x")
    case = read.cases["default"].case
    assert f"network:\n{written}{links}\n" in study_text(title="x", case=case)
    assert back(case, tmp_path) == case


PLACES = st.dictionaries(
    st.sampled_from(["h1", "h2", "s1"]),
    st.tuples(*[st.integers(-(10**6), 10**6).map(float) | st.floats(-1e6, 1e6)] * 2),
)


@given(layout=PLACES)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_layout(layout: dict[str, tuple[float, float]], tmp_path: Path) -> None:
    hosts = tuple(Host(name=name, address=None) for name in ("h1", "h2"))
    network = Network(hosts=hosts, switches=(Switch(name="s1"),), links=())
    file = tmp_path / "study.yaml"
    text = study_text(title="x", case=Case(kernel="6.1", network=network), layout=layout)
    file.write_text(text, encoding="utf-8")
    assert read_study(file).layout == layout


def test_files_are_written_inline() -> None:
    files = (
        File(path="/opt/a", content=b"#!/bin/sh\n\n  echo a\n", executable=True),
        File(path="/opt/b", content=b"\xff\0"),
    )
    network = Network(hosts=(Host(name="h1", address=None),), switches=(), links=())
    case = Case(kernel="6.1", network=network, files=files)
    text = study_text(title="x", case=case)
    assert text.endswith(
        """
files:
  /opt/a:
    text: |
      #!/bin/sh

        echo a
    executable: yes
  /opt/b:
    base64: /wA=
"""
    )
    large = Case(
        kernel="6.1", network=network, files=(File(path="/opt/c", content=b"x" * 300_000),)
    )
    with pytest.raises(InputError, match=r"at most 256 KB.*inline.*: /opt/c"):
        study_text(title="x", case=large)


def test_a_line_of_several_lines_cannot_stand_in_a_study() -> None:
    network = Network(hosts=(Host(name="h1", address="10.0.0.1/8"),), switches=(), links=())
    case = Case(kernel="6.1", network=network, setup=(Command(node="h1", line="a\nb"),))
    with pytest.raises(InputError, match="a command is one line"):
        study_text(title="x", case=case)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.02, "20ms"),
        (1.5, "1.5s"),
        (90.0, "90s"),
        (0.2, "200ms"),
        (1e-6, "1us"),
        (0.0123456789, "12.3456789ms"),
        (0.0, "0s"),
        (0.1 + 0.2, "0.30000000000000004s"),
    ],
)
def test_times(seconds: float, text: str) -> None:
    assert time_text(seconds) == text
    assert parse_time_s(text) == seconds


@given(st.floats(0, 1e6, allow_subnormal=False).filter(lambda x: x == 0 or x > 1e-12))
def test_any_time(seconds: float) -> None:
    assert parse_time_s(time_text(seconds)) == seconds


@given(st.floats(1e-9, 1) | st.just(0.0))
def test_any_share(share: float) -> None:
    assert parse_fraction(percent_text(share)) == share


@given(st.integers(0, 2**62))
def test_any_size_and_rate(number: int) -> None:
    assert parse_size_bytes(size_text(number)) == number
    assert parse_rate_bps(rate_text(number)) == number


NAMES = st.text(string.ascii_letters, min_size=1, max_size=4).filter(
    lambda name: name not in {"lo", "all", "root"}
)
TIMES = st.integers(1, 10**7).map(lambda us: us / 1e6)
LINES = st.text(
    st.characters(exclude_categories=("C", "Zl", "Zp"), exclude_characters="\x85"),
    min_size=1,
    max_size=40,
).filter(lambda line: line == line.strip() and line.strip() and "\n" not in line)
SHARES = st.none() | st.integers(0, 10**6).map(lambda millionths: millionths / 1e6)
SHAPES = (
    st.just(LinkImpairments())
    | st.builds(
        LinkImpairments,
        rate_bps=st.integers(8, 10**12),
        delay_s=TIMES,
        jitter_s=st.none() | st.integers(1, 2_147_000).map(lambda us: us / 1e6),
        loss=SHARES,
        duplicate=SHARES,
        corrupt=SHARES,
        reorder=SHARES,
        queue_bytes=st.none() | st.integers(20_000, 2**32 - 1),
    )
    | st.builds(
        LinkImpairments,
        rate_bps=st.none() | st.just(10**6),
        qdisc=st.sampled_from(["fq", "pfifo limit 100"]),
    )
)


@st.composite
def networks(draw: st.DrawFn) -> Network:
    names = draw(st.lists(NAMES, min_size=3, max_size=6, unique=True))
    switches, others = names[:1], names[1:]
    hosts, links = [], []
    mtu_bytes = draw(st.none() | st.integers(1280, 9000))
    for number, name in enumerate(others, start=1):
        own = draw(st.booleans())
        address = f"10.0.{number}.1/16"
        routes = (Route(to="default", via="10.0.200.1"),) if draw(st.booleans()) else ()
        hosts.append(
            Host(
                name=name,
                address=address if own else None,
                forwards=draw(st.booleans()),
                routes=routes,
                rx_coalescing_s=draw(st.sampled_from([None, 2e-5])),
            )
        )
        links.append(
            Link(
                a=name,
                b=switches[0],
                a_to_b=draw(SHAPES),
                b_to_a=draw(SHAPES),
                a_address=None if own else address,
                mtu_bytes=mtu_bytes,
                offloads=draw(st.sampled_from(["", "tso off", "gro on rx off"])),
            )
        )
    if draw(st.booleans()):
        extra = Link(a=others[0], b=others[1], a_address="fd00::1/64", b_address="fd00::2/64")
        links.append(extra)
    return Network(
        hosts=tuple(hosts),
        switches=tuple(Switch(name=name) for name in switches),
        links=tuple(links),
        frames=draw(st.booleans()),
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    network = draw(networks())
    if draw(st.booleans()):
        network = complete(network)
    hosts = [host.name for host in network.hosts]
    source, target = hosts[:2]
    iperf3 = Iperf3(
        name="bulk",
        source=source,
        target=target,
        time_s=draw(st.integers(1, 86400).map(float)),
        parallel=draw(st.integers(1, 128)),
        reverse=draw(st.booleans()),
        rate_bps=draw(st.none() | st.integers(1, 10**12)),
        congestion=draw(st.sampled_from([None, "bbr", "no", "cubic"])),
        window_bytes=draw(st.none() | st.integers(1, 2**29)),
        omit_s=draw(st.sampled_from([0.0, 3.0])),
        interval_s=draw(st.sampled_from([1.0, 0.1, 2.5])),
        start_s=draw(TIMES),
    )
    ping = Ping(
        name="rtt",
        source=target,
        target=source,
        count=draw(st.integers(1, 10**6)),
        interval_s=draw(st.sampled_from([1.0, 0.2, 0.001])),
        size_bytes=draw(st.integers(0, 65507)),
        start_spread_s=draw(TIMES),
        after="bulk",
        args=("-O", "-Q", "0x10"),
    )
    flows: list[Flow] = [iperf3, ping]
    interface = network.interfaces()[0][0]
    probes: list[Probe] = [
        Tcp(name="tcp", of=("bulk",), every_s=0.01),
        Rate(name="speed", of=(interface,)),
        Capture(name="capture", of=interface, filter=draw(st.sampled_from(["", "tcp and port 5"]))),
    ]
    nodes = st.sampled_from([ROOT_NAMESPACE, *hosts])
    paths = draw(st.lists(st.sampled_from(["/etc/a b", "/opt/x/y", "/usr/bin/z"]), unique=True))
    contents = st.binary(max_size=9) | st.text(
        st.sampled_from("a b#\t\n:'\"\\é\u2028"), max_size=20
    )
    return Case(
        kernel=draw(st.sampled_from(["6.1", "6.10", "6.12.3"])),
        network=network,
        files=tuple(
            File(
                path=path,
                content=content if isinstance(content, bytes) else content.encode(),
                executable=draw(st.booleans()),
            )
            for path, content in ((path, draw(contents)) for path in sorted(paths))
        ),
        # The first may reroute, so that any network will do.
        setup=(
            Command(node=ROOT_NAMESPACE, line="ip route"),
            *draw(st.lists(st.builds(Command, node=nodes, line=LINES), max_size=4)),
        ),
        flows=tuple(flows[: draw(st.integers(0, 2))]) if all_addressed(network) else (),
        probes=tuple(probes[1 : draw(st.integers(1, 3))]),
        seed=draw(st.integers(0, 2**63 - 1)),
        memory_bytes=draw(st.integers(2**27, 2**40)),
    )


def all_addressed(network: Network) -> bool:
    return len(network.host_addresses()) == len(network.hosts)


@given(case=cases(), title=LINES)
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_case(case: Case, title: str, tmp_path: Path) -> None:
    assert back(case, tmp_path, title=title) == case
    assert Case.from_json(case.to_json()) == case


def test_what_stands_in_the_drawing_comes_back(tmp_path: Path) -> None:
    hosts = tuple(Host(name=name, address=None) for name in ("h1", "h2"))
    case = Case(kernel="6.1", network=Network(hosts=hosts, switches=(), links=()))
    drawing = Drawing(
        colours={"h1": "blue", "gone": "red"},
        groups=(
            Group(name="Site A", nodes=("h1", "gone"), colour="green"),
            Group(nodes=("gone",)),
        ),
        notes=(Note(text="two\nlines: # no comment", at=(10.0, -2.5)), Note(text="x", at=(0, 0))),
    )
    file = tmp_path / "study.yaml"
    file.write_text(study_text(title="x", case=case, drawing=drawing), encoding="utf-8")
    assert read_study(file).drawing == drawing.of_nodes(("h1", "h2"))
    assert drawing.of_nodes(("h1", "h2")).groups == (
        Group(name="Site A", nodes=("h1",), colour="green"),
    )
    assert drawing.summary == "2 notes, 2 groups and colours"
    assert "drawing" not in study_text(title="x", case=case, drawing=Drawing())


def test_times_of_a_pair_have_one_unit() -> None:
    assert times_text([0.0361, 0.035]) == ["36.1ms", "35ms"]
    assert times_text([0.020001, 0.02]) == ["20.001ms", "20ms"]
    assert times_text([2.0, 3.5]) == ["2s", "3.5s"]
