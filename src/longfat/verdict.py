"""What a study's runs amount to: its claims judged, its published figures compared.

This is the value that every output is made from: the terminal's tables, the
JSON, the plots and the report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.runs import Run
    from longfat.study import Claim, Figure, Study


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim and whether it holds; None if a case that it speaks of was not run."""

    claim: Claim
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A published figure beside ours.

    Attributes:
        figure: the published figure.
        measured: our number in the same unit; None if its case did not run or
            has no such metric.
    """

    figure: Figure
    measured: float | None

    @property
    def ratio(self) -> float | None:
        """Return measured / published; None where there is no such number."""
        if self.measured is None or self.figure.value == 0:
            return None
        return self.measured / self.figure.value


@dataclass(frozen=True, slots=True)
class Verdict:
    """A study with its runs.

    Attributes:
        study: the study.
        runs: the runs by the cases' names; cases that were not run are absent.
        claims: every claim of the study, judged.
        published: every published figure of the study, compared.
    """

    study: Study
    runs: Mapping[str, Run]
    claims: tuple[JudgedClaim, ...]
    published: tuple[Comparison, ...]

    @property
    def good(self) -> bool:
        """Tell whether no claim failed."""
        return all(judged.holds is not False for judged in self.claims)

    def to_json(self) -> dict[str, Any]:
        """Return the object that `longfat run --json` prints."""
        return {
            "study": self.study.name,
            "cases": {
                name: {
                    "digest": run.digest,
                    "seed": run.seed,
                    "metrics": run.metrics,
                    "virtual_s": run.virtual_s,
                    "wall_s": run.wall_s,
                    "run_dir": str(run.folder),
                }
                for name, run in self.runs.items()
            },
            "claims": [
                {
                    "text": judged.claim.text,
                    "expression": judged.claim.expression,
                    "holds": judged.holds,
                }
                for judged in self.claims
            ],
            "published": [
                {
                    "case": comparison.figure.case,
                    "metric": comparison.figure.metric,
                    "published": comparison.figure.value,
                    "measured": comparison.measured,
                    "ratio": comparison.ratio,
                }
                for comparison in self.published
            ],
        }


def judge(study: Study, runs: Mapping[str, Run]) -> Verdict:
    """Judge the claims of a study and compare its published figures.

    Args:
        study: the study.
        runs: the runs of some or all of its cases, by name.
    """
    metrics = {name: run.metrics for name, run in runs.items()}
    figures = study.published.figures if study.published else ()
    return Verdict(
        study=study,
        runs=runs,
        claims=tuple(JudgedClaim(claim, _holds(claim, metrics)) for claim in study.claims),
        published=tuple(
            Comparison(figure, metrics.get(figure.case, {}).get(figure.metric))
            for figure in figures
        ),
    )


def _holds(claim: Claim, metrics: Mapping[str, Mapping[str, float]]) -> bool | None:
    if not claim.cases <= metrics.keys():
        return None
    try:
        return claim.holds(metrics)
    except InputError:
        # The case ran and has no such number (no reply came back, say): what
        # the claim says of that number is not so.
        return False
