"""What held a live flow back: `longfat diagnose`, on what the flow itself printed."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longfat import kernel as kernels
from longfat.advice.diagnosis import diagnose
from longfat.errors import LongfatError
from longfat.runs import FlowTime, Run
from longfat.runs.run import RAW
from longfat.traffic import Iperf3

if TYPE_CHECKING:
    from longfat.advice.diagnosis import Diagnosis
    from longfat.case import Case
    from longfat.live.flows import Measured


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What held a flow back; see `Advice` of the page's `api/types.ts`.

    Attributes:
        verdict: one sentence.
        notes: the evidence, and what follows.
        lines: nodes and lines to type there, which would help.
    """

    verdict: str
    notes: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, object]:
        """Return it as plain data."""
        lines = [{"node": node, "line": line} for node, line in self.lines]
        return {**asdict(self), "notes": list(self.notes), "lines": lines}


def advise(measured: Measured, case: Case, *, folder: Path) -> Advice | None:
    """Diagnose a live flow.

    Args:
        measured: what it gave.
        case: the network and what was set up in it, with this one flow.
        folder: where files may be for a moment; nobody else writes there now.

    Returns:
        What held it back; None where nothing can be said.
    """
    if not isinstance(measured.flow, Iperf3):
        return None
    name = measured.flow.name
    with tempfile.TemporaryDirectory(dir=folder) as place:
        raw = Path(place, RAW)
        raw.mkdir()
        for file, text in measured.raw.items():
            (raw / file).write_text(text, encoding="utf-8")
        run = Run(
            folder=Path(place),
            name=name,
            case=case,
            case_digest="",
            digest="",
            kernel={"release": kernels.find(case.kernel).release},
            tools={},
            seed=case.seed,
            flow_times={name: FlowTime(start_s=0.0, end_s=measured.flow.duration_s())},
            epoch_s=0.0,
            virtual_s=0.0,
            wall_s=0.0,
            metrics={f"{name}.{metric}": value for metric, value in measured.metrics.items()},
        )
        try:
            (found,) = diagnose(run, name)
        except LongfatError:
            return None
    return advice_of(found)


def advice_of(found: Diagnosis) -> Advice:
    """Return what a diagnosis says, for the page."""
    facts = [f"{fact.label}: {fact.text}" for fact in found.facts]
    words = [found.remedy.words] if found.remedy.words else []
    return Advice(
        verdict=found.verdict,
        notes=(*facts, *words, *found.notes),
        lines=tuple((line.node, line.text) for line in found.remedy.lines),
    )
