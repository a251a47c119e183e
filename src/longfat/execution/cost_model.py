"""A cost model fitted to existing runs."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.execution.cost import Cost, expected_cost
from longfat.execution.runs import load_run
from longfat.execution.runs.run import MANIFEST
from longfat.model.spread import spread_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longfat.execution.cache import ResultCache
    from longfat.model.case import Case
    from longfat.model.spread import Spread

MOST_RUNS_READ = 400
"""The maximum number of runs that are read for a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRun:
    """The actual and the expected cost of an existing run.

    Attributes:
        case_digest: its case.
        wall_s: wall time from boot to end, in seconds.
        disk_bytes: the size of its folder.
        peak_bytes: the peak memory of its machine.
        expected: the expected cost.
    """

    case_digest: str
    wall_s: float
    disk_bytes: int
    peak_bytes: int
    expected: Cost


def runs_in(folder: Path) -> list[Path]:
    """Return the run directories of a folder."""
    try:
        return sorted(path.parent for path in folder.glob(f"[!.]*/{MANIFEST}"))
    except OSError:
        return []


def cached_runs(cache: ResultCache, study: str) -> list[Path]:
    """Return the folders of the cached runs of a study, the last used first."""
    found = [entry for entry in cache.entries() if entry.study == study]
    return [entry.folder for entry in sorted(found, key=lambda entry: -entry.used_s)]


def known_runs(folders: Sequence[Path]) -> list[KnownRun]:
    """Return runs, at most `MOST_RUNS_READ` of them; folders that are not runs are skipped.

    Args:
        folders: run directories.
    """
    # A sample over all of them: their names have the parameters in their order.
    step = max(1, math.ceil(len(folders) / MOST_RUNS_READ))
    found = []
    for folder in folders[::step]:
        with contextlib.suppress(InputError):
            run = load_run(folder)
            found.append(
                KnownRun(
                    case_digest=run.case_digest,
                    wall_s=run.wall_s,
                    disk_bytes=sum(file.size_bytes for file in run.files.values()),
                    peak_bytes=run.peak_bytes,
                    expected=expected_cost(run.case),
                )
            )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The ratio of actual to expected cost of existing runs: measured / expected.

    Attributes:
        wall: of the wall time.
        disk: of the disk space.
    """

    wall: Spread
    disk: Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """A model fitted to existing runs.

    Attributes:
        runs: the number of runs.
        scale: the ratio of their actual to their expected cost; None without runs.
        peak_bytes: the highest peak memory of their machines.
        by_case: the runs by their cases' digests.
    """

    runs: int = 0
    scale: Scale | None = None
    peak_bytes: int = 0
    by_case: dict[str, KnownRun] = field(default_factory=dict)

    def cost(self, case: Case) -> Cost:
        """Return the expected cost of a case; that of earlier runs of the same case, if any."""
        cost = expected_cost(case)
        if self.scale is None:
            return cost
        if same := self.by_case.get(case.digest):
            return replace(
                cost,
                wall_s=same.wall_s,
                disk_bytes=same.disk_bytes,
                peak_bytes=same.peak_bytes,
                unlimited=False,
            )
        return replace(
            cost,
            wall_s=cost.wall_s * self.scale.wall.median,
            disk_bytes=cost.disk_bytes * self.scale.disk.median,
            peak_bytes=self.peak_bytes,
        )


def fit_cost_model(runs: Sequence[KnownRun]) -> CostModel:
    """Fit a model to runs."""
    if not runs:
        return CostModel()
    scale = Scale(
        wall=spread_of(run.wall_s / run.expected.wall_s for run in runs),
        disk=spread_of(run.disk_bytes / run.expected.disk_bytes for run in runs),
    )
    return CostModel(
        runs=len(runs),
        scale=scale,
        peak_bytes=max(run.peak_bytes for run in runs),
        by_case={run.case_digest: run for run in runs},
    )
