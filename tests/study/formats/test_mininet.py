"""The script for Mininet: it compiles, and asks Mininet for the nodes, links and lines of ours.

Mininet itself needs root and Open vSwitch; what the script asks of it is recorded
by modules of the same names.
"""

from __future__ import annotations

import shlex
import sys
import types
from typing import Any

import pytest

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
from longfat.study.formats.mininet.write import mininet_text

NETWORK = Network(
    hosts=(
        Host(name="h1", address="10.0.1.1/24", routes=(Route(to="default", via="10.0.1.254"),)),
        Host(name="h2", address="fd00::2/64"),
        Host(name="r1", address="10.0.1.254/24", forwards=True),
    ),
    switches=(Switch(name="left"), Switch(name="right")),
    links=(
        Link(a="h1", b="left", mtu_bytes=9000),
        Link(a="left", b="r1", a_to_b=LinkImpairments(rate_bps=10**10, delay_s=0.02)),
        Link(a="r1", b="right", a_address="fd00::1/64", a_to_b=LinkImpairments(loss=0.01)),
        Link(a="right", b="h2"),
    ),
)
SETUP = (
    Command(node="h1", line="sysctl -w net.ipv4.tcp_rmem='1 2 3'"),
    Command(node=ROOT_NAMESPACE, line='echo "a\\b"'),
)


class Recorder:
    """Plays the part of Mininet: keeps what is asked of it, and what is typed at nodes."""

    def __init__(self, *, failing: str = "") -> None:
        self.failing = failing
        self.asked: list[tuple[object, ...]] = []
        self.typed: list[tuple[str, str]] = []

    def modules(self) -> dict[str, types.ModuleType]:
        """Return Mininet's modules, as far as the script imports them."""
        node = type("Node", (Node,), {"recorder": self})
        net = type("Mininet", (Net,), {"recorder": self, "node": node})
        contents: dict[str, dict[str, object]] = {
            "mininet": {},
            "mininet.cli": {"CLI": lambda net: self.asked.append(("cli", net is not None))},
            "mininet.log": {"setLogLevel": str},
            "mininet.net": {"Mininet": net},
            "mininet.node": {"Node": node, "OVSBridge": object},
        }
        found = {}
        for name, values in contents.items():
            found[name] = types.ModuleType(name)
            vars(found[name]).update(values)
        return found


class Node:
    recorder: Recorder

    def __init__(self, name: str, **params: Any) -> None:
        self.name = name
        self.params = params
        self.status = "0"

    def config(self, **params: Any) -> None:
        self.params = params

    def cmd(self, line: str) -> str:
        if line == "echo $?":
            return f"{self.status}\r\n"
        if line.startswith("eval "):  # without input
            line, end = shlex.split(line)[1], line[-12:]
            assert end == " < /dev/null"
        self.recorder.typed.append((self.name, line))
        self.status = "2" if line == self.recorder.failing else "0"
        return "no such thing" if self.status == "2" else ""


class Net:
    recorder: Recorder
    node: type[Node]

    def __init__(self, **params: Any) -> None:
        self.recorder.asked.append(("net", params["controller"]))
        self.nodes: dict[str, Node] = {}

    def addHost(self, name: str, *, cls: type[Node] | None = None, **params: Any) -> None:  # noqa: N802
        self.recorder.asked.append(("host", name, params))
        self.nodes[name] = (cls or self.node)(name)
        self.nodes[name].config(**params)

    def addSwitch(self, name: str, **params: Any) -> None:  # noqa: N802
        self.recorder.asked.append(("switch", name, params["dpid"]))

    def addLink(self, a: str, b: str, **names: str) -> None:  # noqa: N802
        self.recorder.asked.append(("link", a, b, *names.values()))

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]

    def start(self) -> None:
        self.recorder.asked.append(("start",))

    def stop(self) -> None:
        self.recorder.asked.append(("stop",))


def play(recorder: Recorder, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, module in recorder.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    space: dict[str, Any] = {"__name__": "script"}
    exec(compile(text, "script.py", "exec"), space)
    space["main"]()


def test_it_builds_the_same_network(monkeypatch: pytest.MonkeyPatch) -> None:
    text = mininet_text(title='A "title" \\', network=NETWORK, setup=SETUP)
    recorder = Recorder()
    play(recorder, text, monkeypatch)
    assert recorder.asked == [
        ("net", None),
        ("host", "h1", {"ip": "10.0.1.1/24", "defaultRoute": "via 10.0.1.254"}),
        ("host", "h2", {"ip": None}),
        ("host", "r1", {"ip": "10.0.1.254/24"}),
        ("switch", "left", "1"),
        ("switch", "right", "2"),
        ("link", "h1", "left", "h1-eth0", "left-eth1"),
        ("link", "left", "r1", "left-eth2", "r1-eth0"),
        ("link", "r1", "right", "r1-eth1", "right-eth1"),
        ("link", "right", "h2", "right-eth2", "h2-eth0"),
        *(("start",), ("cli", True), ("stop",)),
    ]
    assert recorder.typed == [
        ("r1", FORWARD_LINE),
        ("h1", "ip link set h1-eth0 mtu 9000"),
        (ROOT_NAMESPACE, "ip link set left-eth1 mtu 9000"),
        ("h2", "ip addr add fd00::2/64 dev h2-eth0 nodad"),
        ("r1", "ip addr add fd00::1/64 dev r1-eth1 nodad"),
        *shape_commands(NETWORK),
        *((command.node, command.line) for command in SETUP),
    ]


def test_a_line_that_fails_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(failing=SETUP[0].line)
    with pytest.raises(RuntimeError, match=r"h1: sysctl .*: no such thing \(status 2\)"):
        play(recorder, mininet_text(title="x", network=NETWORK, setup=SETUP), monkeypatch)
    assert recorder.asked[-1] == ("stop",)


def test_a_network_of_nothing_but_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(hosts=(Host(name="h1", address=None),), switches=(), links=())
    recorder = Recorder()
    play(recorder, mininet_text(title="x", network=network), monkeypatch)
    assert recorder.typed == []
