"""`longfat plan`: how many cases and runs a study has, and what running them will cost."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from longfat.cli.completion import complete_study
from longfat.cli.console import echo, stdout
from longfat.cli.options import cases_option, jobs_option, json_option, study_kernel_option
from longfat.cli.render.number_text import format_count, format_time
from longfat.cli.render.tables import plain_table, print_table
from longfat.errors import HostError
from longfat.execution.batch_runner import Keys, cost_model_of
from longfat.execution.cache import ResultCache
from longfat.execution.cost import Cost, CostModel, parallel_wall_s
from longfat.execution.executor import Batch
from longfat.execution.tools import Toolbox
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.study import read_study
from longfat.study.choose import check_names, choose_cases
from longfat.study.expand import MAX_SEEDS
from longfat.study.labs import find_study_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console
    from rich.table import Table

    from longfat.study import Planned, Study

_FIRST_CASES = 10
_MAX_LONGEST = 3
_MAX_VALUES = 8


@dataclass(frozen=True, slots=True)
class _Entry:
    """A case with what one of its runs will cost, and how many of them are cached."""

    name: str
    planned: Planned
    cost: Cost
    known: int

    @property
    def left(self) -> int:
        return self.planned.seeds - self.known

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.planned.title,
            "parameters": {name: s.text for name, s in self.planned.parameters.items()},
            "runs": self.planned.seeds,
            "known_runs": self.known,
            "virtual_s": round(self.cost.virtual_s, 3),
            "wall_s": round(self.cost.wall_s, 3),
            "disk_bytes": round(self.cost.disk_bytes),
            "rate_known": not self.cost.unlimited,
        }


@dataclass(frozen=True, slots=True)
class _Plan:
    """A study with what it will cost."""

    study: Study
    entries: tuple[_Entry, ...]
    jobs: int
    folder: Path
    cache: Path
    cost_model: CostModel

    @property
    def runs(self) -> int:
        return sum(entry.planned.seeds for entry in self.entries)

    @property
    def known(self) -> int:
        return sum(entry.known for entry in self.entries)

    # What follows is of the runs that are left.

    @property
    def virtual_s(self) -> float:
        return sum(entry.cost.virtual_s * entry.left for entry in self.entries)

    @property
    def cpu_s(self) -> float:
        return sum(entry.cost.wall_s * entry.left for entry in self.entries)

    @property
    def wall_s(self) -> float:
        runs = (entry.cost.wall_s for entry in self.entries for _ in range(entry.left))
        return parallel_wall_s(runs, self.jobs)

    @property
    def disk_bytes(self) -> float:
        return sum(entry.cost.disk_bytes * entry.left for entry in self.entries)

    @property
    def unlimited(self) -> int:
        return sum(entry.cost.unlimited for entry in self.entries if entry.left)

    @property
    def longest(self) -> list[_Entry]:
        left = [entry for entry in self.entries if entry.left]
        return sorted(left, key=lambda entry: -entry.cost.wall_s)[:_MAX_LONGEST]

    def to_json(self) -> dict[str, Any]:
        grid = self.study.grid
        scale = self.cost_model.scale
        return {
            "study": self.study.name,
            "title": self.study.title,
            "cases": len(self.entries),
            "runs": self.runs,
            "known_runs": self.known,
            "grid": None
            if grid is None
            else {
                "parameters": {one.name: list(one.values) for one in grid.parameters},
                "product": grid.product,
            },
            "virtual_s": round(self.virtual_s, 3),
            "cpu_s": round(self.cpu_s, 3),
            "jobs": self.jobs,
            "wall_s": round(self.wall_s, 3),
            "disk_bytes": round(self.disk_bytes),
            "cases_without_known_rate": self.unlimited,
            "founded_on": {
                "runs": self.cost_model.runs,
                "folder": str(self.folder),
                "wall_ratio": None if scale is None else _ratio(scale.wall),
                "disk_ratio": None if scale is None else _ratio(scale.disk),
            },
            "longest": [entry.name for entry in self.longest],
            "plan": [entry.to_json() for entry in self.entries],
        }


def _ratio(spread: Any) -> dict[str, float]:
    return {name: round(getattr(spread, name), 3) for name in ("median", "low", "high")}


@click.command()
@click.argument("study", metavar="STUDY", shell_complete=complete_study)
@cases_option("Plan")
@click.option(
    "--seeds",
    type=click.IntRange(min=1, max=MAX_SEEDS),
    metavar="N",
    help="Plan N seeds for each case in place of the study's number.",
)
@study_kernel_option("Plan for")
@click.option("--no-cache", is_flag=True, help="Take nothing as cached.")
@jobs_option()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of earlier runs to estimate from; default: runs/STUDY.",
)
@click.option("--all", "show_all", is_flag=True, help="List all cases, not only the first.")
@json_option("Print one JSON object, with all cases.")
def plan(
    study: str,
    *,
    names: tuple[str, ...],
    seeds: int | None,
    kernel: str | None,
    no_cache: bool,
    jobs: int | None,
    out: Path | None,
    show_all: bool,
    as_json: bool,
) -> None:
    """Show cases, runs, time and disk space of `longfat run STUDY`.

    Nothing is run. What is cached costs nothing. Times are estimated from runs of the same
    study, if there are any, else from measurements on another machine; the plan shows
    which, and how accurate they are.
    """
    found = read_study(find_study_file(study))
    check_names([found], names)
    chosen = choose_cases(found, names=names, seed=None, seeds=seeds, kernel=kernel)
    folder = out if out is not None else Path("runs") / found.name
    batch = Batch(cases=chosen, out=folder, study=found.name)
    jobs = jobs or len(os.sched_getaffinity(0))
    made = _plan(found, batch, jobs=jobs, uses_cache=not no_cache)
    if as_json:
        echo(json.dumps(made.to_json(), indent=2))
        return
    _show(made, console=stdout(), show_all=show_all)


def _plan(study: Study, batch: Batch, *, jobs: int, uses_cache: bool) -> _Plan:
    cache = ResultCache()
    cost_model = cost_model_of(batch, cache=cache)
    known = _known(batch.cases, cache) if uses_cache else {}
    entries = tuple(
        _Entry(name, planned, cost_model.cost(planned.case), known.get(name, 0))
        for name, planned in batch.cases.items()
    )
    return _Plan(study, entries, jobs, batch.out, cache.root, cost_model)


def _known(cases: Mapping[str, Planned], cache: ResultCache) -> dict[str, int]:
    """Return how many runs of each case are cached."""
    keys = Keys(Toolbox())
    known = {}
    for name, planned in cases.items():
        try:
            known[name] = sum(cache.has(keys.of(case)) for case in planned.seeded())
        except HostError:
            known[name] = 0  # a kernel or a tool is missing: `longfat run` reports it
    return known


def _show(made: _Plan, *, console: Console, show_all: bool) -> None:
    study = made.study
    console.print(Text(study.title, style="bold"), soft_wrap=True)
    text = f"{format_count(len(made.entries), 'case')}, {format_count(made.runs, 'run')}"
    if study.grid is not None:
        text += f", of a grid of {format_count(study.grid.product, 'combination')}"
    console.print(Text(text))
    if study.grid is not None:
        table = plain_table("parameter", "values", "")
        table.columns[-1].no_wrap = False
        for one in study.grid.parameters:
            table.add_row(one.name, str(len(one.values)), Text(_values(one.values)))
        console.print()
        print_table(table, console=console)
    console.print()
    if made.known:
        console.print(Text(_known_runs(made)), soft_wrap=True)
    if made.known < made.runs:
        print_table(_sums(made), console=console)
    for line in _sureness(made):
        console.print(Text(line), soft_wrap=True)
    if len(made.entries) > _MAX_LONGEST and made.longest:
        console.print("\nlongest")
        print_table(_cases(made.longest), console=console)
    shown = made.entries if show_all else made.entries[:_FIRST_CASES]
    console.print("\ncases")
    print_table(_cases(shown), console=console)
    if len(shown) < len(made.entries):
        console.print(f"... and {len(made.entries) - len(shown):,} more: --all lists them")


def _known_runs(made: _Plan) -> str:
    if made.known == made.runs:
        return f"All {format_count(made.runs, 'run')} are cached: nothing is left to be run."
    return (
        f"{made.known:,} of {format_count(made.runs, 'run')} are cached; the rest: about "
        f"{format_time(made.wall_s)}"
    )


def _sums(made: _Plan) -> Table:
    table = plain_table("", "")
    table.add_row("virtual time", format_time(made.virtual_s))
    table.add_row("CPU time", f"about {format_time(made.cpu_s)}")
    jobs = format_count(made.jobs, "job")
    table.add_row("wall time", f"about {format_time(made.wall_s)} with {jobs}")
    table.add_row("disk space", f"about {format_quantity(made.disk_bytes, Unit.BYTES)}")
    return table


def _sureness(made: _Plan) -> list[str]:
    if made.known == made.runs:
        return []
    scale = made.cost_model.scale
    if scale is None:
        lines = [
            f"No runs in {made.folder} to estimate from: times are those of another machine (see "
            "docs/performance.md), and may be off by a factor of 3; disk space, by 2. One case "
            "that is run makes this more accurate."
        ]
    else:
        wall, disk = scale.wall, scale.disk
        lines = [
            f"Learned from {format_count(made.cost_model.runs, 'run')} of this study; most of them "
            f"took {wall.low / wall.median:.2f} to {wall.high / wall.median:.2f} times what this "
            f"estimate gives for them, and {disk.low / disk.median:.2f} to "
            f"{disk.high / disk.median:.2f} times the space.",
        ]
    if made.unlimited:
        lines.append(
            f"{format_count(made.unlimited, 'case')} with a flow whose rate no line limits, as far "
            "as can be read: taken as 10 Gbit/s, which is a guess."
        )
    return lines


def _cases(entries: Iterable[_Entry]) -> Table:
    entries = list(entries)
    any_known = any(entry.known for entry in entries)
    heads = ("case", "runs", *(["known"] if any_known else []))
    table = plain_table(*heads, "virtual", "time a run", "disk a run")
    for column in table.columns[1:]:
        column.justify = "right"
    for entry in entries:
        cost = entry.cost
        table.add_row(
            Text(entry.name),
            str(entry.planned.seeds),
            *([str(entry.known)] if any_known else []),
            format_time(cost.virtual_s),
            format_time(cost.wall_s),
            format_quantity(cost.disk_bytes, Unit.BYTES),
        )
    return table


def _values(values: Sequence[str]) -> str:
    if len(values) <= _MAX_VALUES:
        return ", ".join(values)
    return f"{', '.join(values[: _MAX_VALUES - 2])}, ..., {values[-1]}"
