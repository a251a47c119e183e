"""What limited a flow, as the page shows it: of a live flow and of a run alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.analysis.advice.diagnosis import Diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What limited a flow; see `Advice` of the page's `api/types.ts`.

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


def advice_of(found: Diagnosis) -> Advice:
    """Return what a diagnosis says, for the page."""
    facts = [f"{fact.label}: {fact.text}" for fact in found.facts]
    words = [found.recommendation.words] if found.recommendation.words else []
    return Advice(
        verdict=found.verdict,
        notes=(*facts, *words, *found.notes),
        lines=tuple((line.node, line.text) for line in found.recommendation.lines),
    )
