"""The stored values of figures in texts: `figures.json` beside the study whose runs they are.

A record has a value at full precision for each expression that texts quote of the study, below
the setting of its runs, with the kernels and seeds of these, and the versions of longfat and of
the tools. `python -m tools.text_figures` writes it; everything in it is sorted, so that two
versions can be compared line by line.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longfat.errors import InputError
from longfat.execution import Batch, run_batches
from longfat.execution.cache import ResultCache
from longfat.execution.runs import Run
from longfat.execution.tools import Toolbox
from longfat.model.spread import quantile
from longfat.study import Study
from longfat.study.choose import choose_cases
from longfat.study.expressions.terms import Results
from tools.figures import RECORD_FILE, Figure, Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What a study measured with a setting.

    Attributes:
        kernels: the releases of the kernels, such as `6.1.192`.
        seeds: the seeds.
        values: the values of figures, by their keys.
    """

    kernels: tuple[str, ...]
    seeds: tuple[int, ...]
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The stored values of the figures of a study.

    Attributes:
        versions: the versions of longfat and of the tools, by name.
        settings: what was measured, by the settings as `str` has them.
    """

    versions: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Settled] = field(default_factory=dict)

    def value(self, figure: Figure) -> float | None:
        """Return the value of a figure; None if it is not stored."""
        if not figure.comes_from_runs:
            return figure.value()
        settled = self.settings.get(str(figure.setting))
        return None if settled is None else settled.values.get(figure.key)

    def unused(self, figures: Iterable[Figure]) -> list[str]:
        """Return what is stored, and is none of some figures, as a comment would have it."""
        used = {(str(figure.setting), figure.key) for figure in figures if figure.comes_from_runs}
        return [
            f"{key} ({setting})" if setting else key
            for setting, settled in self.settings.items()
            for key in settled.values
            if (setting, key) not in used
        ]


def read_record(folder: Path) -> Record:
    """Return the record of the study in a folder; an empty one if there is none.

    Raises:
        InputError: the file is none that `write_record` wrote.
    """
    file = folder / RECORD_FILE
    if not file.is_file():
        return Record()
    try:
        document = json.loads(file.read_text("utf-8"))
        return Record(
            versions=document["versions"],
            settings={
                entry["setting"]: Settled(
                    kernels=tuple(entry["kernels"]),
                    seeds=tuple(entry["seeds"]),
                    values=entry["figures"],
                )
                for entry in document["runs"]
            },
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{file}: is no record of figures ({error!r}): delete it, and write it anew by "
            "python -m tools.text_figures"
        ) from None


def write_record(folder: Path, record: Record) -> None:
    """Write the record of the study in a folder; none if it has no values."""
    file = folder / RECORD_FILE
    if not record.settings:
        file.unlink(missing_ok=True)
        return
    document: dict[str, Any] = {
        "versions": dict(sorted(record.versions.items())),
        "runs": [
            {
                "setting": setting,
                "kernels": list(settled.kernels),
                "seeds": list(settled.seeds),
                "figures": dict(sorted(settled.values.items())),
            }
            for setting, settled in sorted(record.settings.items())
        ],
    }
    file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")


def measure(
    study: Study,
    figures: Iterable[Figure],
    *,
    cache: ResultCache,
    toolbox: Toolbox,
    jobs: int | None = None,
) -> tuple[Record, str]:
    """Run what the figures of a study need, and take cached results from the cache.

    Args:
        study: the study.
        figures: its figures.
        cache: the result cache.
        toolbox: the host's tools.
        jobs: how many machines run at once; one for each CPU, if None.

    Returns:
        The record, and how many results were cached.

    Raises:
        InputError: a case is wrong, or does not measure what a figure needs.
        HostError: the host lacks something.
        MachineError: a machine failed.
    """
    by_setting: dict[Setting, list[Figure]] = {}
    for figure in figures:
        if figure.comes_from_runs:
            by_setting.setdefault(figure.setting, []).append(figure)
    if not by_setting:
        return Record(), "no runs"
    # Beside the runs of `longfat run`, so that files of the cache can be hard links.
    Path("runs").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir="runs", prefix=".figures-") as folder:
        batches = [
            Batch(
                cases=choose_cases(
                    study,
                    names=tuple(sorted(set().union(*(figure.cases for figure in chosen)))),
                    seed=setting.first_seed,
                    seeds=setting.seeds or None,
                    kernel=setting.kernel or None,
                ),
                out=Path(folder) / str(number),
                study=study.name,
            )
            for number, (setting, chosen) in enumerate(by_setting.items())
        ]
        outcome = run_batches(batches, jobs=jobs, cache=cache, toolbox=toolbox)
    if outcome.failures:
        failure = outcome.failures[0]
        setting = list(by_setting)[failure.run_id.batch]
        kernel = setting.kernel and f", Linux {setting.kernel}"
        case = f"{failure.run_id.name}, seed {failure.run_id.seed}{kernel}"
        failure.error.message = f"{study.file}: {case}: {failure.error}"
        raise failure.error
    settings = {
        str(setting): _settled(chosen, runs, setting=setting)
        for (setting, chosen), runs in zip(by_setting.items(), outcome.runs, strict=True)
    }
    tools = {
        name: tool.version
        for of_case in outcome.runs
        for runs in of_case.values()
        for run in runs
        for name, tool in run.tools.items()
    }
    return Record(versions=tools, settings=settings), outcome.summary()


def _settled(
    figures: Iterable[Figure], of_case: Mapping[str, tuple[Run, ...]], *, setting: Setting
) -> Settled:
    runs = [run for runs in of_case.values() for run in runs]
    results = results_of(of_case, setting=setting)
    return Settled(
        kernels=tuple(sorted({run.kernel["release"] for run in runs})),
        seeds=tuple(sorted({run.seed for run in runs})),
        values={figure.key: figure.value(results) for figure in figures},
    )


def results_of(of_case: Mapping[str, tuple[Run, ...]], *, setting: Setting) -> list[Results]:
    """Return the results of each seed; with the study's number of seeds, the medians."""
    if setting.seeds:
        return [
            {name: runs[index].metrics for name, runs in of_case.items()}
            for index in range(setting.seeds)
        ]
    return [{name: _medians(runs) for name, runs in of_case.items()}]


def _medians(runs: tuple[Run, ...]) -> dict[str, float]:
    metrics = dict.fromkeys(metric for run in runs for metric in run.metrics)
    return {
        metric: quantile(sorted(run.metrics[metric] for run in runs if metric in run.metrics), 0.5)
        for metric in metrics
    }
