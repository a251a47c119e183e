"""Topologies of the wide area: sites that are joined by routers, and a home at its provider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from longfat.model.fields import declare, narrowed
from longfat.model.kinds import Integer, Rate, Time
from longfat.model.network.impairments import LEAST_RATE_BPS, MOST_RATE_BPS
from longfat.model.units import parse_rate_bps
from longfat.study.templates.template import RATE, RTT, Parts, Template, check_hosts

_STEP_X, _STEP_Y, _GAP = 180, 110, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Wan(Template):
    """Sites whose routers are joined by one in the middle."""

    name: ClassVar[str] = "wan"
    title: ClassVar[str] = "WAN"
    help: ClassVar[str] = "sites with a network each, joined by routers: addresses and routes"

    rate_bps: int = narrowed(Template, "rate", RATE, help="the rate of each site's line")
    rtt_s: float = narrowed(Template, "rtt", RTT, help="the round-trip time between two sites")
    sites: int = declare(
        Integer(least=2, most=40), default=3, label="Sites", help="how many sites there are"
    )
    hosts: int = declare(
        Integer(least=1, most=20), default=2, label="Hosts", help="how many hosts each site has"
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
        core_y = 60 + ((rows - 1) * _STEP_Y + (self.sites - 1) * _GAP) // 2
        layout: dict[str, tuple[int, int]] = {"core": (60 + 3 * _STEP_X, core_y)}
        for site in sites:
            names = [f"h{site}x{number}" for number in range(1, self.hosts + 1)]
            for number, name in enumerate(names, start=1):
                hosts[name] = (
                    f"{{address: 10.{site}.0.{number}/24, routes: {{default: 10.{site}.0.254}}}}"
                )
                links.append(f"[{name}, s{site}]")
                row = (site - 1) * self.hosts + number - 1
                layout[name] = (60, 60 + row * _STEP_Y + (site - 1) * _GAP)
            links.append(f"[s{site}, r{site}, {{addresses: {{r{site}: 10.{site}.0.254/24}}}}]")
            hosts[f"r{site}"] = f"{{forwards: yes, routes: {{default: 10.0.{site}.2}}}}"
            ends = f"r{site}: 10.0.{site}.1/30, core: 10.0.{site}.2/30"
            lines.append(
                f"[r{site}, core, {{rate: {rate}, delay: {delay}, addresses: {{{ends}}}}}]"
            )
            y = (layout[names[0]][1] + layout[names[-1]][1]) // 2
            layout |= {f"s{site}": (60 + _STEP_X, y), f"r{site}": (60 + 2 * _STEP_X, y)}
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
        Rate(least=LEAST_RATE_BPS, most=MOST_RATE_BPS, example="20mbit"),
        default=parse_rate_bps("20mbit"),
        label="Rate up",
        help="the line's rate up, from the home",
    )
    buffer_s: float = declare(
        Time(least=1e-3, most=10.0, example="500ms", bare_seconds=False),
        default=0.5,
        label="Buffer",
        help="how long the line's buffers take to empty: 500ms is a bloated modem",
    )
    hosts: int = declare(
        Integer(least=2, most=40), default=3, label="Devices", help="how many devices there are"
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
        middle = 60 + (self.hosts - 1) * _STEP_Y // 2
        layout = {name: (60, 60 + row * _STEP_Y) for row, name in enumerate(names)}
        layout |= {
            name: (60 + column * _STEP_X, middle)
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
