"""`longfat plan`: how many cases and runs a study has, and what running them will cost."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from longfat.cli.choose import check_names, choose_cases
from longfat.cli.console import stdout
from longfat.labs import find_study
from longfat.metric import Unit
from longfat.runner.cost import Cost, KnownRun, Scale, expected_cost, known_runs, learned_scale
from longfat.runner.cost import wall_on as wall_of
from longfat.study import read_study
from longfat.study.expand import MOST_SEEDS
from longfat.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

    from longfat.study import Planned, Study

_FIRST_CASES = 10
_LONGEST_CASES = 3
_MOST_VALUES = 8
_PIPE_WIDTH = 2000


@dataclass(frozen=True, slots=True)
class _Entry:
    """A case with what one of its runs will cost."""

    name: str
    planned: Planned
    cost: Cost
    known: int

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
    runs_read: int
    scale: Scale | None

    @property
    def runs(self) -> int:
        return sum(entry.planned.seeds for entry in self.entries)

    @property
    def known(self) -> int:
        return sum(entry.known for entry in self.entries)

    @property
    def virtual_s(self) -> float:
        return sum(entry.cost.virtual_s * entry.planned.seeds for entry in self.entries)

    @property
    def cpu_s(self) -> float:
        return sum(entry.cost.wall_s * entry.planned.seeds for entry in self.entries)

    @property
    def wall_s(self) -> float:
        runs = (entry.cost.wall_s for entry in self.entries for _ in range(entry.planned.seeds))
        return wall_of(runs, self.jobs)

    @property
    def disk_bytes(self) -> float:
        return sum(entry.cost.disk_bytes * entry.planned.seeds for entry in self.entries)

    @property
    def unlimited(self) -> int:
        return sum(entry.cost.unlimited for entry in self.entries)

    @property
    def longest(self) -> list[_Entry]:
        return sorted(self.entries, key=lambda entry: -entry.cost.wall_s)[:_LONGEST_CASES]

    def to_json(self) -> dict[str, Any]:
        grid = self.study.grid
        scale = self.scale
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
                "runs": self.runs_read,
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
@click.argument("study", metavar="STUDY")
@click.option(
    "--case",
    "names",
    multiple=True,
    metavar="NAME",
    help="Plan this case only, or those that a pattern such as 'cubic-*' fits; repeatable.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1, max=MOST_SEEDS),
    metavar="N",
    help="Plan N seeds for each case in place of the study's number.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Machines at once; default: one a CPU.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where runs may lie, to learn from; default: runs/STUDY.",
)
@click.option("--all", "show_all", is_flag=True, help="List all cases, not only the first.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with all cases.")
def plan(
    study: str,
    *,
    names: tuple[str, ...],
    seeds: int | None,
    jobs: int | None,
    out: Path | None,
    show_all: bool,
    as_json: bool,
) -> None:
    """Tell what `longfat run STUDY` would do: cases, runs, time and disk space.

    Nothing is run. Times are those of runs of the same study, where there are any, and
    else what was measured on another machine; the plan says which, and how sure it is.
    """
    found = read_study(find_study(study))
    check_names([found], names)
    chosen = choose_cases(found, names=names, seed=None, seeds=seeds, kernel=None)
    folder = out if out is not None else Path("runs") / found.name
    made = _plan(found, chosen, jobs=jobs or len(os.sched_getaffinity(0)), folder=folder)
    if as_json:
        click.echo(json.dumps(made.to_json(), indent=2))
        return
    _show(made, console=stdout(), show_all=show_all)


def _plan(study: Study, chosen: Mapping[str, Planned], *, jobs: int, folder: Path) -> _Plan:
    runs = known_runs(folder)
    scale = learned_scale(runs)
    by_case = {run.case_digest: run for run in runs}
    entries = []
    for name, planned in chosen.items():
        # Only if there are runs: a digest takes longer than all the rest.
        known = [by_case.get(case.digest) for case in planned.seeded()] if by_case else []
        there = [run for run in known if run is not None]
        cost = _scaled(expected_cost(planned.case), scale, there)
        entries.append(_Entry(name, planned, cost, len(there)))
    return _Plan(study, tuple(entries), jobs, folder, len(runs), scale)


def _scaled(cost: Cost, scale: Scale | None, known: Sequence[KnownRun]) -> Cost:
    """Return a cost as runs of the case itself tell it, else as those of other cases do."""
    if scale is None:
        return cost
    wall_s, disk_bytes = cost.wall_s * scale.wall.median, cost.disk_bytes * scale.disk.median
    if known:
        wall_s = sum(run.wall_s for run in known) / len(known)
        disk_bytes = sum(run.disk_bytes for run in known) / len(known)
    return Cost(
        virtual_s=cost.virtual_s,
        wall_s=wall_s,
        disk_bytes=disk_bytes,
        unlimited=cost.unlimited and not known,
    )


def _show(made: _Plan, *, console: Console, show_all: bool) -> None:
    study = made.study
    console.print(Text(study.title, style="bold"), soft_wrap=True)
    text = f"{_count(len(made.entries), 'case')}, {_count(made.runs, 'run')}"
    if study.grid is not None:
        text += f", of a grid of {_count(study.grid.product, 'combination')}"
    console.print(Text(text))
    if study.grid is not None:
        table = _table("parameter", "values", "")
        table.columns[-1].no_wrap = False
        for one in study.grid.parameters:
            table.add_row(one.name, str(len(one.values)), Text(_values(one.values)))
        console.print()
        _print(table, console)
    console.print()
    _print(_sums(made), console)
    for line in _sureness(made):
        console.print(Text(line), soft_wrap=True)
    if len(made.entries) > _LONGEST_CASES:
        console.print("\nlongest")
        _print(_cases(made.longest), console)
    shown = made.entries if show_all else made.entries[:_FIRST_CASES]
    console.print("\ncases")
    _print(_cases(shown), console)
    if len(shown) < len(made.entries):
        console.print(f"... and {len(made.entries) - len(shown):,} more: --all lists them")


def _sums(made: _Plan) -> Table:
    table = _table()
    table.add_row("virtual time", _time(made.virtual_s))
    table.add_row("CPU time", f"about {_time(made.cpu_s)}")
    table.add_row("wall time", f"about {_time(made.wall_s)} with {_count(made.jobs, 'job')}")
    table.add_row("disk space", f"about {format_quantity(made.disk_bytes, Unit.BYTES)}")
    return table


def _sureness(made: _Plan) -> list[str]:
    scale = made.scale
    if scale is None:
        lines = [
            f"No runs in {made.folder} to learn from: times are those of another machine (see "
            "docs/performance.md), and may be off by a factor of 3; disk space, by 2. One case "
            "that is run tells more."
        ]
    else:
        wall, disk = scale.wall, scale.disk
        lines = [
            f"Learned from {_count(made.runs_read, 'run')} in {made.folder}; most of them took "
            f"{wall.low / wall.median:.2f} to {wall.high / wall.median:.2f} times what this "
            f"reckoning gives for them, and {disk.low / disk.median:.2f} to "
            f"{disk.high / disk.median:.2f} times the space.",
        ]
        if made.known:
            lines.append(
                f"{made.known:,} of {_count(made.runs, 'run')} of just these cases lie there."
            )
    if made.unlimited:
        lines.append(
            f"{_count(made.unlimited, 'case')} with a flow whose rate no line limits, as far as "
            "can be read: taken as 10 Gbit/s, which is a guess."
        )
    return lines


def _cases(entries: Iterable[_Entry]) -> Table:
    table = _table("case", "runs", "virtual", "time a run", "disk a run")
    for column in table.columns[1:]:
        column.justify = "right"
    for entry in entries:
        cost = entry.cost
        table.add_row(
            Text(entry.name),
            str(entry.planned.seeds),
            _time(cost.virtual_s),
            _time(cost.wall_s),
            format_quantity(cost.disk_bytes, Unit.BYTES),
        )
    return table


def _table(*heads: str) -> Table:
    table = Table(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_header=bool(heads)
    )
    for head in heads or ("", ""):
        table.add_column(head, no_wrap=True)
    return table


def _print(table: Table, console: Console) -> None:
    if console.is_terminal:
        console.print(table)
        return
    # Names must stay whole for whoever reads a pipe.
    with console.capture() as captured:
        console.print(table, width=_PIPE_WIDTH)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


def _values(values: Sequence[str]) -> str:
    if len(values) <= _MOST_VALUES:
        return ", ".join(values)
    return f"{', '.join(values[: _MOST_VALUES - 2])}, ..., {values[-1]}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _time(time_s: float) -> str:
    """Return a time as people say it, such as `3 min 20 s`."""
    if time_s < 10:
        return f"{time_s:.1f} s"
    if time_s < 100:
        return f"{time_s:.0f} s"
    minutes, seconds = divmod(round(time_s), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min"
