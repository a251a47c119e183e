"""The `tc` lines that shape one direction of a link.

The sending end's interface shapes what leaves through it:

* delay, jitter, loss, duplication, corruption and reordering are a netem;
* a rate is a token bucket filter, whose limit is the queue in front of it;
* both are the netem with the filter below it. So packets first travel and then
  queue: the bottleneck is at the far end of the line, and what waits in its
  queue has the delay behind it. Round-trip times and rates are the same in
  either order, and netem's own count of packets then holds none that queue;
* a queueing discipline that a person names stands below both and takes the place
  of the filter's own queue. `longfat.model.network.qdisc` says which there are.

Jitter is normally distributed, as the delay's standard deviation should be.
Every packet draws its own delay, so with jitter packets overtake each other,
as netem does it. A packet that netem sends at once, to reorder it, leaves the
interface at once: it passes by the filter and the queue below the netem, too.

Sources: tc-netem(8), tc-tbf(8); tc's numbers are 32 bits wide where it counts
packets and bytes (`struct tc_netem_qopt`, `struct tc_tbf_qopt`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.model.fields import fields_of
from longfat.model.kinds import rate_text
from longfat.model.network.impairments import HEADER_BYTES, MOST_BYTES
from longfat.theory import tbf
from longfat.theory.bdp import bdp_bytes

if TYPE_CHECKING:
    from longfat.model.network.impairments import LinkImpairments

FRAME_BYTES = 1514
"""A full packet of Linux's own MTU with its Ethernet header."""

LEAST_QUEUE_PACKETS = 100
"""How many full packets a queue holds at least, where no one says."""

QUEUE_S = 0.01
"""How long a full queue takes to empty, in seconds, where neither a queue nor a delay is given."""

_HZ = 250

# A delay line holds what a sender puts into it, at any rate: the queue comes
# after it. The number costs no memory, so it is one that is never reached.
_NETEM_PACKETS = 1_000_000_000

_TIMES = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))


def shape_lines(
    interface: str, shape: LinkImpairments, *, mtu_bytes: int = 1500
) -> tuple[str, ...]:
    """Return the lines of `tc`, without the word `tc`, that shape what leaves an interface.

    Args:
        interface: the interface of the sending end.
        shape: what happens to packets; without any property there is no line.
        mtu_bytes: the interface's MTU in bytes: a burst holds one such packet.

    Returns:
        A line for each qdisc: those of `shape_qdiscs`, from the root downwards.
    """
    return tuple(
        f"qdisc add dev {interface} {qdisc.place} handle {qdisc.handle} {qdisc.words}"
        for qdisc in shape_qdiscs(shape, mtu_bytes=mtu_bytes)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedQdisc:
    """A qdisc that shapes an interface.

    Attributes:
        place: where it stands, as tc says it: `root`, or below another.
        handle: its own name, such as `1:`.
        words: its kind and options.
    """

    place: str
    handle: str
    words: str

    @property
    def kind(self) -> str:
        """Which qdisc it is, such as `netem`."""
        return self.words.partition(" ")[0]


def shape_qdiscs(shape: LinkImpairments, *, mtu_bytes: int = 1500) -> tuple[PlacedQdisc, ...]:
    """Return the qdiscs that a shape becomes, each below the one before.

    Args:
        shape: what happens to packets.
        mtu_bytes: the interface's MTU in bytes.
    """
    netem, filtered = _netem(shape), _tbf(shape, mtu_bytes=mtu_bytes)
    found: list[PlacedQdisc] = []
    for words in (netem, filtered, shape.qdisc or ""):
        if not words:
            continue
        place = "root"
        if found:
            above = found[-1]
            # A tbf has one class, in which its queue is; a netem is shown without.
            place = f"parent {above.handle}{'1' if above.kind == 'tbf' else ''}"
        found.append(PlacedQdisc(place=place, handle=f"{len(found) + 1}:", words=words))
    return tuple(found)


def default_queue_bytes(shape: LinkImpairments) -> int:
    """Return the queue of a shape that has a rate and says nothing of a queue, in bytes.

    One bandwidth-delay product, reckoned as if the way back took as long as this
    direction. Where the delay is on other links, what is sent in `QUEUE_S`. At least
    `LEAST_QUEUE_PACKETS` full packets.

    Args:
        shape: the shape; its rate is set.

    Raises:
        ValueError: it has no rate.
    """
    if shape.rate_bps is None:
        raise ValueError("a queue needs a rate")
    rtt_s = 2 * shape.delay_s if shape.delay_s else QUEUE_S
    product = math.ceil(bdp_bytes(rate_bps=shape.rate_bps, rtt_s=rtt_s))
    return min(MOST_BYTES, max(LEAST_QUEUE_PACKETS * FRAME_BYTES, product))


def _netem(shape: LinkImpairments) -> str:
    words = []
    if shape.delay_s:
        words.append(f"delay {time_word(shape.delay_s)}")
        if shape.jitter_s:
            words.append(f"{time_word(shape.jitter_s)} distribution normal")
    for field in fields_of(type(shape)).values():
        if field.about.tc and (value := getattr(shape, field.name)):
            words.append(f"{field.about.tc} {field.kind.text(value)}")
    return " ".join([f"netem limit {_NETEM_PACKETS}", *words]) if words else ""


def _tbf(shape: LinkImpairments, *, mtu_bytes: int) -> str:
    if shape.rate_bps is None:
        return ""
    queue = default_queue_bytes(shape) if shape.queue_bytes is None else shape.queue_bytes
    # An offloaded packet that is larger than the burst is cut up; a whole one
    # that is larger than the queue would never get in.
    burst = min(math.ceil(tbf.burst_bytes(rate_bps=shape.rate_bps, hz=_HZ)), queue)
    burst = max(burst, mtu_bytes + HEADER_BYTES)
    return f"tbf rate {rate_text(shape.rate_bps)} burst {burst} limit {queue}"


def time_word(time_s: float) -> str:
    """Return a time as tc reads it, in whole nanoseconds or a larger unit."""
    time_ns = round(time_s * 1e9)
    unit, factor = next((unit, factor) for unit, factor in _TIMES if time_ns % factor == 0)
    return f"{time_ns // factor}{unit}"
