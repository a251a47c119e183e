"""Templates of standard measurements over a line with a bottleneck in each direction: RRUL, RPM.

Sources: `rrul.conf` of flent (github.com/tohojo/flent); draft-ietf-ippm-responsiveness-08.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from longfat.model.fields import declare, narrowed
from longfat.model.kinds import Integer, Rate, Time
from longfat.model.network.impairments import MAX_RATE_BPS, MIN_RATE_BPS
from longfat.model.units import parse_rate_bps
from longfat.study.templates.template import RATE, RTT, Parts, Template

_MIN_QUEUE_BYTES = 3000

# The code points of flent's four streams in each direction and of its three pings over UDP.
_STREAMS = {"be": 0, "bk": 8, "cs5": 40, "ef": 46}
_UDP_PINGS = {"be": 0, "bk": 8, "ef": 46}
_START_S, _EDGE_S = 5, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line(Template):
    """A client and a server with a line between them."""

    rate_bps: int = narrowed(Template, "rate", RATE, help="the line's rate down, to the client")
    rtt_s: float = narrowed(Template, "rtt", RTT, help="the round-trip time without queues")
    uplink_bps: int = declare(
        Rate(minimum=MIN_RATE_BPS, maximum=MAX_RATE_BPS, example="20mbit"),
        default=parse_rate_bps("20mbit"),
        label="Rate up",
        help="the line's rate up, from the client",
    )
    buffer_s: float = declare(
        Time(minimum=1e-3, maximum=10.0, example="250ms", bare_seconds=False),
        default=0.25,
        label="Buffer",
        help="how long the line's buffers take to empty",
    )
    time_s: float = declare(
        Time(minimum=10.0, maximum=3600.0, whole="the template"),
        default=30.0,
        label="Time",
        help="how long the measurement takes under load",
    )

    def queue(self, rate_bps: int) -> int:
        """Return the size of the queue in front of a rate, in bytes."""
        return max(_MIN_QUEUE_BYTES, round(rate_bps * self.buffer_s / 8))

    def line(self, discipline: str = "") -> str:
        """Return the line between both routers, with a queueing discipline or with buffers."""
        down, up = (
            f"{{rate: {RATE.text(rate)}, "
            + (f"qdisc: {discipline}}}" if discipline else f"queue: {self.queue(rate)}}}")
            for rate in (self.rate_bps, self.uplink_bps)
        )
        return f"[s1, s2, {{delay: {self.delay(1)}, to: {{s1: {down}, s2: {up}}}}}]"

    def parts_with(
        self, *, title: str, about: str, flows: dict[str, str], more: tuple[str, ...]
    ) -> Parts:
        """Return the study with flows, and further lines behind the cases."""
        cases = [
            "",
            "cases:",
            "  buffers:",
            "  # The same line with flow queueing and AQM in place of long buffers.",
        ]
        cases += ["  fq_codel:", "    network:", "      hosts:"]
        cases += [f"        {host}: {address}" for host, address in _HOSTS.items()]
        cases += ["      switches: [s1, s2]", "      links:"]
        cases += [f"        - {link}" for link in self._links("fq_codel")]
        return Parts(
            title=title,
            about=about,
            hosts=_HOSTS,
            switches=("s1", "s2"),
            links=self._links(""),
            flows=flows,
            layout={"client": (60, 60), "s1": (220, 60), "s2": (380, 60), "server": (540, 60)},
            more=(*more, *cases),
        )

    def _links(self, discipline: str) -> tuple[str, ...]:
        return ("[client, s1]", self.line(discipline), "[s2, server]")

    def time_text(self, extra_s: float = 0.0) -> str:
        """Return its time and so much more, as a study has it."""
        return f"{self.time_s + extra_s:g}s"


_HOSTS = {"client": "10.0.0.1/8", "server": "10.0.0.2/8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rrul(_Line):
    """Realtime response under load, as flent measures it."""

    name: ClassVar[str] = "rrul"
    title: ClassVar[str] = "RRUL"
    help: ClassVar[str] = "realtime response under load: 4 TCP streams each way, and pings (flent)"

    def parts(self) -> Parts:
        """Return four streams in each direction, and pings over UDP and ICMP."""
        under_load = f"start: {_START_S}s, time: {self.time_text()}"
        flows = {
            f"{way}_{name}": f"{{iperf3: client -> server, {under_load}"
            + (", reverse: yes" if way == "down" else "")
            + (f", args: [--dscp, '{code}']" if code else "")
            + "}"
            for way in ("up", "down")
            for name, code in _STREAMS.items()
        }
        whole_s = self.time_s + _START_S + _EDGE_S
        flows["#"] = "# From 5 s before the load on; cbr has the one-way delays in each direction."
        flows["icmp"] = (
            f"{{ping: client -> server, interval: 200ms, count: {round(whole_s / 0.2)}}}"
        )
        for name, code in _UDP_PINGS.items():
            dscp = f", dscp: {code}" if code else ""
            udp = f"cbr: client -> server, size: 64, interval: 200ms, time: {whole_s:g}s{dscp}"
            flows[f"udp_up_{name}"] = f"{{{udp}}}"
            flows[f"udp_down_{name}"] = f"{{{udp}, reverse: yes}}"
        return self.parts_with(
            title="Realtime response under load (RRUL)",
            about="The RRUL test of flent: four TCP streams up and four down, with the code points "
            "CS0, CS1, CS5 and EF, while pings and small datagrams measure delay. flent measures "
            "round trips over UDP one after the other; here datagrams are sent each 200 ms and "
            "measured one way. The load runs from 5 s on, and the pings 5 s longer.",
            flows=flows,
            more=(
                "",
                "probes:",
                "  queue: {of: [s1-eth2, s2-eth1], every: 100ms}",
                "",
                "claims:",
                "  - flow queueing keeps the delay low: fq_codel.icmp.avg < buffers.icmp.avg",
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Responsiveness(_Line):
    """Responsiveness under working conditions, in round trips per minute."""

    name: ClassVar[str] = "responsiveness"
    title: ClassVar[str] = "Responsiveness"
    help: ClassVar[str] = "responsiveness under working conditions: round trips per minute (RPM)"

    streams: int = declare(
        Integer(minimum=1, maximum=16),
        default=8,
        label="Streams",
        help="how many connections make the load; the draft has up to 16",
    )

    def parts(self) -> Parts:
        """Return the load, requests on connections of their own, and claims on their rates."""
        rpm = "({case}.foreign.rpm + 60s / {case}.load_tcp.mean_rtt) / 2"
        better, worse = (rpm.format(case=case) for case in ("fq_codel", "buffers"))
        return self.parts_with(
            title="Responsiveness under working conditions",
            about="The TCP-only case of draft-ietf-ippm-responsiveness-08, downstream. A request "
            "of `foreign` opens a connection, under load; its metric rpm counts handshake and "
            "request as a round trip each. The load cannot carry requests, so its round trips are "
            "TCP's own estimate, as the draft allows. Responsiveness is the mean of both rates. "
            "The number of streams is fixed: the draft adds streams until throughput is stable.",
            flows={
                "load": f"{{transfer: client -> server, time: {self.time_text(_START_S)}, "
                f"reverse: yes, parallel: {self.streams}}}",
                "foreign": f"{{requests: client -> server, start: {_START_S}s, "
                f"time: {self.time_text()}, every: 100ms, size: 1, fresh: yes}}",
            },
            more=(
                "",
                "probes:",
                "  load_tcp: {kind: tcp, of: load, every: 100ms}",
                "  queue: {of: s2-eth1, every: 100ms}",
                "",
                "claims:",
                f"  - flow queueing is more responsive: {better} > {worse}",
            ),
        )
