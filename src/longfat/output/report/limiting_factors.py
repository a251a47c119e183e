"""What limited each flow, as rows of the report: a sentence of the diagnosis for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.diagnosis import diagnose
from longfat.errors import LongfatError

if TYPE_CHECKING:
    from longfat.analysis.verdict import Verdict


@dataclass(frozen=True, slots=True)
class LimitingFactor:
    """The limiting factor of a flow.

    Attributes:
        case: the case's name.
        flow: the flow's name.
        title: who sends to whom, and how; empty where nothing could be determined.
        sentence: what limited it, or why that cannot be determined.
        help: what would help.
        lines: the lines to type for it, each with the host.
    """

    case: str
    flow: str
    title: str
    sentence: str
    help: str = ""
    lines: tuple[str, ...] = ()


def limiting_factor(verdict: Verdict) -> tuple[LimitingFactor, ...]:
    """Return a row for each flow of bulk traffic, of each case's run with the first seed."""
    return tuple(
        _row(verdict, case, flow.name)
        for case, run in verdict.first_runs.items()
        for flow in run.case.bulk_flows
    )


def _row(verdict: Verdict, case: str, flow: str) -> LimitingFactor:
    try:
        (found,) = diagnose(verdict.first_runs[case], flow)
    except LongfatError as error:
        # One flow that moved no data must not prevent the report.
        return LimitingFactor(case, flow, "", f"This cannot be determined: {error}")
    return LimitingFactor(
        case,
        flow,
        found.title,
        found.verdict,
        found.recommendation.words,
        tuple(f"{line.node}$ {line.text}" for line in found.recommendation.lines),
    )
