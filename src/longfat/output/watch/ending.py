"""The summary below a watched run: its main figures, its claims, its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.model.probes import Probe
    from longfat.model.traffic import Flow

# The metrics that correspond to what the live view showed.
_TOLD = (
    *("receiver_bps", "loss", "mean_rtt_s", "avg_s", "retransmits"),
    *("peak_bytes", "mean_bytes", "drops", "marks", "peak_cwnd_bytes"),
)


def case_lines(verdict: Verdict, name: str) -> Iterator[Text]:
    """Yield the summary of a case after its run.

    Args:
        verdict: the study with the runs so far, that of this case the latest.
        name: the case.
    """
    (run,) = verdict.runs[name]
    for who, figures in _figures(run).items():
        yield Text.assemble((f"{who}  ", "bold"), ", ".join(figures))
    for judged in verdict.claims:
        if name in judged.claim.cases and judged.holds is not None:
            word, style = ("holds", "green") if judged.holds else ("FAILS", "bold red")
            yield Text.assemble((word, style), f"  {judged.claim.text}")
    yield Text(f"{run.folder}   {run.virtual_s:.1f} virtual s in {run.wall_s:.1f} s", style="dim")


def _figures(run: Run) -> dict[str, list[str]]:
    """Return the main figures by the flow or probe that measured them."""
    by_source: dict[str, list[str]] = {}
    measuring: tuple[Flow | Probe, ...] = (*run.case.flows, *run.case.probes)
    for one in measuring:
        known = {metric.name: metric for metric in one.metrics}
        for name in _TOLD:
            value = run.metrics.get(f"{one.name}.{name}")
            if name in known and value is not None:
                metric = known[name]
                text = f"{metric.title} {format_quantity(value, metric.unit)}"
                by_source.setdefault(one.name, []).append(text)
    return by_source
