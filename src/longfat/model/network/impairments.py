"""What one direction of a link does to packets.

Each property is declared here, with its limits, its words and the option of tc that it becomes;
`longfat.model.network.shape` makes lines of tc from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from longfat.errors import InputError
from longfat.model.fields import declare, field_problems, phrases, values_of
from longfat.model.kinds import Flag, Rate, Share, Size, Text, Time
from longfat.model.network.police import Policer, PolicerKind
from longfat.model.network.qdisc import qdisc_problem
from longfat.model.units import parse_fraction

MAX_BYTES = 2**32 - 1
"""The largest queue and the largest burst that tc accepts."""

MIN_RATE_BPS = 8
"""The kernel counts rates in whole bytes per second."""

MAX_RATE_BPS = 10**12
"""A full packet every 12 ns: reading the clock once takes longer than that (256 ns)."""

HEADER_BYTES = 18
"""The largest header of Ethernet: with a VLAN's tag."""

# tc counts times in 2**32 ticks of 64 ns, and netem cuts a jitter to INT_MAX ns.
_DELAY = Time(bare_seconds=False, maximum=274.0)
_MAX_JITTER_S = 2.147


def _burst_problem(words: str) -> str | None:
    """Return why words are no parameters of netem's `loss gemodel`; None if they are."""
    shares = words.split()
    if not 2 <= len(shares) <= 4:
        return f"here are {len(shares)} values, where two to four percentages are needed"
    for share in shares:
        try:
            parse_fraction(share)
        except InputError as error:
            return error.message
    return None


class _QdiscWords(Text):
    """A qdisc and its options; a summary names the qdisc alone."""

    def words(self, value: str) -> str:
        """Return the qdisc's name."""
        return value.partition(" ")[0]


class _TraceName(Text):
    """A file with a trace; a summary names it without its folders."""

    def words(self, value: str) -> str:
        """Return the file's name."""
        return value.rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkImpairments:
    """What one direction of a link does to packets; what is None it leaves alone.

    Attributes:
        rate_bps: the rate in bit/s.
        delay_s: the propagation delay in seconds.
        jitter_s: the delay's standard deviation in seconds; needs a delay.
        loss: the share of packets that are lost, 0 to 1.
        burst_loss: losses in bursts, by the model of Gilbert and Elliott: two to four
            percentages as netem takes them, how likely a burst begins at a packet and how
            likely it ends, the share that is lost within bursts and outside of them; not with
            `loss`.
        corrupt: the share of packets in which one bit is wrong, 0 to 1.
        duplicate: the share of packets that arrive twice, 0 to 1.
        reorder: the share of packets that are not delayed and so overtake others, 0 to 1;
            needs a delay.
        trace: the file, among those of the case, with the trace that the link follows, in
            place of a rate (`longfat.model.trace`).
        trace_once: the trace is played once, and not again and again.
        queue_bytes: the buffer in front of the rate or trace, in bytes; needs one of these,
            and no qdisc.
        burst_bytes: the bytes that idle time saves up to be sent at once: the rate is that of
            a token bucket (tbf), not of a wire; needs a rate.
        policer: what passes at its end, where what comes faster is dropped.
        qdisc: the discipline of the queue with its options, in tc's syntax, such as
            `fq_codel` or `pfifo limit 100`; its options set its limit.
    """

    rate_bps: int | None = declare(
        Rate(minimum=MIN_RATE_BPS, maximum=MAX_RATE_BPS),
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
        Time(bare_seconds=False, example="1ms", maximum=_MAX_JITTER_S),
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
    burst_loss: str | None = declare(
        Text(
            what="two to four percentages (such as 1% 25%)",
            example="1% 25%",
            problem=_burst_problem,
        ),
        default=None,
        label="Burst loss",
        help="losses in bursts (Gilbert-Elliott), in place of `loss`: how likely a burst begins at "
        "a packet, and ends; then the share lost within bursts (100%) and outside of them (0%)",
        phrase="bursts of loss {}",
        tc="loss gemodel",
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
    trace: str | None = declare(
        _TraceName(what="a trace's file", example="lte.trace"),
        default=None,
        label="Trace",
        help="what the link can send, and when, from a file beside the study (or the path of one "
        "of its `files`), in place of a `rate`: mahimahi's form, or a table of rates, delays and "
        "losses; it begins with the traffic",
        phrase="trace {}",
    )
    trace_once: bool | None = declare(
        Flag(),
        default=None,
        label="Trace once",
        help="the `trace` is played once: then the last row of a table holds, and nothing leaves "
        "any more by a trace of mahimahi's",
        absent="again and again",
    )
    queue_bytes: int | None = declare(
        Size(maximum=MAX_BYTES),
        default=None,
        label="Queue",
        help="the buffer in front of the rate or trace, at least one full packet",
        absent="one BDP, at least 100 full packets; for a trace 1000 packets",
        phrase="queue {}",
    )
    burst_bytes: int | None = declare(
        Size(maximum=MAX_BYTES),
        default=None,
        label="Burst",
        help="the rate is that of a token bucket of this size (tbf): what is sent after a pause "
        "leaves at once, up to this size; at least one full packet",
        absent="none: a packet takes its time on the wire",
        phrase="bursts of {}",
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

    policer: Policer | None = declare(  # noqa: RUF009  as all the others
        PolicerKind(),
        default=None,
        label="Policer",
        help="what comes to the end of the link faster than `rate`, beyond a `burst`, is dropped,"
        " as a provider does it: `{rate: 100mbit, burst: 500KB}`",
        phrase="policed to {}",
        key="police",
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
        if self.loss and self.burst_loss:
            yield "burst_loss", "losses are written twice: leave out loss or burst_loss"
        if self.jitter_s and not self.delay_s:
            yield "jitter", "there is a jitter and no delay for it to vary: write a delay"
        if self.reorder and not self.delay_s:
            yield (
                "reorder",
                "there is no delay, without which no packet overtakes another: write one",
            )
        if self.trace is not None and self.rate_bps is not None:
            yield "trace", "a trace sets the rate itself: leave one of the two out"
        if self.trace_once is not None and self.trace is None:
            yield "trace_once", "there is no trace that is played once"
        if self.policer is not None and self.policer.burst_bytes < mtu_bytes:
            yield (
                "police",
                f"the policer's burst of {self.policer.burst_bytes} bytes lets no full packet pass:"
                f" at least {mtu_bytes}",
            )
        yield from self._size_problems(minimum=mtu_bytes + HEADER_BYTES)

    def _size_problems(self, *, minimum: int) -> Iterator[tuple[str, str]]:
        """Find what is wrong with the sizes of burst and queue; a full packet has `minimum`."""
        if self.burst_bytes is not None:
            if self.rate_bps is None:
                yield "burst", "there is a burst and no rate that it could exceed: write a rate"
            elif self.burst_bytes < minimum:
                yield "burst", f"{self.burst_bytes} bytes hold no full packet: at least {minimum}"
        if self.queue_bytes is None:
            return
        if self.rate_bps is None and self.trace is None:
            yield "queue", "there is a queue and no rate for packets to wait for: write a rate"
        elif self.qdisc is not None:
            yield (
                "queue",
                f"packets wait in the qdisc, {self.qdisc.partition(' ')[0]}, which has a limit "
                "of its own: leave one of the two out",
            )
        elif self.queue_bytes < minimum:
            yield "queue", f"{self.queue_bytes} bytes hold no full packet: at least {minimum}"


UNIMPAIRED = LinkImpairments()
"""A direction that does nothing to packets."""
