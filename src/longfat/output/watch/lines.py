"""Output for logs: one line, or one JSON object, for each virtual second.

The rows depend on the samples alone and not on when they were read, so that
they are the same at every rerun.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from longfat.output.watch.live import LiveRun
    from longfat.output.watch.track import Track

_EXACT_S = 1e-6  # sums of sampling intervals are not exactly whole seconds


class SecondRows:
    """Makes a row of each virtual second that has passed.

    Args:
        live: the run.
        case: the case's name.
    """

    def __init__(self, live: LiveRun, *, case: str) -> None:
        self._live = live
        self._case = case
        self._reported_s = 0.0

    def new(self, *, ended: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the rows of seconds that have passed since the last call.

        Args:
            ended: no more samples will follow, so the last second may be shorter.
        """
        while self._reported_s + 1 <= self._live.time_s + _EXACT_S:
            yield self._row(self._reported_s, self._reported_s + 1)
            self._reported_s += 1
        if ended and self._live.time_s > self._reported_s + _EXACT_S:
            yield self._row(self._reported_s, self._live.time_s)
            self._reported_s = float(math.ceil(self._live.time_s))

    def _row(self, start_s: float, end_s: float) -> dict[str, Any]:
        start_s += _EXACT_S
        end_s += _EXACT_S
        return {
            "case": self._case,
            "time_s": round(end_s, 3),
            "queues": {
                one.interface: {
                    "backlog_bytes": _last(one.backlog, start_s, end_s),
                    "limit_bytes": one.backlog.limit,
                    "drops": one.drops.until(end_s),
                    "marks": one.marks.until(end_s),
                }
                for one in self._live.queues.values()
            },
            "flows": {
                flow.flow: {
                    "throughput_bps": _rounded(flow.throughput.mean(start_s, end_s), None),
                    "rtt_s": _rounded(_last(flow.rtt, start_s, end_s), 9),
                    "cwnd_bytes": _last(flow.cwnd, start_s, end_s),
                    "retransmits": flow.retransmits.until(end_s),
                }
                for flow in self._live.flows.values()
            },
        }


def _last(track: Track, start_s: float, end_s: float) -> float | None:
    _, values = track.between(start_s, end_s)
    return values[-1] if values else None


def _rounded(value: float | None, digits: int | None) -> float | None:
    return None if value is None else round(value, digits)


def row_text(row: dict[str, Any]) -> str:
    """Return a row as readable text."""
    parts = [f"{row['time_s']:>6.6g} s"]
    for name, one in row["queues"].items():
        text = f"{name} {_quantity(one['backlog_bytes'], Unit.BYTES)}"
        for what in ("drops", "marks"):
            if one[what]:
                text += f", {one[what]} {what}"
        parts.append(text)
    for name, one in row["flows"].items():
        text = (
            f"{name} {_quantity(one['throughput_bps'], Unit.BPS)}"
            f"  RTT {_quantity(one['rtt_s'], Unit.SECONDS)}"
            f"  cwnd {_quantity(one['cwnd_bytes'], Unit.BYTES)}"
        )
        if one["retransmits"]:
            text += f", {one['retransmits']} resent"
        parts.append(text)
    return "  |  ".join(parts)


def _quantity(value: float | None, unit: Unit) -> str:
    return "-" if value is None else format_quantity(value, unit)
