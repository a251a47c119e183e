"""MiniEdit's files as they are written, and read again."""

from __future__ import annotations

import json
import string
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longfat.model.case import Command
from longfat.model.network import (
    ROOT_NAMESPACE,
    Host,
    Link,
    LinkImpairments,
    Network,
    Route,
    Switch,
    shape_commands,
)
from longfat.model.network.build import FORWARD_LINE
from longfat.study.formats.miniedit import miniedit_text, read_miniedit
from longfat.study.formats.miniedit.write import lay_out
from tests.paths import TESTS

DATA = TESTS / "data" / "miniedit"


FRACTIONS = st.sampled_from([0.5, 2.25, 10, 100, 1000])
SHAPES = st.builds(
    LinkImpairments,
    rate_bps=FRACTIONS.map(lambda megabits: round(megabits * 1e6)),
    delay_s=st.none() | st.integers(1, 10**6).map(lambda us: us / 1e6),
    loss=st.none() | st.sampled_from([0.01, 0.5, 0.001, 1.0]),
    queue_bytes=st.none() | st.integers(2, 10**6).map(lambda packets: packets * 1500),
) | st.just(LinkImpairments())


@st.composite
def networks(draw: st.DrawFn) -> Network:
    names = draw(
        st.lists(st.text(string.ascii_lowercase, min_size=2, max_size=5), min_size=4, max_size=9)
        .map(lambda names: list(dict.fromkeys(names)))
        .filter(lambda names: len(names) >= 4 and not {"lo", "all", "root"} & set(names))
    )
    switches, hosts = names[:2], names[2:]
    made = []
    for number, name in enumerate(hosts, start=1):
        route = (Route(to="default", via="10.0.9.9"),) if draw(st.booleans()) else ()
        made.append(Host(name=name, address=f"10.0.{number}.1/16", routes=route))
    if draw(st.booleans()):
        made.append(Host(name="router", address=None, forwards=True))
    ends = [(host.name, draw(st.sampled_from(switches))) for host in made]
    links = [tuple(switches), *ends]
    shapes = [draw(SHAPES) for _ in links]
    order = draw(st.permutations(range(len(links))))
    return Network(
        hosts=tuple(made),
        switches=tuple(Switch(name=name) for name in switches),
        links=tuple(
            Link(a=links[i][0], b=links[i][1], a_to_b=shapes[i], b_to_a=shapes[i]) for i in order
        ),
    )


@given(network=networks())
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_network_comes_back(network: Network, tmp_path: Path) -> None:
    file = tmp_path / "net.mn"
    text, _ = miniedit_text(network)
    file.write_text(text)
    drawn, _ = read_miniedit(file)
    assert drawn.network == replace(network, shared_kernel=True)
    assert drawn.setup == ()
    assert drawn.positions == lay_out(network)


def test_places_of_a_layout(tmp_path: Path) -> None:
    drawn, _ = read_miniedit(DATA / "dumbbell.mn")
    file = tmp_path / "net.mn"
    file.write_text(miniedit_text(drawn.network, layout=drawn.positions)[0])
    assert read_miniedit(file)[0].positions == drawn.positions
    file.write_text(miniedit_text(drawn.network, layout={"h3": (1.5, 2.0)})[0])
    again = read_miniedit(file)[0].positions
    assert again == lay_out(drawn.network) | {"h3": (1.5, 2.0)}


@pytest.mark.parametrize(
    "shape",
    [
        LinkImpairments(duplicate=0.1),
        LinkImpairments(corrupt=0.1),
        LinkImpairments(delay_s=1.0, reorder=0.1),
        LinkImpairments(qdisc="fq"),
    ],
)
def test_what_no_option_says_goes_into_start_commands(
    shape: LinkImpairments, tmp_path: Path
) -> None:
    network = Network(
        hosts=(Host(name="h1", address="10.0.0.1/8"),),
        switches=(Switch(name="s1"),),
        links=(Link(a="h1", b="s1", a_to_b=shape, b_to_a=shape),),
    )
    text, warnings = miniedit_text(network)
    file = tmp_path / "net.mn"
    file.write_text(text)
    typed = [(command.node, command.line) for command in read_miniedit(file)[0].setup]
    assert typed == sorted(shape_commands(network))
    (warning,) = (words for words in warnings if words.startswith("link h1 - s1"))
    assert "Mininet has no " in warning


def test_the_text_is_as_miniedit_writes_it() -> None:
    drawn, _ = read_miniedit(DATA / "dumbbell.mn")
    text, warnings = miniedit_text(drawn.network)
    document = json.loads(text)
    assert text == json.dumps(document, sort_keys=True, indent=4, separators=(",", ": ")) + "\n"
    assert document["version"] == "2"
    assert document["links"][0]["opts"] == {
        "bw": 100,
        "delay": "20ms",
        "jitter": "1ms",
        "loss": 1,
        "max_queue_size": 200,
    }
    (h3,) = (host for host in document["hosts"] if host["opts"]["hostname"] == "h3")
    assert h3["number"] == "3"
    assert h3["opts"]["ip"] == "10.0.0.33/8"
    assert all(switch["opts"]["controllers"] == ["c0"] for switch in document["switches"])
    assert warnings[-1].startswith("c0: is added")


def test_what_miniedit_cannot_hold_goes_into_start_commands(tmp_path: Path) -> None:
    there, back = LinkImpairments(rate_bps=10**9, delay_s=0.01), LinkImpairments(rate_bps=10**8)
    network = Network(
        hosts=(
            Host(name="h1", address="10.0.1.1/24", routes=(Route(to="default", via="10.0.1.254"),)),
            Host(name="r1", address="10.0.1.254/24", forwards=True),
            Host(name="h2", address="10.0.2.1/24"),
        ),
        switches=(Switch(name="s1"),),
        links=(
            Link(a="h1", b="s1", mtu_bytes=9000),
            Link(a="s1", b="r1", a_to_b=there, b_to_a=back),
            Link(a="r1", b="h2", a_address="10.0.2.254/24"),
            Link(
                a="r1",
                b="h2",
                a_to_b=LinkImpairments(rate_bps=10**10),
                b_to_a=LinkImpairments(rate_bps=10**10),
            ),
        ),
    )
    typed = Command(node="h2", line="sysctl -w net.ipv4.tcp_sack=0")
    text, warnings = miniedit_text(network, setup=(typed,))
    file = tmp_path / "net.mn"
    file.write_text(text)
    drawn, _ = read_miniedit(file)
    at_root = [command.line for command in drawn.setup if command.node == ROOT_NAMESPACE]
    assert at_root == [
        "tc qdisc add dev s1-eth2 root handle 1: netem limit 1000000000 delay 10ms",
        "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 1gbit burst 125000 limit 2500000",
        "ip link set s1-eth1 mtu 9000",
    ]
    at_r1 = [command.line for command in drawn.setup if command.node == "r1"]
    assert at_r1[0] == FORWARD_LINE
    assert at_r1[3:] == ["ip addr add 10.0.2.254/24 dev r1-eth1"]
    assert at_r1[1].startswith("tc qdisc add dev r1-eth0 root handle 1: tbf rate 100mbit")
    assert at_r1[2].startswith("tc qdisc add dev r1-eth2 root handle 1: tbf rate 10gbit")
    assert typed in drawn.setup
    for words in [
        "link s1 - r1: its directions differ",
        "link r1 - h2: MiniEdit opens a link between two hosts",
        "link r1 - h2: there are several",
        "link r1 - h2: Mininet ignores a bw of more than 1000",
        "r1: a router with addresses is a host with a start command",
    ]:
        assert any(text.startswith(words) for text in warnings), words


def test_nodes_stand_in_places_of_their_own() -> None:
    hosts = tuple(Host(name=f"h{n}", address=f"10.0.0.{n}/8") for n in range(1, 41))
    switches = tuple(Switch(name=f"s{n}") for n in range(1, 6))
    links = tuple(Link(a=f"s{n}", b=f"s{n + 1}") for n in range(1, 5))
    links += tuple(Link(a=host.name, b=f"s{1 + i % 4}") for i, host in enumerate(hosts[:-1]))
    places = lay_out(Network(hosts=hosts, switches=switches, links=links))
    assert len(places) == len(set(places.values())) == 45
