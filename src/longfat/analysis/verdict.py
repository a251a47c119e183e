"""The verdict on a study's runs: its claims evaluated, its published figures compared.

This is the value that every output is made from: the terminal's tables, the JSON, the plots
and the report. A case that was run with several seeds has several runs; what is evaluated
and compared is then the median over them, with the spread beside it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat import shown_in_notebook
from longfat.errors import InputError
from longfat.model.spread import Spread, spread_of
from longfat.study.claims.aggregates import NotRunError, Tally
from longfat.study.claims.rows import Table

if TYPE_CHECKING:
    from longfat.execution.runs import Run
    from longfat.study import Claim, Figure, Study


@dataclass(frozen=True, slots=True)
class SeedCount:
    """In how many of the seeds a claim holds, each seed taken by itself.

    Attributes:
        holding: in how many it holds.
        count: of how many.
        failing: the seeds in which it does not; empty if the claim's cases have
            different seeds.
    """

    holding: int
    count: int
    failing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """A claim with its result.

    Attributes:
        claim: the claim.
        passed: whether it holds for the medians of its cases; None if that
            depends on a case that was not run, or on several seeds where a case
            has a single run.
        seeds: in how many of the seeds it holds, the k-th run of each case
            taken together; None if its cases have different numbers of runs,
            or one has a single run.
        tallies: its aggregates over many cases: in how many they hold, and where not.
    """

    claim: Claim
    passed: bool | None
    seeds: SeedCount | None = None
    tallies: tuple[Tally, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A published figure beside ours.

    Attributes:
        figure: the published figure.
        spread: our numbers in the same unit; None if its case did not run or
            has no such metric.
    """

    figure: Figure
    spread: Spread | None

    @property
    def measured(self) -> float | None:
        """Return our number: the median over the seeds; None if there is none."""
        return None if self.spread is None else self.spread.median

    @property
    def ratio(self) -> float | None:
        """Return measured / published; None where there is no such number."""
        if self.measured is None or self.figure.value == 0:
            return None
        return self.measured / self.figure.value

    @property
    def inside_band(self) -> bool | None:
        """Return whether the published figure lies in our 5-95 % band; None for a single run."""
        if self.spread is None or self.spread.count < 2:
            return None
        return self.spread.contains(self.figure.value)

    @property
    def inside_source(self) -> bool | None:
        """Return whether our number lies in the source's band; None if one of them is missing."""
        if self.measured is None or self.figure.spread is None:
            return None
        return self.figure.spread.contains(self.measured)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A study with its runs.

    Attributes:
        study: the study.
        runs: the runs by the cases' names, one for each seed, in the seeds'
            order; cases that were not run are absent.
        spreads: what the runs measured, by case and metric (`FLOW.METRIC`, in
            base units); a metric is absent where no run has it.
        claims: every claim of the study, with its result.
        published: every published figure of the study, compared.
    """

    study: Study
    runs: Mapping[str, tuple[Run, ...]]
    spreads: Mapping[str, Mapping[str, Spread]]
    claims: tuple[ClaimResult, ...]
    published: tuple[Comparison, ...]

    def _repr_html_(self) -> str:
        """Return claims, numbers and figures, for a notebook."""
        return shown_in_notebook("verdict", self)

    @property
    def good(self) -> bool:
        """Return whether no claim failed."""
        return all(judged.passed is not False for judged in self.claims)

    @property
    def many_seeds(self) -> bool:
        """Return whether a case was run with several seeds."""
        return any(len(runs) > 1 for runs in self.runs.values())

    @property
    def first_runs(self) -> dict[str, Run]:
        """Return the run of each case with its first seed."""
        return {name: runs[0] for name, runs in self.runs.items()}

    def medians(self, case: str) -> dict[str, float]:
        """Return the medians of a case by metric; of a case with one run, what it measured."""
        return {metric: spread.median for metric, spread in self.spreads[case].items()}

    def to_json(self) -> dict[str, Any]:
        """Return the object that `longfat run --json` prints for a study."""
        return {
            "study": self.study.name,
            "cases": {
                name: {
                    "metrics": self.medians(name),
                    "spread": {
                        metric: {"low": spread.low, "high": spread.high, "count": spread.count}
                        for metric, spread in self.spreads[name].items()
                    },
                    "runs": [_run_to_json(run) for run in runs],
                }
                for name, runs in self.runs.items()
            },
            "claims": [_claim_to_json(judged) for judged in self.claims],
            "published": [_comparison_to_json(comparison) for comparison in self.published],
        }


def _run_to_json(run: Run) -> dict[str, Any]:
    return {
        "seed": run.seed,
        "digest": run.digest,
        "run_dir": str(run.folder),
        "virtual_s": run.virtual_s,
        "wall_s": run.wall_s,
        "metrics": run.metrics,
    }


def _claim_to_json(judged: ClaimResult) -> dict[str, Any]:
    seeds = judged.seeds
    return {
        "text": judged.claim.text,
        "expression": judged.claim.expression,
        "holds": judged.passed,
        "over_seeds": judged.claim.over_seeds,
        "seeds": None if seeds is None else dataclasses.asdict(seeds),
        "over_cases": [tally.to_json() for tally in judged.tallies],
    }


def _comparison_to_json(comparison: Comparison) -> dict[str, Any]:
    spread = comparison.spread
    return {
        "case": comparison.figure.case,
        "metric": comparison.figure.metric,
        "published": comparison.figure.value,
        **source_band_json(comparison.figure),
        "measured": comparison.measured,
        "low": None if spread is None else spread.low,
        "high": None if spread is None else spread.high,
        "count": 0 if spread is None else spread.count,
        "ratio": comparison.ratio,
        "inside_band": comparison.inside_band,
        "inside_source": comparison.inside_source,
    }


def source_band_json(figure: Figure) -> dict[str, float | int | None]:
    """Return the spread of a published figure's runs as the fields of a JSON object.

    Args:
        figure: the figure; its fields are null where the source published a single number.
    """
    spread = figure.spread
    return {
        "published_low": None if spread is None else spread.low,
        "published_high": None if spread is None else spread.high,
        "published_runs": None if spread is None or not spread.count else spread.count,
    }


def evaluate(study: Study, runs: Mapping[str, Sequence[Run]]) -> Verdict:
    """Evaluate the claims of a study and compare its published figures.

    Args:
        study: the study.
        runs: the runs of some or all of its cases, by name, in the seeds' order.
    """
    there = {name: tuple(of_case) for name, of_case in runs.items() if of_case}
    spreads = {name: _spreads(of_case) for name, of_case in there.items()}
    figures = study.published.figures if study.published else ()
    return Verdict(
        study=study,
        runs=there,
        spreads=spreads,
        claims=_claim_results(study, there, spreads),
        published=tuple(
            Comparison(figure, spreads.get(figure.case, {}).get(figure.metric))
            for figure in figures
        ),
    )


def _spreads(runs: Sequence[Run]) -> dict[str, Spread]:
    # A run may lack a number that others have, e.g. if no reply came back.
    metrics = dict.fromkeys(metric for run in runs for metric in run.metrics)
    return {
        metric: spread_of(run.metrics[metric] for run in runs if metric in run.metrics)
        for metric in metrics
    }


def _claim_results(
    study: Study,
    runs: Mapping[str, tuple[Run, ...]],
    spreads: Mapping[str, Mapping[str, Spread]],
) -> tuple[ClaimResult, ...]:
    if not study.claims:
        return ()
    medians = {
        case: {metric: spread.median for metric, spread in of_case.items()}
        for case, of_case in spreads.items()
    }
    table = Table(medians, tuple(study.cases))
    by_seed = [
        Table(
            {name: of_case[k].metrics for name, of_case in runs.items() if k < len(of_case)},
            tuple(study.cases),
        )
        for k in range(max((len(of_case) for of_case in runs.values()), default=0))
    ]
    return tuple(
        ClaimResult(
            claim,
            _passed(claim, table, runs),
            _seed_count(claim, runs, by_seed),
            tuple(one.tally(table) for one in claim.over),
        )
        for claim in study.claims
    )


def _seed_count(
    claim: Claim, runs: Mapping[str, tuple[Run, ...]], by_seed: Sequence[Table]
) -> SeedCount | None:
    counts = {len(runs.get(case, ())) for case in claim.cases}
    if len(counts) != 1 or counts <= {0, 1}:
        return None
    (count,) = counts
    failing = [k for k, table in enumerate(by_seed[:count]) if _holds(claim, table) is not True]
    of_cases = {tuple(run.seed for run in runs[case]) for case in claim.cases}
    seeds = of_cases.pop() if len(of_cases) == 1 else None
    return SeedCount(
        holding=count - len(failing),
        count=count,
        failing=() if seeds is None else tuple(seeds[k] for k in failing),
    )


def _passed(claim: Claim, medians: Table, runs: Mapping[str, tuple[Run, ...]]) -> bool | None:
    if claim.over_seeds and any(len(runs.get(case, ())) == 1 for case in claim.cases):
        return None
    return _holds(claim, medians)


def _holds(claim: Claim, metrics: Mapping[str, Mapping[str, float]]) -> bool | None:
    if not claim.named <= metrics.keys():
        return None
    try:
        return claim.holds(metrics)
    except NotRunError:
        return None
    except InputError:
        # The case ran and lacks the number (e.g. no reply came back): conditions on it are
        # false.
        return False
