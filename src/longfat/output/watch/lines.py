"""Output for logs: a row for each virtual second, and the summary of a case after its run.

A row is a line, or a JSON object. It depends on the samples alone and not on when they were read,
so that it is the same at every rerun.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.text import Text

from longfat.common.terminal_text import relative_path
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.analysis.timeseries.live import LiveRun
    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.model.probes import Probe
    from longfat.model.traffic import Flow

_EXACT_S = 1e-6  # sums of sampling intervals are not exactly whole seconds

# The metrics of the summary: those that correspond to what was shown while it ran.
_SUMMARY_METRICS = (
    *("receiver_bps", "loss", "mean_rtt_s", "avg_s", "retransmits"),
    *("peak_bytes", "mean_bytes", "drops", "marks", "peak_cwnd_bytes"),
)


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
                name: {
                    "backlog_bytes": queue.backlog.at(end_s, since_s=start_s),
                    "limit_bytes": queue.limit_bytes,
                    "drops": round(queue.drops.at(end_s) or 0),
                    "marks": round(queue.marks.at(end_s) or 0),
                }
                for name, queue in self._live.queues.items()
            },
            "flows": {
                name: {
                    "throughput_bps": _rounded(flow.mean_bps(start_s, end_s), None),
                    "rtt_s": _rounded(flow.rtt.at(end_s, since_s=start_s), 9),
                    "cwnd_bytes": flow.cwnd.at(end_s, since_s=start_s),
                    "retransmits": round(flow.retransmits.at(end_s) or 0),
                }
                for name, flow in self._live.flows.items()
            },
        }


def _rounded(value: float | None, digits: int | None) -> float | None:
    return None if value is None else round(value, digits)


def row_text(row: dict[str, Any]) -> str:
    """Return a row as a line for people."""
    parts = [f"{row['time_s']:>6.6g} s"]
    for name, queue in row["queues"].items():
        text = f"{name} {_quantity(queue['backlog_bytes'], Unit.BYTES)}"
        for what in ("drops", "marks"):
            if queue[what]:
                text += f", {queue[what]} {what}"
        parts.append(text)
    for name, flow in row["flows"].items():
        text = (
            f"{name} {_quantity(flow['throughput_bps'], Unit.BPS)}"
            f"  RTT {_quantity(flow['rtt_s'], Unit.SECONDS)}"
            f"  cwnd {_quantity(flow['cwnd_bytes'], Unit.BYTES)}"
        )
        if flow["retransmits"]:
            text += f", {flow['retransmits']} resent"
        parts.append(text)
    return "  |  ".join(parts)


def _quantity(value: float | None, unit: Unit) -> str:
    return "-" if value is None else format_quantity(value, unit)


def case_lines(verdict: Verdict, name: str) -> Iterator[Text]:
    """Yield the summary of a case after its run: its main figures, its claims, its folder.

    Args:
        verdict: the study with the runs so far, that of this case the latest.
        name: the case.
    """
    (run,) = verdict.runs[name]
    measured: tuple[Flow | Probe, ...] = (*run.case.flows, *run.case.probes)
    for measuring in measured:
        figures = ", ".join(_figures(run, measuring))
        if figures:
            yield Text.assemble((f"{measuring.name}  ", "bold"), figures)
    for judged in verdict.claims:
        if name in judged.claim.cases and judged.passed is not None:
            result, style = ("holds", "green") if judged.passed else ("FAILS", "bold red")
            yield Text.assemble((result, style), f"  {judged.claim.text}")
    yield Text(
        f"{relative_path(run.folder)}   {run.virtual_s:.1f} virtual s in {run.wall_s:.1f} s",
        style="dim",
    )


def _figures(run: Run, measuring: Flow | Probe) -> Iterator[str]:
    """Yield the main figures of a flow or a probe."""
    metrics = {metric.name: metric for metric in measuring.metrics}
    for name in _SUMMARY_METRICS:
        value = run.metrics.get(f"{measuring.name}.{name}")
        if name in metrics and value is not None:
            yield f"{metrics[name].title} {format_quantity(value, metrics[name].unit)}"
