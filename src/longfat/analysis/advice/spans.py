"""Adding up what limited a flow: over all its time, over its streams, second by second."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.limits import Slice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from longfat.analysis.advice.limits import Limit


def total(slices: Iterable[Slice]) -> dict[Limit, float]:
    """Return the seconds by limit, the most first; they sum to the slices' length."""
    return _sums(one.seconds for one in slices)


def merge_streams(streams: Sequence[Sequence[Slice]]) -> tuple[Slice, ...]:
    """Return the slices of a flow of parallel streams: the mean of them all.

    Args:
        streams: each stream's slices. All between the same readings' times,
            but that streams may begin later or end earlier than others.

    Returns:
        One slice for each stretch of time that any stream has, whose seconds
        are the mean over the streams that were there.
    """
    if len(streams) == 1:
        return tuple(streams[0])
    every = [one for slices in streams for one in slices]
    edges = sorted({edge for one in every for edge in (one.start_s, one.end_s)})
    found = []
    for start_s, end_s, parts in _parts(every, edges):
        # Of a stream whose readings lie closer there are several parts; they sum to the length.
        present = sum(sum(part.values()) for part in parts) / (end_s - start_s)
        if present > 0:
            seconds = {limit: value / present for limit, value in _sums(parts).items()}
            found.append(Slice(start_s=start_s, end_s=end_s, seconds=seconds))
    return tuple(found)


def _sums(parts: Iterable[Mapping[Limit, float]]) -> dict[Limit, float]:
    sums: dict[Limit, float] = {}
    for part in parts:
        for limit, seconds in part.items():
            sums[limit] = sums.get(limit, 0.0) + seconds
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def _parts(
    slices: Iterable[Slice], edges: Sequence[float]
) -> list[tuple[float, float, list[dict[Limit, float]]]]:
    """Return what of the slices lies between each two edges."""
    found: list[list[dict[Limit, float]]] = [[] for _ in edges[1:]]
    for one in slices:
        index = max(0, bisect_right(edges, one.start_s) - 1)
        while index < len(found) and edges[index] < one.end_s:
            inside_s = min(one.end_s, edges[index + 1]) - max(one.start_s, edges[index])
            share = inside_s / (one.end_s - one.start_s)
            found[index].append({limit: value * share for limit, value in one.seconds.items()})
            index += 1
    return [(edges[i], edges[i + 1], parts) for i, parts in enumerate(found)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Neighbouring seconds that the same limit ruled.

    Attributes:
        start_s: the start, in seconds.
        end_s: the end.
        limit: what took most of each of them.
        share: its share of the time, 0 to 1.
    """

    start_s: float
    end_s: float
    limit: Limit
    share: float


def spans(slices: Sequence[Slice], *, step_s: float = 1.0) -> tuple[Span, ...]:
    """Merge slices to a table that people read: what ruled from when to when.

    Args:
        slices: the slices, in the order of their times.
        step_s: the length of a row before rows are merged, in seconds; counted
            from the first slice's start.

    Returns:
        The rows. They follow each other without gaps where the slices do.
    """
    if not slices:
        return ()
    first_s, last_s = slices[0].start_s, slices[-1].end_s
    # A last step of less than half the length joins the one before: it would show little.
    count = max(1, round((last_s - first_s) / step_s))
    edges = [first_s + index * step_s for index in range(count)] + [last_s]
    found: list[Span] = []
    for start_s, end_s, parts in _parts(slices, edges):
        sums = _sums(parts)
        if not sums:
            continue
        limit, taken_s = next(iter(sums.items()))
        length_s = end_s - start_s
        begin_s = start_s
        last = found[-1] if found else None
        if last is not None and last.limit is limit and last.end_s == start_s:
            found.pop()
            taken_s += last.share * (last.end_s - last.start_s)
            length_s += last.end_s - last.start_s
            begin_s = last.start_s
        found.append(Span(start_s=begin_s, end_s=end_s, limit=limit, share=taken_s / length_s))
    return tuple(found)
