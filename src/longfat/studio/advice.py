"""What limited a flow, as the page shows it: of a live flow and of a run alike."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.limits import Limit
from longfat.analysis.advice.recommendation import STUDY

if TYPE_CHECKING:
    from longfat.analysis.advice.diagnosis import Diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What limited a flow; see `Advice` of the page's `api/types.ts`.

    Attributes:
        answer: what the flow got and what limited it, in a line.
        verdict: one sentence.
        notes: the evidence, and the recommendation.
        lines: recommended commands, each with its node.
        study: recommended values for fields of the flow in the study.
    """

    answer: str
    verdict: str
    notes: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    study: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, object]:
        """Return it as plain data."""
        lines = [{"node": node, "line": line} for node, line in self.lines]
        study = [{"field": field, "value": value} for field, value in self.study]
        return {**asdict(self), "notes": list(self.notes), "lines": lines, "study": study}


_LIMITING = {
    Limit.BOTTLENECK: "it fills the path",
    Limit.RECEIVE_WINDOW: "the receive window limits it",
    Limit.SEND_BUFFER: "the send buffer limits it",
    Limit.LOSS: "the congestion window after losses limits it",
    Limit.START_UP: "it was still starting up",
    Limit.MODEL: "the congestion control's own model limits it",
    Limit.APPLICATION: "the application limits it",
    Limit.UNKNOWN: "its limit is unknown",
}


def advice_of(found: Diagnosis) -> Advice:
    """Return a diagnosis for the page."""
    facts = [f"{fact.label}: {fact.text}" for fact in found.facts]
    lines = found.recommendation.lines
    words = [found.recommendation.words] if found.recommendation.words else []
    return Advice(
        answer=_answer(found),
        verdict=found.verdict,
        notes=(*facts, *words, *found.notes),
        lines=tuple((one.node, one.text) for one in lines if one.node != STUDY),
        study=tuple(_field(one.text) for one in lines if one.node == STUDY),
    )


def _answer(found: Diagnosis) -> str:
    """Return a flow's throughput, the available rate, and its limit, in one line."""
    known = {fact.key: fact.text for fact in found.facts}
    got, rate = known.get("receiver_bps"), known.get("rate_bps")
    if found.limit is None or got is None:
        return found.verdict
    of = f" of {' '.join(rate.split())}" if rate is not None else ""
    return f"{found.flow} got {got}{of}: {_LIMITING[found.limit]}."


def _field(text: str) -> tuple[str, str]:
    """Return the field and the value of a line for the study, such as `parallel: 9`."""
    field, _, value = text.partition(":")
    return field.strip(), value.strip()
