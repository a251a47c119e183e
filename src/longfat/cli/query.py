"""`longfat query`: ask all runs and series in SQL."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.text import Text

from longfat.catalog import METRIC, OF_RUN, Catalog, Limits, Reported, quoted
from longfat.cli.answer import print_csv, print_json, print_table, show, write_parquet
from longfat.cli.console import stderr, stdout
from longfat.errors import InputError
from longfat.memory import memory_root
from longfat.units import parse_size_bytes, parse_time_s

if TYPE_CHECKING:
    from rich.console import Console

    from longfat.catalog import Column

_LEAST_MEMORY_BYTES = 64 * 10**6
_DEFAULT_ROOT = Path("runs")
_MOST_PROBLEMS = 3
_LEAST_TOLD = 200
_MOST_NAMES = 60
_GAP = 2
_EXAMPLE = "select study, count(*) as runs, sum(wall_s) as wall_s from runs group by study"


@click.command()
@click.argument("sql", required=False)
@click.option(
    "--runs",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Ask the runs below this folder; repeatable; default: runs.",
)
@click.option("--memory", is_flag=True, help="Ask the remembered results.")
@click.option("--tables", is_flag=True, help="List all tables and columns, and ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print a list of JSON objects.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option(
    "--parquet",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a Parquet file.",
)
@click.option(
    "--time-limit", default="60s", metavar="TIME", help="End a query after this time; default: 60s."
)
@click.option(
    "--memory-limit",
    default="1GB",
    metavar="SIZE",
    help="End a query that needs more memory; its answer may have a quarter of it; default: 1GB.",
)
@click.option("--all", "show_all", is_flag=True, help="Print all rows to a terminal too.")
def query(
    sql: str | None,
    *,
    folders: tuple[Path, ...],
    memory: bool,
    tables: bool,
    as_json: bool,
    as_csv: bool,
    parquet: Path | None,
    time_limit: str,
    memory_limit: str,
    show_all: bool,
) -> None:
    """Ask all runs and series a question in SQL.

    Without SQL it lists the tables and columns that there are. A query reads these
    tables only; it can read no other file and change nothing, and it ends when it has
    taken the time or the memory that it may take.
    """
    if as_json + as_csv + (parquet is not None) > 1:
        raise InputError("--json, --csv and --parquet exclude each other: take one of them")
    limits = _limits(time_limit, memory_limit)
    with _reading() as progress:
        catalog = Catalog(_roots(folders, memory=memory), on_read=progress)
        answer = None if tables or sql is None else catalog.query(sql, limits=limits)
    if answer is None:
        _list_tables(catalog, console=stdout(), as_json=as_json)
    elif as_json:
        print_json(answer)
    elif as_csv:
        print_csv(answer)
    elif parquet is not None:
        write_parquet(answer, parquet)
    else:
        for note in show(answer, console=stdout(), show_all=show_all):
            _note(note)
    for note in _problems(catalog.problems):
        _note(note)
    if catalog.runs == 0:
        _note("there are no runs there yet: `longfat run STUDY` makes some")


def _limits(time_limit: str, memory_limit: str) -> Limits:
    try:
        limits = Limits(
            time_s=parse_time_s(time_limit), memory_bytes=parse_size_bytes(memory_limit)
        )
    except InputError as error:
        raise InputError(f"--time-limit or --memory-limit: {error}") from None
    if limits.time_s <= 0:
        raise InputError(f"--time-limit {time_limit}: more than no time is needed")
    if limits.memory_bytes < _LEAST_MEMORY_BYTES:
        raise InputError(f"--memory-limit {memory_limit}: the database needs 64 MB")
    return limits


def _roots(folders: Sequence[Path], *, memory: bool) -> list[Path]:
    roots = list(folders)
    if not roots and not memory:
        if not _DEFAULT_ROOT.is_dir():
            raise InputError(
                f"there is no folder {_DEFAULT_ROOT} here: --runs FOLDER names another, and "
                "--memory asks the remembered results"
            )
        roots = [_DEFAULT_ROOT]
    if memory:
        place = memory_root()
        if not place.is_dir():
            raise InputError(f"{place}: nothing is remembered yet")
        roots.append(place)
    return roots


@contextmanager
def _reading() -> Iterator[_Progress]:
    """Tell how far reading is, on a terminal, where it takes a while."""
    progress = _Progress(stderr())
    try:
        yield progress
    finally:
        progress.close()


class _Progress:
    """A line on standard error that says how many runs have been read."""

    def __init__(self, console: Console) -> None:
        self._status = console.status("reading")
        self._shown = False

    def __call__(self, reported: Reported) -> None:
        if reported.total < _LEAST_TOLD or reported.count % 50:
            return
        self._status.update(f"reading {reported.what}: {reported.count:,} of {reported.total:,}")
        if not self._shown:
            self._status.start()
            self._shown = True

    def close(self) -> None:
        if self._shown:
            self._status.stop()


def _problems(problems: Sequence[str]) -> list[str]:
    notes = [f"passed over: {problem}" for problem in problems[:_MOST_PROBLEMS]]
    more = len(problems) - len(notes)
    return [*notes, f"and {more:,} more are passed over"] if more else notes


def _note(text: str) -> None:
    stderr().print(Text(text), soft_wrap=True)


def _list_tables(catalog: Catalog, *, console: Console, as_json: bool) -> None:
    if as_json:
        listed = [
            {
                "table": table.name,
                "row": table.text,
                "columns": [
                    {"name": one.name, "unit": one.unit, "text": one.text} for one in table.columns
                ],
            }
            for table in catalog.tables
        ]
        click.echo(json.dumps(listed, indent=2))
        return
    common = [one.name for one in OF_RUN]
    text = f"{catalog.runs:,} runs. All tables but claims begin with {', '.join(common)}."
    console.print(Text(text), soft_wrap=True)
    for table in catalog.tables:
        whole = table.name in ("runs", "claims")
        own = [one for one in table.columns if whole or one.name not in common]
        console.print()
        title = Text(table.name, style="bold").append(f"  {table.text}", style="not bold")
        console.print(title, soft_wrap=True)
        _columns(own, console)
    console.print("\nexample", style="bold")
    console.print(Text(f'  longfat query "{_EXAMPLE}"'), soft_wrap=True)


def _columns(columns: Sequence[Column], console: Console) -> None:
    told = Table(box=None, pad_edge=False, show_header=False, padding=(0, _GAP, 0, 0))
    told.add_column(no_wrap=True)
    told.add_column(no_wrap=True, style="dim")
    told.add_column(style="dim")
    names = []
    for one in columns:
        if one.text and one.text != METRIC:
            told.add_row(Text(f"  {one.name}"), one.unit, Text(one.text))
        else:
            names.append(quoted(one.name) if one.text else one.name)
    print_table(told, console)
    if names:
        more = len(names) - _MOST_NAMES
        more_text = [f"and {more:,} more: --tables --json lists all"] if more > 0 else []
        text = Text(", ".join([*names[:_MOST_NAMES], *more_text]))
        for line in text.wrap(console, console.width - _GAP):
            console.print(Text("  ").append(line), soft_wrap=True)
