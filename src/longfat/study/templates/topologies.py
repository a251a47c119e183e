"""The topologies of the templates: a bottleneck, several in a row, sites, a home, layers."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

from longfat.model.fields import declare, narrowed
from longfat.model.kinds import Integer, Rate, Time
from longfat.model.network.impairments import MAX_RATE_BPS, MIN_RATE_BPS
from longfat.model.units import parse_rate_bps
from longfat.study.templates.template import RATE, RTT, Parts, Template, check_hosts

_HOP_X, _HOP_Y = 200, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Dumbbell(Template):
    """Pairs of hosts that share one link."""

    name: ClassVar[str] = "dumbbell"
    title: ClassVar[str] = "Dumbbell"
    help: ClassVar[str] = "pairs of hosts that share one bottleneck: fairness, buffers, AQM"

    hosts: int = declare(
        Integer(minimum=1, maximum=100),
        default=2,
        label="Pairs of hosts",
        help="how many hosts there are on each side",
    )

    def parts(self) -> Parts:
        """Return senders, two switches and receivers."""
        senders = [f"h{number}" for number in range(1, self.hosts + 1)]
        receivers = [f"h{number}" for number in range(self.hosts + 1, 2 * self.hosts + 1)]
        delay = self.delay(1)
        height = (self.hosts - 1) * _HOP_Y
        layout = {"s1": (260, 60 + height // 2), "s2": (500, 60 + height // 2)}
        for row, (sender, receiver) in enumerate(zip(senders, receivers, strict=True)):
            layout[sender] = (60, 60 + row * _HOP_Y)
            layout[receiver] = (700, 60 + row * _HOP_Y)
        return Parts(
            title=f"Dumbbell with {self.hosts} pairs of hosts"
            if self.hosts > 1
            else "Dumbbell with one pair of hosts",
            about="Each host on the left sends to one on the right, and all share the link between "
            "the switches. Try another congestion control, a smaller queue, or qdisc: fq_codel.",
            hosts={
                name: f"10.0.0.{number}/8"
                for number, name in enumerate([*senders, *receivers], start=1)
            },
            switches=("s1", "s2"),
            links=(
                *(f"[{name}, s1]" for name in senders),
                "# The bottleneck. The delay is one way: twice it is the RTT.",
                f"[s1, s2, {{rate: {self.written('rate_bps')}, delay: {delay}}}]",
                *(f"[s2, {name}]" for name in receivers),
            ),
            flows={
                f"bulk{number}": f"{{iperf3: {sender} -> {receiver}, time: 10s}}"
                for number, (sender, receiver) in enumerate(
                    zip(senders, receivers, strict=True), start=1
                )
            },
            layout=layout,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkingLot(Template):
    """A row of bottlenecks that one flow crosses, each with a flow of its own."""

    name: ClassVar[str] = "parking-lot"
    title: ClassVar[str] = "Parking lot"
    help: ClassVar[str] = "bottlenecks in a row, one flow over all and one over each: RTT fairness"

    hops: int = declare(
        Integer(minimum=2, maximum=40),
        default=3,
        label="Hops",
        help="how many bottlenecks there are in a row",
    )

    def parts(self) -> Parts:
        """Return a row of switches with a pair of hosts for each hop, and one for all."""
        switches = tuple(f"s{number}" for number in range(1, self.hops + 2))
        delay = self.delay(self.hops)
        rate = self.written("rate_bps")
        names = ["h1", "h2"]
        links = [f"[h1, {switches[0]}]", "# Each hop is a bottleneck of its own."]
        links += [
            f"[{near}, {far}, {{rate: {rate}, delay: {delay}}}]"
            for near, far in itertools.pairwise(switches)
        ]
        links += [f"[{switches[-1]}, h2]", "# The hosts of the flows that cross one hop."]
        flows = {"long": "{iperf3: h1 -> h2, time: 10s}"}
        layout = {"h1": (60, 160), "h2": (260 + _HOP_X * (self.hops + 1), 160)}
        for hop, (near, far) in enumerate(itertools.pairwise(switches), start=1):
            sender, receiver = f"h{2 * hop + 1}", f"h{2 * hop + 2}"
            names += [sender, receiver]
            links += [f"[{sender}, {near}]", f"[{far}, {receiver}]"]
            flows[f"cross{hop}"] = f"{{iperf3: {sender} -> {receiver}, time: 10s}}"
            layout[sender] = (260 + _HOP_X * (hop - 1), 40)
            layout[receiver] = (260 + _HOP_X * hop, 280)
        layout |= {name: (260 + _HOP_X * index, 160) for index, name in enumerate(switches)}
        return Parts(
            title=f"Parking lot of {self.hops} hops",
            about="The flow `long` crosses all bottlenecks, and each of them has a flow of its "
            "own. How much is left for `long`, with cubic and with bbr?",
            hosts={name: f"10.0.0.{number}/8" for number, name in enumerate(names, start=1)},
            switches=switches,
            links=tuple(links),
            flows=flows,
            layout=layout,
        )


_SITE_X, _SITE_Y, _SITE_GAP = 180, 110, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Wan(Template):
    """Sites whose routers are joined by one in the middle."""

    name: ClassVar[str] = "wan"
    title: ClassVar[str] = "WAN"
    help: ClassVar[str] = "sites with a network each, joined by routers: addresses and routes"

    rate_bps: int = narrowed(Template, "rate", RATE, help="the rate of each site's line")
    rtt_s: float = narrowed(Template, "rtt", RTT, help="the round-trip time between two sites")
    sites: int = declare(
        Integer(minimum=2, maximum=40), default=3, label="Sites", help="how many sites there are"
    )
    hosts: int = declare(
        Integer(minimum=1, maximum=20),
        default=2,
        label="Hosts",
        help="how many hosts each site has",
    )

    def parts(self) -> Parts:
        """Return the sites, each with a switch and a router, and the router in the middle."""
        check_hosts(self.sites * self.hosts)
        rate, delay = self.written("rate_bps"), self.delay(2)
        sites = range(1, self.sites + 1)
        hosts: dict[str, str] = {}
        links: list[str] = []
        lines = ["# The lines between the sites; the delay is one way."]
        rows = self.sites * self.hosts
        core_y = 60 + ((rows - 1) * _SITE_Y + (self.sites - 1) * _SITE_GAP) // 2
        layout: dict[str, tuple[int, int]] = {"core": (60 + 3 * _SITE_X, core_y)}
        for site in sites:
            names = [f"h{site}x{number}" for number in range(1, self.hosts + 1)]
            for number, name in enumerate(names, start=1):
                hosts[name] = (
                    f"{{address: 10.{site}.0.{number}/24, routes: {{default: 10.{site}.0.254}}}}"
                )
                links.append(f"[{name}, s{site}]")
                row = (site - 1) * self.hosts + number - 1
                layout[name] = (60, 60 + row * _SITE_Y + (site - 1) * _SITE_GAP)
            links.append(f"[s{site}, r{site}, {{addresses: {{r{site}: 10.{site}.0.254/24}}}}]")
            hosts[f"r{site}"] = f"{{forwards: yes, routes: {{default: 10.0.{site}.2}}}}"
            ends = f"r{site}: 10.0.{site}.1/30, core: 10.0.{site}.2/30"
            lines.append(
                f"[r{site}, core, {{rate: {rate}, delay: {delay}, addresses: {{{ends}}}}}]"
            )
            y = (layout[names[0]][1] + layout[names[-1]][1]) // 2
            layout |= {f"s{site}": (60 + _SITE_X, y), f"r{site}": (60 + 2 * _SITE_X, y)}
        routes = ", ".join(f"10.{site}.0.0/24: 10.0.{site}.1" for site in sites)
        hosts["core"] = f"{{forwards: yes, routes: {{{routes}}}}}"
        flows = {"bulk": "{iperf3: h1x1 -> h2x1, time: 10s}"}
        if self.sites > 2:
            flows["rtt"] = f"{{ping: h1x1 -> h{self.sites}x1, count: 10}}"
        return Parts(
            title=f"WAN of {self.sites} sites",
            about="Each site has a network of its own, and a router with a route to the "
            "others by a default route to the core. Take a route away, and see what no longer "
            "arrives.",
            hosts=hosts,
            switches=tuple(f"s{site}" for site in sites),
            links=(*links, *lines),
            flows=flows,
            layout=layout,
            groups={
                f"Site {site}": (
                    f"r{site}",
                    f"s{site}",
                    *(f"h{site}x{number}" for number in range(1, self.hosts + 1)),
                )
                for site in sites
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Home(Template):
    """A home behind a router that translates addresses, and an asymmetric line."""

    name: ClassVar[str] = "home"
    title: ClassVar[str] = "Home"
    help: ClassVar[str] = "a home behind NAT, with a large buffer before its line: bufferbloat"

    rate_bps: int = narrowed(Template, "rate", RATE, help="the line's rate down, to the home")
    rtt_s: float = narrowed(Template, "rtt", RTT, help="the round-trip time to the server")
    uplink_bps: int = declare(
        Rate(minimum=MIN_RATE_BPS, maximum=MAX_RATE_BPS, example="20mbit"),
        default=parse_rate_bps("20mbit"),
        label="Rate up",
        help="the line's rate up, from the home",
    )
    buffer_s: float = declare(
        Time(minimum=1e-3, maximum=10.0, example="500ms", bare_seconds=False),
        default=0.5,
        label="Buffer",
        help="how long the line's buffers take to empty: 500ms is a bloated modem",
    )
    hosts: int = declare(
        Integer(minimum=2, maximum=40),
        default=3,
        label="Devices",
        help="how many devices there are",
    )

    def parts(self) -> Parts:
        """Return devices, the home's router, the provider's, and a server."""
        names = [f"h{number}" for number in range(1, self.hosts + 1)]
        hosts = {
            name: f"{{address: 192.168.1.{number}/24, routes: {{default: 192.168.1.254}}}}"
            for number, name in enumerate(names, start=1)
        }
        hosts["home"] = "{forwards: yes, nat: home, routes: {default: 203.0.113.1}}"
        hosts["isp"] = "{forwards: yes}"
        hosts["server"] = "{address: 198.51.100.2/24, routes: {default: 198.51.100.1}}"
        down, up = (
            f"{{rate: {RATE.text(rate)}, queue: {max(3000, round(rate * self.buffer_s / 8))}}}"
            for rate in (self.rate_bps, self.uplink_bps)
        )
        middle = 60 + (self.hosts - 1) * _SITE_Y // 2
        layout = {name: (60, 60 + row * _SITE_Y) for row, name in enumerate(names)}
        layout |= {
            name: (60 + column * _SITE_X, middle)
            for column, name in enumerate(("s1", "home", "isp", "server"), start=1)
        }
        return Parts(
            title="A home and its line",
            about="h1 uploads a file while h2 pings the server: the buffer in front of the line "
            "fills up, and the ping waits behind the upload. Put qdisc: cake or fq_codel in place "
            "of queue, and run again.",
            hosts=hosts,
            switches=("s1",),
            links=(
                *(f"[{name}, s1, {{rate: 1gbit}}]" for name in names),
                "[s1, home, {rate: 1gbit, addresses: {home: 192.168.1.254/24}}]",
                "# The line: less up than down, and large buffers on both sides.",
                f"[home, isp, {{to: {{isp: {up}, home: {down}}}, "
                "addresses: {home: 203.0.113.2/24, isp: 203.0.113.1/24}}]",
                f"[isp, server, {{rate: 10gbit, delay: {self.delay(1)}, "
                "addresses: {isp: 198.51.100.1/24}}]",
            ),
            flows={
                "upload": "{iperf3: h1 -> server, time: 10s}",
                "rtt": "{ping: h2 -> server, count: 100, interval: 100ms}",
            },
            layout=layout,
            groups={"Home": (*names, "s1", "home")},
        )


_LAYER_X, _LAYER_Y, _LAYER_GAP = 90, 120, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree(Template):
    """A tree of switches with hosts as its leaves."""

    name: ClassVar[str] = "tree"
    title: ClassVar[str] = "Tree"
    help: ClassVar[str] = "a tree of switches with hosts as leaves, as Mininet's TreeTopo"

    depth: int = declare(
        Integer(minimum=1, maximum=6),
        default=2,
        label="Depth",
        help="how many layers of switches there are",
    )
    fanout: int = declare(
        Integer(minimum=2, maximum=16),
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
        layout = {name: (60 + index * _LAYER_X, 60) for index, name in enumerate(layers[0])}
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
            layout |= {name: (layout[name][0], 60 + level * _LAYER_Y) for name in names}
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
        Integer(minimum=2, maximum=16), default=3, label="Leaves", help="how many racks there are"
    )
    spines: int = declare(
        Integer(minimum=1, maximum=8),
        default=2,
        label="Spines",
        help="how many routers join the racks",
    )
    hosts: int = declare(
        Integer(minimum=1, maximum=40),
        default=2,
        label="Hosts",
        help="how many hosts each rack has",
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
        width = (
            max(self.leaves * self.hosts, self.spines) * _LAYER_X + (self.leaves - 1) * _LAYER_GAP
        )
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
                layout[name] = (60 + column * _LAYER_X + (leaf - 1) * _LAYER_GAP, 60 + 330)
            links.append(f"[{switch}, {router}, {{addresses: {{{router}: 10.1.{leaf}.254/24}}}}]")
            centre = (layout[names[0]][0] + layout[names[-1]][0]) // 2
            layout |= {switch: (centre, 60 + 220), router: (centre, 60 + 110)}
            spines = [f"10.2.{leaf}.{2 * spine + 1}" for spine in range(self.spines)]
            hops = f"[{', '.join(spines)}]" if len(spines) > 1 else spines[0]
            hosts[router] = f"{{forwards: yes, routes: {{10.1.0.0/16: {hops}}}}}"
        for spine in range(self.spines):
            name = f"spine{spine + 1}"
            layout[name] = (60 + (2 * spine + 1) * width // (2 * self.spines), 60)
            next_hops = {f"10.1.{leaf}.0/24": f"10.2.{leaf}.{2 * spine}" for leaf in leaves}
            routes = ", ".join(f"{to}: {via}" for to, via in next_hops.items())
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
            about="Racks whose leaf routers are joined by spines. Each leaf spreads connections "
            "over all spines (ECMP), by a hash of their addresses and ports. "
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
