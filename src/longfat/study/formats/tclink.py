"""Options of Mininet's TCLink as what a link does to packets.

MiniEdit's files and Mininet's scripts have the same options. If an option means something
else in Mininet than in a study, that is noted:

* `max_queue_size` counts packets, here taken as of 1500 bytes; Mininet counts
  those that are on the line, too;
* Mininet draws the jitter evenly from both sides of the delay;
* a delay without a unit is in microseconds, as tc has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from longfat.model.network import LinkImpairments
from longfat.model.units import parse_time_s

PACKET_BYTES = 1500
"""What a packet of `max_queue_size` is taken as."""

LEAST_QUEUE_BYTES = 1518

MOST_MBIT = 1000
"""Mininet ignores a `bw` above this."""

_BARE = re.compile(r"[0-9]+(\.[0-9]*)?")


@dataclass(slots=True)
class Notes:
    """What could not be carried over, in the order in which it was met."""

    texts: list[str] = field(default_factory=list)

    def add(self, who: str, what: str) -> None:
        """Note what is left out or differs, once."""
        text = f"{who}: {what}"
        if text not in self.texts:
            self.texts.append(text)


def link_time_s(text: str, *, name: str, who: str, notes: Notes) -> float:
    """Return a delay or jitter in seconds.

    Args:
        text: the option's text, such as `10ms`.
        name: what the option is called.
        who: the link, for notes.
        notes: collects what is read differently.

    Raises:
        InputError: it is no time.
    """
    if _BARE.fullmatch(text):
        if float(text):
            notes.add(who, f"{name} {text} has no unit: tc takes it as microseconds, and so do we")
        text += "us"
    return parse_time_s(text)


def link_shape(
    *,
    megabits: float | None,
    packets: float | None,
    percent: float | None,
    delay_s: float | None,
    jitter_s: float | None,
    who: str,
    notes: Notes,
) -> LinkImpairments:
    """Return what a TCLink does to the packets of one direction.

    Args:
        megabits: `bw`, in Mbit/s.
        packets: `max_queue_size`, in packets.
        percent: `loss`, from 0 to 100.
        delay_s: `delay`, in seconds.
        jitter_s: `jitter`, in seconds.
        who: the link, for notes.
        notes: collects what is left out or read differently.
    """
    if megabits is not None and megabits > MOST_MBIT:
        notes.add(who, f"bw {megabits:g}: Mininet ignores more than {MOST_MBIT}; here it counts")
    if megabits == 0:
        notes.add(who, "bw 0 is left out")
        megabits = None
    if packets is not None and megabits is None:
        notes.add(who, "max_queue_size is left out: without bw nothing queues")
        packets = None
    if jitter_s and not delay_s:
        notes.add(who, "jitter is left out: there is no delay for it to vary")
        jitter_s = None
    if jitter_s:
        notes.add(who, "jitter: Mininet draws it evenly from both sides, longfat normally")
    return LinkImpairments(
        rate_bps=None if megabits is None else round(megabits * 1e6),
        delay_s=delay_s or None,
        jitter_s=jitter_s or None,
        loss=percent / 100 if percent else None,
        queue_bytes=(
            None if packets is None else max(LEAST_QUEUE_BYTES, round(packets) * PACKET_BYTES)
        ),
    )
