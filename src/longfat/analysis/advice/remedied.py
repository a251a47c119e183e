"""Does a remedy help? The run's case again, with the lines of its first root cause."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.advice.diagnosis import diagnose
from longfat.analysis.advice.recommendation import STUDY
from longfat.errors import InputError
from longfat.model.case import Command
from longfat.model.traffic import Bulk

if TYPE_CHECKING:
    from longfat.analysis.advice.diagnosis import Diagnosis
    from longfat.analysis.advice.recommendation import Line
    from longfat.execution.runs import Run
    from longfat.model.case import Case
    from longfat.model.traffic import Flow

BEFORE, AFTER = "before", "after"

# A flow that is faster by this share, or whose RTT is less by it, is better.
_BETTER = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedied:
    """A flow before and after a remedy.

    Attributes:
        before: what limited it.
        after: what limits it with the remedy.
        metrics: the metrics of the flow, by `BEFORE` and `AFTER`.
    """

    before: Diagnosis
    after: Diagnosis
    metrics: dict[str, dict[str, float]]

    @property
    def good(self) -> bool:
        """Whether it is faster, or as fast with a shorter RTT."""
        rates = [self.metrics[when].get("receiver_bps", 0.0) for when in (BEFORE, AFTER)]
        if rates[1] > rates[0] * (1 + _BETTER):
            return True
        rtts = [self.metrics[when].get("mean_rtt_s") for when in (BEFORE, AFTER)]
        is_as_fast = rates[1] >= rates[0] * (1 - _BETTER)
        return is_as_fast and None not in rtts and rtts[1] < rtts[0] * (1 - _BETTER)  # type: ignore[operator]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, numbers in base units."""
        return {
            "good": self.good,
            BEFORE: self.metrics[BEFORE],
            AFTER: self.metrics[AFTER],
            "cause_after": self.after.causes[0].cause if self.after.causes else None,
            "verdict_after": self.after.verdict,
        }


def remedied_case(run: Run, diagnosis: Diagnosis) -> Case:
    """Return the case of a run with the remedy of a flow's first root cause.

    Args:
        run: the run.
        diagnosis: that of the flow.

    Raises:
        InputError: the remedy has no lines that could be typed.
    """
    lines = diagnosis.recommendation.lines
    if not lines:
        raise InputError(
            f"{run.folder}: flow {diagnosis.flow!r}: its remedy has no lines that could be run"
        )
    commands = tuple(
        Command(node=line.node, line=line.text) for line in lines if line.node != STUDY
    )
    fields = [line for line in lines if line.node == STUDY]
    flows = tuple(
        _changed(flow, fields) if flow.name == diagnosis.flow else flow for flow in run.case.flows
    )
    return dataclasses.replace(run.case, setup=run.case.setup + commands, flows=flows)


def _changed(flow: Flow, lines: list[Line]) -> Flow:
    for line in lines:
        field, _, value = (part.strip() for part in line.text.partition(":"))
        if not isinstance(flow, Bulk):
            continue
        if field == "parallel":
            flow = dataclasses.replace(flow, parallel=int(value))
        elif field == "congestion":
            flow = dataclasses.replace(flow, congestion=value)
    return flow


def compare(run: Run, again: Run, diagnosis: Diagnosis) -> Remedied:
    """Return a flow before and after a remedy.

    Args:
        run: the run before.
        again: the run of `remedied_case`.
        diagnosis: what limited the flow before.

    Raises:
        InputError: a file of a run is missing or broken.
    """
    return Remedied(
        before=diagnosis,
        after=diagnose(again, diagnosis.flow)[0],
        metrics={
            BEFORE: run.metrics_of(diagnosis.flow),
            AFTER: again.metrics_of(diagnosis.flow),
        },
    )
