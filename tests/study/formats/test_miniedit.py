"""MiniEdit's files: what is read, what is told to be left behind, and what comes back.

The files in tests/data/miniedit are ours, made after the format's description.
"""

from __future__ import annotations

import json
import random
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longfat.errors import InputError
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
from longfat.study.formats.miniedit.commands import split_lines
from longfat.study.formats.miniedit.layout import lay_out
from tests.paths import TESTS

DATA = TESTS / "data" / "miniedit"


def test_a_drawing() -> None:
    drawn, warnings = read_miniedit(DATA / "dumbbell.mn")
    shape = LinkImpairments(
        rate_bps=10**8, delay_s=0.02, jitter_s=0.001, loss=0.01, queue_bytes=200 * 1500
    )
    near = LinkImpairments(delay_s=0.005)
    assert drawn.network == Network(
        hosts=(
            Host(name="h2", address="10.0.0.2/8"),
            Host(name="h1", address="10.0.0.1/8"),
            # Mininet gives an address without a prefix length this one.
            Host(name="h3", address="10.0.0.33/8"),
        ),
        switches=(Switch(name="s1"), Switch(name="s2")),
        links=(
            Link(a="s1", b="s2", a_to_b=shape, b_to_a=shape),
            Link(a="h1", b="s1"),
            Link(a="h2", b="s1", a_to_b=near, b_to_a=near),
            Link(a="s2", b="h3"),
        ),
    )
    # Interfaces are numbered in the order of the links.
    assert drawn.network.interfaces()[0] == ("s1-eth1", "s2-eth1")
    assert drawn.setup == ()
    assert drawn.positions["h3"] == (560.0, 210.0)
    assert warnings == (
        "c0: the controller is left out: switches here are learning bridges, which need none",
        "link s1 - s2: jitter: Mininet draws it evenly from both sides, longfat normally",
    )


def test_what_cannot_be_carried_is_told() -> None:
    drawn, warnings = read_miniedit(DATA / "everything.mn")
    told = {tuple(text.split(": ", 1)) for text in warnings}
    for who, what in [
        ("application", "switchType ivs"),
        ("application", "dpctl"),
        ("application", "sflow"),
        ("application", "netflow"),
        ("application", "openFlowVersions"),
        ("application", "the field colour"),
        ("the file", "the field nodes"),
        ("c0", "the controller"),
        ("h1", "sched"),
        ("h1", "cpu"),
        ("h1", "cores"),
        ("h1", "privateDirectory"),
        ("h1", "externalInterfaces"),
        ("h1", "stopCommand"),
        ("h2", "defaultRoute 192.168.7.7"),
        ("h2", "startCommand `python3 -m http.server &` runs in the background"),
        ("h2", "the field dimage"),
        ("s1", "dpid"),
        ("s1", "dpctl"),
        ("s1", "stopCommand"),
        ("s1", "sflow"),
        ("s1", "netflow"),
        ("s1", "externalInterfaces"),
        ("s2", "switchType user"),
        ("s2", "startCommand `ovs-vsctl show`"),
        ("s3", "the router has no addresses"),
        ("link h1 - s1", "bw 2000"),
        ("link h1 - s1", "speedup"),
        ("link s1 - s2", "delay 50 has no unit"),
        ("link s1 - s2", "bw 0"),
        ("link h2 - s2", "max_queue_size"),
        ("link h2 - s2", "jitter is left out"),
        ("link c0 - s1", "is left out"),
    ]:
        assert any(one == who and words.startswith(what) for one, words in told), (who, what)
    assert len(drawn.network.links) == 4
    assert drawn.network.links[0].a_to_b == LinkImpairments(rate_bps=2 * 10**9, queue_bytes=1518)
    assert drawn.network.links[1].a_to_b == LinkImpairments(delay_s=50e-6)
    assert drawn.network.hosts == (
        Host(name="h1", address="10.0.0.1/24", routes=(Route(to="default", via="10.0.0.254"),)),
        Host(name="h2", address="10.0.0.2/8"),
        Host(name="s3", address=None, forwards=True),
    )


def test_what_is_typed() -> None:
    drawn, _ = read_miniedit(DATA / "everything.mn")
    assert [(command.node, command.line) for command in drawn.setup] == [
        ("h1", "ip link add link h1-eth0 name h1-eth0.20 type vlan id 20"),
        # ifconfig takes the prefix length of the address's class.
        ("h1", "ip addr add 172.16.0.1/16 dev h1-eth0.20"),
        ("h1", "ip link set h1-eth0.20 up"),
        ("h1", "ip link add link h1-eth0 name h1-eth0.30 type vlan id 30"),
        ("h1", "ip addr add 192.168.1.1/28 dev h1-eth0.30"),
        ("h1", "ip link set h1-eth0.30 up"),
        ("h1", "sysctl -w net.ipv4.tcp_rmem='1 2 3'"),
        ("h1", "ip link show"),
        ("h2", "python3 -m http.server &"),
        (ROOT_NAMESPACE, "ip addr add 10.0.0.200/8 dev s1"),
        (ROOT_NAMESPACE, "tc qdisc add dev s1-eth1 root netem delay 1ms"),
    ]


def test_the_first_version_of_the_format() -> None:
    drawn, warnings = read_miniedit(DATA / "version1.mn")
    assert drawn.network.hosts == (
        Host(name="h1", address="192.168.0.1/8"),
        Host(name="h2", address="192.168.5.5/16"),
    )
    assert drawn.network.switches == (Switch(name="s1"),)
    assert drawn.network.links[0].b_to_a == LinkImpairments(rate_bps=10**7)
    assert len(warnings) == 1


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("tc qdisc show; ip link show;", ["tc qdisc show", "ip link show"]),
        ("sysctl -w a='1; 2'; ip link show", ["sysctl -w a='1; 2'", "ip link show"]),
        ("cd /tmp; ip link show", ["cd /tmp; ip link show"]),
        ("for i in 1 2; do ip link show; done", ["for i in 1 2; do ip link show; done"]),
        ("ip link show | cat; ip link show", ["ip link show | cat; ip link show"]),
        ("a\n\n b", ["a", "b"]),
        ("ip link show 'x; ip link show", ["ip link show 'x; ip link show"]),
        ("ip link show x\\; ip link show", ["ip link show x\\; ip link show"]),
    ],
)
def test_several_commands_on_one_line(command: str, lines: list[str]) -> None:
    assert split_lines(command) == lines


def error(text: str | bytes, folder: Path) -> str:
    file = folder / "net.mn"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as caught:
        read_miniedit(file)
    return str(caught.value).removeprefix(str(folder))


def test_a_loop_of_switches_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        read_miniedit(DATA / "loop.mn")
    assert "s3 and s1 are connected already, and a frame would circle" in caught.value.message
    assert caught.value.place is not None
    line = (DATA / "loop.mn").read_text().splitlines()[caught.value.place.line - 1 :][:5]
    assert '"dest": "s1"' in "".join(line)


H1 = '{"number": "1", "opts": {"hostname": "h1", "nodeNum": 1}}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "/net.mn:1:1: the file is empty"),
        ("{", "/net.mn:1:2: not JSON: Expecting property name enclosed in double quotes"),
        ("[]", "/net.mn:1:1: found a sequence, expected a MiniEdit file"),
        ("{}", "/net.mn:1:1: this is no MiniEdit file: it has no hosts and no switches and no "
         "links"),
        ('{"hosts": [], "switches": [], "links": [], "version": "3"}',
         "/net.mn:1:1: MiniEdit's file version '3' is not known, only 1 and 2"),
        (b'{"a": "\xff"}', "/net.mn:1:1: the file is not JSON, or nested too deep"),
        ("[" * 100_000, "/net.mn:1:1: the file is not JSON, or nested too deep"),
        (f'{{"hosts": [{H1}, {H1}], "switches": [], "links": []}}',
         "/net.mn:1:71: hosts[1]: there are two nodes with the name 'h1'"),
        (f'{{"hosts": [{H1}], "switches": [],\n "links": [{{"src": "h1", "dest": "s1"}}]}}',
         "/net.mn:2:34: links[0].dest: there is no node 's1' (there are: h1)"),
        (f'{{"hosts": [{H1}], "switches": [],\n "links": [{{"src": "h1"}}]}}',
         "/net.mn:2:12: links[0]: the link has no dest"),
        ('{"hosts": [{"number": "1", "opts": {"ip": "x"}}], "switches": [], "links": []}',
         "/net.mn:1:12: hosts[0]: ip: 'x/8' is not an address: 'x/8' does not appear to be an "
         "IPv4 or IPv6 interface"),
        ('{"hosts": [{"number": "300"}], "switches": [], "links": [],\n'
         ' "application": {"ipBase": "10.0.0.0/24"}}',
         "/net.mn:1:12: hosts[0]: h300 has no ip, and ipBase '10.0.0.0/24' has none with its "
         "number"),
        ('{"hosts": [{"opts": {}}], "switches": [], "links": []}',
         "/net.mn:1:12: hosts[0]: the node has neither a hostname nor a number"),
        ('{"hosts": [{"number": "1", "opts": {"hostname": "a b"}}], "switches": [], "links": []}',
         "/net.mn:1:12: hosts[0]: 'a b' cannot be a node's name: write a letter, then up to 31 "
         "letters, digits, - or _"),
    ],
)  # fmt: skip
def test_messages(text: str | bytes, message: str, tmp_path: Path) -> None:
    assert error(text, tmp_path) == message


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ('{"bw": "fast"}', "links[0].opts.bw: found 'fast', expected a number (bw)"),
        ('{"bw": -1}', "links[0].opts.bw: found '-1', expected a number (bw)"),
        ('{"delay": "soon"}', "links[0].opts.delay: 'soon' is not a time: write a number with "
         "s, ms, us, ns or min, such as 20ms"),
        ('{"loss": 101}', "links[0].opts: a loss of 101 % is more than all"),
    ],
)  # fmt: skip
def test_wrong_options(option: str, message: str, tmp_path: Path) -> None:
    text = (
        f'{{"hosts": [{H1}], "switches": [{{"number": "1"}}],\n\t'
        f'"links": [{{"src": "h1", "dest": "s1", "opts": {option}}}]}}'
    )
    assert error(text, tmp_path).partition(": ")[2] == message


def read_any(data: bytes, folder: Path) -> None:
    file = folder / "any.mn"
    file.write_bytes(data)
    try:
        drawn, warnings = read_miniedit(file)
    except InputError as caught:
        assert caught.place is not None, caught.message
        str(caught).encode()
    else:
        assert all(isinstance(text, str) for text in warnings)
        text, _ = miniedit_text(drawn.network, setup=drawn.setup)
        json.loads(text)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5000)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "h1", "s1", "10.0.0.1", "20ms", "legacyRouter", "1", "2", "c0", "é\t"])
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("hosts", "switches", "links", "opts", "number", "hostname", "nodeNum", "ip"),
                    *("src", "dest", "bw", "delay", "loss", "jitter", "max_queue_size", "version"),
                    *(
                        "switchType",
                        "vlanInterfaces",
                        "startCommand",
                        "controllers",
                        "defaultRoute",
                    ),
                    *("application", "ipBase", "sflow", "x", "y", "switchIP", "privateDirectory"),
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
NODES = st.fixed_dictionaries(
    {"number": st.sampled_from(["1", "2", "3", 4, None]), "opts": VALUES}, optional={"x": VALUES}
)
FILES = st.fixed_dictionaries(
    {
        "hosts": st.lists(NODES, max_size=3) | VALUES,
        "switches": st.lists(NODES, max_size=3) | VALUES,
        "links": VALUES
        | st.lists(
            st.fixed_dictionaries(
                {
                    "src": st.sampled_from(["h1", "h2", "s1", "s3", "c0"]),
                    "dest": st.sampled_from(["h1", "h3", "s1", "s2"]),
                    "opts": VALUES,
                }
            ),
            max_size=3,
        ),
    },
    optional={"application": VALUES, "controllers": VALUES, "version": VALUES},
)


@given(value=VALUES | FILES)
@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_json(value: object, tmp_path: Path) -> None:
    read_any(json.dumps(value).encode(), tmp_path)


@pytest.mark.parametrize("name", ["dumbbell", "everything", "version1"])
def test_damaged_files(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    document = json.loads((DATA / f"{name}.mn").read_text())
    for _ in range(150):
        changed = json.loads(json.dumps(document))
        damage(changed, chance)
        read_any(json.dumps(changed, indent="\t").encode(), tmp_path)


def damage(value: Any, chance: random.Random) -> None:
    """Replace one value somewhere inside."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = chance.choice(keys)
    inner = value[key]
    if isinstance(inner, dict | list) and inner and chance.random() < 0.8:
        damage(inner, chance)
    else:
        value[key] = chance.choice([None, "", "x", -1, 1e300, [], {}, True, "10.0.0.1", "s1"])


# What a file can hold.

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
    assert drawn.network == network
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
    (told,) = (words for words in warnings if words.startswith("link h1 - s1"))
    assert "Mininet has no " in told


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
        "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 1gbit burst 500000 limit 2500000",
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
