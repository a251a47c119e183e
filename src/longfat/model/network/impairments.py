"""What one direction of a link does to packets.

Each property is declared here, with its limits, its words and the option of tc that it becomes;
`longfat.model.network.shape` makes lines of tc from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from longfat.model.fields import declare, field_problems, phrases, values_of
from longfat.model.kinds import Rate, Share, Size, Text, Time
from longfat.model.network.qdisc import qdisc_problem

MOST_BYTES = 2**32 - 1
"""The largest queue and the largest burst that tc can say."""

LEAST_RATE_BPS = 8
"""The kernel counts rates in whole bytes per second."""

MOST_RATE_BPS = 10**12
"""A full packet every 12 ns: reading the clock once takes longer than that (256 ns)."""

HEADER_BYTES = 18
"""The largest header of Ethernet: with a VLAN's tag."""

_DELAY = Time(bare_seconds=False)


class _QdiscWords(Text):
    """A qdisc and its options; a summary names the qdisc alone."""

    def words(self, value: str) -> str:
        """Return the qdisc's name."""
        return value.partition(" ")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkImpairments:
    """What one direction of a link does to packets; what is None it leaves alone.

    Attributes:
        rate_bps: the rate in bit/s.
        delay_s: the propagation delay in seconds.
        jitter_s: the delay's standard deviation in seconds; needs a delay.
        loss: the share of packets that are lost, 0 to 1.
        corrupt: the share of packets in which one bit is wrong, 0 to 1.
        duplicate: the share of packets that arrive twice, 0 to 1.
        reorder: the share of packets that are not delayed and so overtake others, 0 to 1;
            needs a delay.
        queue_bytes: the buffer in front of the rate, in bytes; needs a rate, and no qdisc.
        qdisc: the discipline of the queue with its options, in tc's own words, such as
            `fq_codel` or `pfifo limit 100`; its options say how much it holds.
    """

    rate_bps: int | None = declare(
        Rate(least=LEAST_RATE_BPS, most=MOST_RATE_BPS),
        default=None,
        label="Rate",
        help="the rate; the kernel counts it in bytes per second",
        absent="as fast as packets come",
        phrase="{}",
    )
    delay_s: float | None = declare(
        _DELAY, default=None, label="Delay", help="how long a packet travels", phrase="{}"
    )
    jitter_s: float | None = declare(
        Time(bare_seconds=False, example="1ms"),
        default=None,
        label="Jitter",
        help="the delay's standard deviation; needs a `delay`",
        phrase=" ±{}",
    )
    loss: float | None = declare(
        Share(),
        default=None,
        label="Loss",
        help="the share of packets that are lost",
        phrase="{} lost",
        tc="loss",
    )
    corrupt: float | None = declare(
        Share(),
        default=None,
        label="Corrupted",
        help="the share of packets in which one bit is wrong",
        phrase="{} corrupted",
        tc="corrupt",
        is_kept=True,
    )
    duplicate: float | None = declare(
        Share(),
        default=None,
        label="Duplicated",
        help="the share of packets that arrive twice",
        phrase="{} duplicated",
        tc="duplicate",
    )
    reorder: float | None = declare(
        Share(),
        default=None,
        label="Reordered",
        help="the share of packets that are not delayed, and so overtake others; needs a `delay`",
        phrase="{} reordered",
        tc="reorder",
        is_kept=True,
    )
    queue_bytes: int | None = declare(
        Size(most=MOST_BYTES),
        default=None,
        label="Queue",
        help="the buffer in front of the rate, at least one full packet; needs a `rate`",
        absent="one BDP; at least 100 full packets",
        phrase="queue {}",
    )
    qdisc: str | None = declare(
        _QdiscWords(
            what="a queueing discipline (such as fq_codel)",
            example="fq_codel",
            problem=qdisc_problem,
        ),
        default=None,
        label="Queueing discipline",
        help="the discipline of the queue in tc's own words, in place of `queue`",
        absent="first in, first out",
        phrase="{}",
    )

    def changed(self, properties: Mapping[str, object]) -> LinkImpairments:
        """Return it with some properties changed; None takes one away.

        Args:
            properties: numbers in base units or texts as in a study, by key.

        Raises:
            InputError: there is no such property, or it has no such value.
        """
        return replace(self, **values_of(LinkImpairments, properties, what="a link"))

    def summary(self) -> str:
        """Return what it does in a few words, such as `1 Gbit/s, 20 ms`; empty for nothing."""
        return ", ".join(phrases(self))

    def problems(self, *, mtu_bytes: int) -> Iterator[tuple[str, str]]:
        """Find what is wrong with its values, alone and together.

        Args:
            mtu_bytes: the MTU of the link's interfaces in bytes.

        Returns:
            The key of a property, and what was found and would be right.
        """
        yield from field_problems(self)
        if self.jitter_s and not self.delay_s:
            yield "jitter", "there is a jitter and no delay for it to vary: write a delay"
        if self.reorder and not self.delay_s:
            yield (
                "reorder",
                "there is no delay, without which no packet overtakes another: write one",
            )
        least = mtu_bytes + HEADER_BYTES
        if self.queue_bytes is None:
            return
        if self.rate_bps is None:
            yield "queue", "there is a queue and no rate for packets to wait for: write a rate"
        elif self.qdisc is not None:
            yield (
                "queue",
                f"packets wait in the qdisc, {self.qdisc.partition(' ')[0]}, which has a limit "
                "of its own: leave one of the two out",
            )
        elif self.queue_bytes < least:
            yield "queue", f"{self.queue_bytes} bytes hold no full packet: at least {least}"


UNIMPAIRED = LinkImpairments()
"""A direction that does nothing to packets."""
