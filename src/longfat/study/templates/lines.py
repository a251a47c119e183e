"""Topologies around a line of links: one bottleneck, or several in a row."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

from longfat.model.fields import declare
from longfat.model.kinds import Integer
from longfat.study.templates.template import Parts, Template

_STEP_X, _STEP_Y = 200, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Dumbbell(Template):
    """Pairs of hosts that share one link."""

    name: ClassVar[str] = "dumbbell"
    title: ClassVar[str] = "Dumbbell"
    help: ClassVar[str] = "pairs of hosts that share one bottleneck: fairness, buffers, AQM"

    hosts: int = declare(
        Integer(least=1, most=100),
        default=2,
        label="Pairs of hosts",
        help="how many hosts there are on each side",
    )

    def parts(self) -> Parts:
        """Return senders, two switches and receivers."""
        senders = [f"h{number}" for number in range(1, self.hosts + 1)]
        receivers = [f"h{number}" for number in range(self.hosts + 1, 2 * self.hosts + 1)]
        delay = self.delay(1)
        height = (self.hosts - 1) * _STEP_Y
        layout = {"s1": (260, 60 + height // 2), "s2": (500, 60 + height // 2)}
        for row, (sender, receiver) in enumerate(zip(senders, receivers, strict=True)):
            layout[sender] = (60, 60 + row * _STEP_Y)
            layout[receiver] = (700, 60 + row * _STEP_Y)
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
        Integer(least=2, most=40),
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
        layout = {"h1": (60, 160), "h2": (260 + _STEP_X * (self.hops + 1), 160)}
        for hop, (near, far) in enumerate(itertools.pairwise(switches), start=1):
            sender, receiver = f"h{2 * hop + 1}", f"h{2 * hop + 2}"
            names += [sender, receiver]
            links += [f"[{sender}, {near}]", f"[{far}, {receiver}]"]
            flows[f"cross{hop}"] = f"{{iperf3: {sender} -> {receiver}, time: 10s}}"
            layout[sender] = (260 + _STEP_X * (hop - 1), 40)
            layout[receiver] = (260 + _STEP_X * hop, 280)
        layout |= {name: (260 + _STEP_X * index, 160) for index, name in enumerate(switches)}
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
