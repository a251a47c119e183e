"""Output for logs: a line for each virtual second, and the summary of a case after its run.

The lines of a second depend on the samples alone and not on when they were read, so that
they are the same at every rerun.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text

from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.model.probes import Probe
    from longfat.model.traffic import Flow
    from longfat.output.watch.live import LiveRun

_EXACT_S = 1e-6  # sums of sampling intervals are not exactly whole seconds

# The metrics that correspond to what was shown while it ran.
_MAIN_METRICS = (
    *("receiver_bps", "loss", "mean_rtt_s", "avg_s", "retransmits"),
    *("peak_bytes", "mean_bytes", "drops", "marks", "peak_cwnd_bytes"),
)


class SecondLines:
    """Makes a line of each virtual second that has passed.

    Args:
        live: the run.
    """

    def __init__(self, live: LiveRun) -> None:
        self._live = live
        self._reported_s = 0.0

    def new(self, *, ended: bool = False) -> Iterator[str]:
        """Yield the lines of seconds that have passed since the last call.

        Args:
            ended: no more samples will follow, so the last second may be shorter.
        """
        while self._reported_s + 1 <= self._live.time_s + _EXACT_S:
            yield self._line(self._reported_s, self._reported_s + 1)
            self._reported_s += 1
        if ended and self._live.time_s > self._reported_s + _EXACT_S:
            yield self._line(self._reported_s, self._live.time_s)
            self._reported_s = float(math.ceil(self._live.time_s))

    def _line(self, start_s: float, end_s: float) -> str:
        start_s += _EXACT_S
        end_s += _EXACT_S
        parts = [f"{round(end_s, 3):>6.6g} s"]
        for name, queue in self._live.queues.items():
            text = f"{name} {_quantity(queue.backlog.at(end_s, since_s=start_s), Unit.BYTES)}"
            for what, counted in (("drops", queue.drops), ("marks", queue.marks)):
                if count := counted.at(end_s):
                    text += f", {count:.0f} {what}"
            parts.append(text)
        for name, flow in self._live.flows.items():
            text = (
                f"{name} {_quantity(flow.mean_bps(start_s, end_s), Unit.BPS)}"
                f"  RTT {_quantity(flow.rtt.at(end_s, since_s=start_s), Unit.SECONDS)}"
                f"  cwnd {_quantity(flow.cwnd.at(end_s, since_s=start_s), Unit.BYTES)}"
            )
            if count := flow.retransmits.at(end_s):
                text += f", {count:.0f} resent"
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
        if name in judged.claim.cases and judged.holds is not None:
            result, style = ("holds", "green") if judged.holds else ("FAILS", "bold red")
            yield Text.assemble((result, style), f"  {judged.claim.text}")
    yield Text(f"{run.folder}   {run.virtual_s:.1f} virtual s in {run.wall_s:.1f} s", style="dim")


def _figures(run: Run, measuring: Flow | Probe) -> Iterator[str]:
    """Yield the main figures of a flow or a probe."""
    metrics = {metric.name: metric for metric in measuring.metrics}
    for name in _MAIN_METRICS:
        value = run.metrics.get(f"{measuring.name}.{name}")
        if name in metrics and value is not None:
            yield f"{metrics[name].title} {format_quantity(value, metrics[name].unit)}"
