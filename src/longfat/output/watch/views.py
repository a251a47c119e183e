"""The panels of the live view: curves with their current values, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.output.watch.chart import DotLine

if TYPE_CHECKING:
    from longfat.output.watch.live import LiveRun
    from longfat.output.watch.track import Counter, Track

# They differ in lightness too, and none is the colour of a warning.
_COLOURS = ("cyan", "yellow", "magenta", "green", "blue", "white")
_ALARM = "bold reverse red"
_FLASH_S = 0.5  # of virtual time: a new drop is highlighted this long
_STALE = 3.5  # sampling intervals: a flow without a sample for longer has no current value


@dataclass(frozen=True, slots=True)
class Entry:
    """A curve of a panel with its current value."""

    line: DotLine
    name: str
    value: float | None
    notes: tuple[tuple[str, str], ...] = ()  # texts with their styles


@dataclass(frozen=True, slots=True)
class View:
    """A panel."""

    title: str
    unit: Unit
    entries: tuple[Entry, ...]
    absent: str


def make_views(live: LiveRun, *, one_style: bool) -> tuple[View, ...]:
    """Return the four panels of the current state of a run.

    Args:
        live: the state of the run.
        one_style: there are no colours: curves differ by their gaps.
    """
    now_s = live.time_s
    flows = list(live.flows.values())
    many = any(flow.streams > 1 for flow in flows)

    def entries(
        tracks: Sequence[Track], notes: Sequence[tuple[tuple[str, str], ...]]
    ) -> list[Entry]:
        return [
            Entry(
                line=_line(track, index, one_style=one_style),
                name=track.name,
                value=track.last(since_s=now_s - _STALE * live.every_s),
                notes=notes[index],
            )
            for index, track in enumerate(tracks)
        ]

    queues = list(live.queues.values())
    none: list[tuple[tuple[str, str], ...]] = [()] * len(flows)
    resent = [_count(flow.retransmits, "resent", now_s) for flow in flows]
    no_flow = "no flow of bulk TCP in this case"
    return (
        View(
            "queue",
            Unit.BYTES,
            tuple(
                entries(
                    [one.backlog for one in queues],
                    [
                        (
                            *_count(one.drops, "drops", now_s),
                            *_count(one.marks, "marks", now_s),
                            (one.qdisc, "dim"),
                            (_of_limit(one.backlog), "dim"),
                        )
                        for one in queues
                    ],
                )
            ),
            "no set-up line makes a queue in this case",
        ),
        View(
            "throughput",
            Unit.BPS,
            tuple(entries([flow.throughput for flow in flows], resent)),
            no_flow,
        ),
        View(
            "smoothed RTT" + (", mean of streams" if many else ""),
            Unit.SECONDS,
            tuple(entries([flow.rtt for flow in flows], none)),
            no_flow,
        ),
        View(
            "cwnd" + (", sum of streams" if many else ""),
            Unit.BYTES,
            tuple(entries([flow.cwnd for flow in flows], none)),
            no_flow,
        ),
    )


def _line(track: Track, index: int, *, one_style: bool) -> DotLine:
    if one_style:
        return DotLine(track, "", gap=index + 1)
    return DotLine(track, _COLOURS[index % len(_COLOURS)])


def _of_limit(track: Track) -> str:
    value = track.values[-1] if track.values else 0.0
    if not track.limit:
        return ""
    return f"{value / track.limit:.0%} of {format_quantity(track.limit, Unit.BYTES)}"


def _count(counter: Counter, word: str, now_s: float) -> tuple[tuple[str, str], ...]:
    """Return how often a loss event has happened; highlighted, if it has just happened."""
    if not counter.total:
        return ()
    fresh = counter.total - counter.until(now_s - _FLASH_S)
    if not fresh:
        return ((f"{counter.total} {word}", "red"),)
    return ((f"{counter.total} {word} (+{fresh})", _ALARM),)
