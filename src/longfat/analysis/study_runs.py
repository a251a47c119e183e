"""A study with its runs, held in Python: run it, and take what came of it as data frames.

It is at the level of the command line, above all packages: what `run` does
is what `longfat run` does, and what `frame` returns is what `longfat query`
reads, of the runs that belong to the study as it is written now.
"""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import shown_in_notebook
from longfat.analysis.verdict import evaluate
from longfat.common.checksum import FileSum, file_damage
from longfat.common.extras import lazy, need
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.execution import run_cases
from longfat.execution.cache import ResultCache
from longfat.execution.runs import load_run
from longfat.execution.runs.run import SERIES
from longfat.study import read_study
from longfat.study.choose import check_names, choose_cases
from longfat.study.labs import find_study

if TYPE_CHECKING:
    import polars as pl

    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.model.parameter import ParameterValue
    from longfat.study import Planned, Study
else:
    pl = lazy("polars")


class LeftOutWarning(UserWarning):
    """Runs lie in the study's folder that are not of its cases as they are written now."""


def open_study(
    study: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    kernel: str | None = None,
) -> StudyRuns:
    """Open a study with its runs.

    Args:
        study: a study file, a folder with a `study.yaml`, or a lab's name.
        out: the folder of its runs; `runs/STUDY`, as `longfat run` has it, if None.
        kernel: the kernel in place of the study's own, as `longfat run --kernel`.

    Raises:
        InputError: there is no such study, or something in it is wrong.
    """
    found = read_study(find_study(os.fspath(study)))
    if kernel is not None:
        cases = choose_cases(found, names=(), seed=None, seeds=None, kernel=kernel)
        found = dataclasses.replace(found, cases=cases)
    return StudyRuns(found, out=Path("runs") / found.name if out is None else Path(out))


@dataclasses.dataclass(frozen=True, slots=True)
class _Known:
    """A run that belongs to the study."""

    folder: Path
    case: str
    seed: int
    metrics: Mapping[str, float]
    probes: Sequence[Mapping[str, Any]]


class StudyRuns:
    """A study with its runs; see `open_study`.

    Args:
        study: the study, as it was read.
        out: the folder of its runs.
    """

    def __init__(self, study: Study, *, out: Path) -> None:
        self.study = study
        """The study as a value: title, cases, claims, grid."""
        self.out = out
        """The folder of its runs."""

    def __repr__(self) -> str:
        cases = len(self.study.cases)
        return f"<study {self.study.name!r}: {cases:,} cases, runs in {self.out}>"

    def _repr_html_(self) -> str:
        """Return its network and cases, for a notebook."""
        return shown_in_notebook("study", self)

    def run(
        self,
        *,
        cases: Sequence[str] = (),
        seed: int | None = None,
        seeds: int | None = None,
        jobs: int | None = None,
        cache: bool = True,
    ) -> Verdict:
        """Run the study's cases, as `longfat run` does; what is known is not run again.

        Args:
            cases: names of cases, or patterns such as `cubic-*`; all, if there are none.
            seed: the first seed, in place of the study's.
            seeds: the number of seeds, likewise.
            jobs: how many machines at once; as many as CPUs, if None.
            cache: use the result cache.

        Returns:
            The verdict over what was run; `verdict()` is over all that is there.

        Raises:
            LongfatError: a case failed; the first of them in the cases' order.
        """
        names = tuple(cases)
        check_names([self.study], names)
        chosen = choose_cases(self.study, names=names, seed=seed, seeds=seeds, kernel=None)
        cached = ResultCache() if cache else None
        runs = run_cases(chosen, out=self.out, study=self.study.name, jobs=jobs, cache=cached)
        return evaluate(self.study, runs)

    def verdict(self) -> Verdict:
        """Evaluate the claims, and compare the published figures, over the runs that are there.

        Raises:
            InputError: a run's manifest is broken.
        """
        runs: dict[str, list[Run]] = {}
        for known in self._known():
            runs.setdefault(known.case, []).append(load_run(known.folder))
        return evaluate(self.study, runs)

    def frame(self) -> pl.DataFrame:
        """Return a row for each run that is there, in the order of the cases and seeds.

        Columns: `case` and `seed`; the parameters of a grid, numbers in base units under
        names such as `rtt_s`, texts as they are; the metrics by their full names, such as
        `bulk.receiver_bps`; and `run`, the run directory. A metric that a run does not have
        is null. Runs of cases that the study no longer has, or has otherwise, are left out
        with a `LeftOutWarning`.
        """
        known = self._known()
        frame = self._keys(known)
        values: dict[str, list[float | None]] = {}
        for row, one in enumerate(known):
            for name, value in one.metrics.items():
                values.setdefault(name, [None] * len(known))[row] = value
        measured = pl.DataFrame(values, schema=dict.fromkeys(values, pl.Float64))
        keys = frame.drop("run")
        return pl.concat([keys, measured, frame.select("run")], how="horizontal")

    def claims(self) -> pl.DataFrame:
        """Return a row for each claim, evaluated over the runs that are there.

        Columns: `text`, `expression`, `holds` (null if cases are missing), `seeds_holding`
        and `seeds` (null where there is a single seed).
        """
        rows = [
            {
                "text": one.claim.text,
                "expression": one.claim.expression,
                "holds": one.passed,
                "seeds_holding": None if one.seeds is None else one.seeds.holding,
                "seeds": None if one.seeds is None else one.seeds.count,
            }
            for one in self.verdict().claims
        ]
        schema = {"text": pl.String, "expression": pl.String, "holds": pl.Boolean}
        whole = {"seeds_holding": pl.Int64, "seeds": pl.Int64}
        return pl.DataFrame(rows, schema={**schema, **whole})

    def series(self, probe: str) -> pl.DataFrame:
        """Return what a probe saw in all runs that are there.

        Args:
            probe: the probe's name.

        Returns:
            The rows of its series (docs/study-format.md), with `case`, `seed` and the
            parameters before them, and `run` after them.

        Raises:
            InputError: no case has such a probe, or a file is missing or broken.
        """
        having = {
            name
            for name, plan in self.study.cases.items()
            if any(one.name == probe for one in plan.case.probes)
        }
        if not having:
            plans = self.study.cases.values()
            names = list(dict.fromkeys(one.name for plan in plans for one in plan.case.probes))
            raise InputError(
                f"{self.study.file}: no case has a probe {probe!r}{nearest(probe, names)} "
                f"(there are: {listed(names)})"
            )
        known = [one for one in self._known() if one.case in having]
        if not known:
            return self._keys(known)
        files = {str(one.folder / SERIES / f"{probe}.parquet"): one for one in known}
        keys = self._keys(known).with_columns(pl.Series("file", list(files)))
        for file, one in files.items():
            if problem := _series_damage(Path(file), one.probes, probe):
                raise InputError(f"{file}: damaged: {problem}")
        try:
            rows = pl.scan_parquet(
                list(files), include_file_paths="file", missing_columns="insert", glob=False
            ).collect()
        except (OSError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{self.out}: the series {probe!r} cannot be read: {error}") from None
        words = [name for name, kind in rows.schema.items() if kind in (pl.Categorical, pl.Enum)]
        rows = rows.with_columns(pl.col(words).cast(pl.String))
        joined = rows.join(keys, on="file", how="left", maintain_order="left")
        first = [name for name in keys.columns if name not in ("file", "run")]
        return joined.select(*first, *(n for n in rows.columns if n != "file"), "run")

    def _known(self) -> list[_Known]:
        """Return the runs that belong to the study's cases, in the order of cases and seeds."""
        if not self.out.is_dir():
            return []
        need("frames")
        # The catalog is made of Arrow's types.
        from longfat.analysis.query import Catalog  # noqa: PLC0415

        catalog = Catalog([self.out])
        wanted = ["run", "case_name", "seed", "case_digest", "metrics", "probes"]
        entries = catalog.entries.select(wanted).to_pylist()
        order = {name: place for place, name in enumerate(self.study.cases)}
        found = []
        for one in entries:
            plan_name = one["case_name"]
            plan = self.study.cases.get(plan_name)
            if plan is None:
                continue
            case = dataclasses.replace(plan.case, seed=one["seed"])
            if case.digest == one["case_digest"]:
                metrics = {name: reading["value"] for name, reading in one["metrics"]}
                found.append(
                    _Known(Path(one["run"]), plan_name, one["seed"], metrics, one["probes"])
                )
        left_out = len(entries) - len(found) + len(catalog.problems)
        if left_out:
            warnings.warn(
                f"{left_out:,} of {len(entries) + len(catalog.problems):,} runs in {self.out} are "
                f"left out: they are not of the cases of {self.study.file} as it is now",
                LeftOutWarning,
                stacklevel=3,
            )
        unique: dict[tuple[str, int], _Known] = {}  # of one case and seed all runs are the same
        for one in sorted(found, key=lambda one: (order[one.case], one.seed, str(one.folder))):
            unique.setdefault((one.case, one.seed), one)
        return list(unique.values())

    def _keys(self, known: Sequence[_Known]) -> pl.DataFrame:
        """Return the columns that identify the run of a row."""
        plans = self.study.cases
        columns = {
            "case": pl.Series([one.case for one in known], dtype=pl.String),
            "seed": pl.Series([one.seed for one in known], dtype=pl.Int64),
        }
        for name, of_case in _parameters(plans).items():
            values = [of_case.get(one.case) for one in known]
            numbers = all(not isinstance(value, str) for value in of_case.values())
            dtype = pl.Float64 if numbers else pl.String
            unique = name if name not in columns else f"{name}_2"
            columns[unique] = pl.Series(values, dtype=dtype)
        columns["run"] = pl.Series([str(one.folder) for one in known], dtype=pl.String)
        return pl.DataFrame(columns)


def _series_damage(path: Path, probes: Sequence[Mapping[str, Any]], probe: str) -> str:
    """Return how the file of a probe's series differs from what it held; empty if it does not."""
    for one in probes:
        if one["probe"] == probe and one["sha256"] is not None:
            return file_damage(path, FileSum(size_bytes=one["size_bytes"], sha256=one["sha256"]))
    return "the run has no such file"


def _parameters(plans: Mapping[str, Planned]) -> dict[str, dict[str, float | str]]:
    """Return the parameters as columns: by the column's name, the value in each case."""
    found: dict[str, dict[str, float | str]] = {}
    for case, plan in plans.items():
        for name, setting in plan.parameters.items():
            column, value = _cell(name, setting)
            found.setdefault(column, {})[case] = value
    return found


def _cell(name: str, setting: ParameterValue) -> tuple[str, float | str]:
    if setting.number is None or setting.unit is None:
        return name, setting.text
    from longfat.analysis.query import number_name  # noqa: PLC0415  as in _known

    return number_name(name, setting.unit.value), setting.number
