"""Topologies in layers: a tree of switches, and a data centre's leaves and spines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from longfat.model.fields import declare
from longfat.model.kinds import Integer
from longfat.model.units import parse_rate_bps
from longfat.study.templates.template import RATE, RTT, Parts, Template, check_hosts

_STEP_X, _STEP_Y, _GAP = 90, 120, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree(Template):
    """A tree of switches with hosts as its leaves."""

    name: ClassVar[str] = "tree"
    title: ClassVar[str] = "Tree"
    help: ClassVar[str] = "a tree of switches with hosts as leaves, as Mininet's TreeTopo"

    depth: int = declare(
        Integer(least=1, most=6),
        default=2,
        label="Depth",
        help="how many layers of switches there are",
    )
    fanout: int = declare(
        Integer(least=2, most=16),
        default=3,
        label="Fan-out",
        help="how many nodes hang on each switch",
    )

    def parts(self) -> Parts:
        """Return the tree, its root at the top."""
        hosts = self.fanout**self.depth
        check_hosts(hosts)
        delay = self.delay(2 * self.depth)
        rate = self.written("rate_bps")
        layers = [[f"h{number}" for number in range(1, hosts + 1)]]
        count = sum(self.fanout**layer for layer in range(self.depth))
        links: list[str] = []
        layout = {name: (60 + index * _STEP_X, 60) for index, name in enumerate(layers[0])}
        for layer in reversed(range(self.depth)):
            count -= self.fanout**layer
            switches = [f"s{count + index + 1}" for index in range(self.fanout**layer)]
            for index, switch in enumerate(switches):
                below = layers[-1][index * self.fanout : (index + 1) * self.fanout]
                links += [f"[{switch}, {name}, {{rate: {rate}, delay: {delay}}}]" for name in below]
                xs = [layout[name][0] for name in below]
                layout[switch] = ((xs[0] + xs[-1]) // 2, 0)
            layers.append(switches)
        for level, names in enumerate(reversed(layers)):
            layout |= {name: (layout[name][0], 60 + level * _STEP_Y) for name in names}
        far = f"h{hosts}"
        return Parts(
            title=f"Tree of depth {self.depth} with {hosts} hosts",
            about="All links are alike, so the switch at the top is where flows between the "
            "branches meet. Draw more flows, and see which links become full.",
            hosts={
                name: f"10.0.{number // 250}.{number % 250 + 1}/8"
                for number, name in enumerate(layers[0])
            },
            switches=tuple(name for names in reversed(layers[1:]) for name in names),
            links=tuple(links),
            flows={
                "far": f"{{iperf3: h1 -> {far}, time: 10s}}",
                "near": "{iperf3: h2 -> h1, time: 10s}",
            },
            layout=layout,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DataCentre(Template):
    """Leaves and spines: routers in two layers, and racks of hosts."""

    name: ClassVar[str] = "data-centre"
    title: ClassVar[str] = "Data centre (leaf-spine)"
    help: ClassVar[str] = "racks of hosts below leaf routers, all joined by spine routers: incast"

    rate_bps: int = declare(
        RATE, default=parse_rate_bps("1gbit"), label="Rate", help="the rate of each link"
    )
    rtt_s: float = declare(
        RTT, default=0.0004, label="RTT", help="the round-trip time between two racks"
    )
    leaves: int = declare(
        Integer(least=2, most=16), default=3, label="Leaves", help="how many racks there are"
    )
    spines: int = declare(
        Integer(least=1, most=8), default=2, label="Spines", help="how many routers join the racks"
    )
    hosts: int = declare(
        Integer(least=1, most=40), default=2, label="Hosts", help="how many hosts each rack has"
    )

    def parts(self) -> Parts:
        """Return racks, each a switch and its router, and the routers that join them."""
        check_hosts(self.leaves * self.hosts)
        rate, delay = self.written("rate_bps"), self.delay(4)
        leaves = range(1, self.leaves + 1)
        hosts: dict[str, str] = {}
        links = ["# Each rack: its hosts, a switch, and the leaf router as their gateway."]
        uplinks = ["# Each leaf is linked with each spine, by networks of two addresses."]
        layout: dict[str, tuple[int, int]] = {}
        width = max(self.leaves * self.hosts, self.spines) * _STEP_X + (self.leaves - 1) * _GAP
        for leaf in leaves:
            switch, router = f"s{leaf}", f"leaf{leaf}"
            names = [f"h{leaf}x{number}" for number in range(1, self.hosts + 1)]
            for number, name in enumerate(names, start=1):
                gateway = f"10.1.{leaf}.254"
                hosts[name] = (
                    f"{{address: 10.1.{leaf}.{number}/24, routes: {{default: {gateway}}}}}"
                )
                links.append(f"[{name}, {switch}, {{rate: {rate}}}]")
                column = (leaf - 1) * self.hosts + number - 1
                layout[name] = (60 + column * _STEP_X + (leaf - 1) * _GAP, 60 + 330)
            links.append(f"[{switch}, {router}, {{addresses: {{{router}: 10.1.{leaf}.254/24}}}}]")
            centre = (layout[names[0]][0] + layout[names[-1]][0]) // 2
            layout |= {switch: (centre, 60 + 220), router: (centre, 60 + 110)}
            # One route for each rack, by turns over the spines; the way back is over the same.
            ways = {
                f"10.1.{other}.0/24": f"10.2.{leaf}.{2 * self._spine(leaf, other) + 1}"
                for other in leaves
                if other != leaf
            }
            routes = ", ".join(f"{to}: {via}" for to, via in ways.items())
            hosts[router] = f"{{forwards: yes, routes: {{{routes}}}}}"
        for spine in range(self.spines):
            name = f"spine{spine + 1}"
            layout[name] = (60 + (2 * spine + 1) * width // (2 * self.spines), 60)
            ways = {f"10.1.{leaf}.0/24": f"10.2.{leaf}.{2 * spine}" for leaf in leaves}
            routes = ", ".join(f"{to}: {via}" for to, via in ways.items())
            hosts[name] = f"{{forwards: yes, routes: {{{routes}}}}}"
            for leaf in leaves:
                ends = (
                    f"leaf{leaf}: 10.2.{leaf}.{2 * spine}/31, "
                    f"{name}: 10.2.{leaf}.{2 * spine + 1}/31"
                )
                uplinks.append(
                    f"[leaf{leaf}, {name}, {{rate: {rate}, delay: {delay}, addresses: {{{ends}}}}}]"
                )
        incast = {
            f"incast{leaf}": f"{{iperf3: h{leaf}x1 -> h1x1, time: 5s}}" for leaf in leaves[1:]
        }
        return Parts(
            title=f"Data centre of {self.leaves} leaves and {self.spines} spines",
            about="Racks whose leaf routers are joined by spines. Routes are static, so traffic "
            "between two racks keeps to one spine, where a real fabric would spread it (ECMP). "
            "One host of each other rack sends to the same host: incast.",
            hosts=hosts,
            switches=tuple(f"s{leaf}" for leaf in leaves),
            links=(*links, *uplinks),
            flows=incast,
            layout=layout,
            groups={
                f"Rack {leaf}": (
                    f"leaf{leaf}",
                    f"s{leaf}",
                    *(f"h{leaf}x{number}" for number in range(1, self.hosts + 1)),
                )
                for leaf in leaves
            },
        )

    def _spine(self, one: int, other: int) -> int:
        """Return over which spine two racks talk, whichever of them sends."""
        return (one + other) % self.spines
