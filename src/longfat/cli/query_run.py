"""What `longfat query` does, with the catalog: the answer to a question, or the list of tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from longfat.analysis.query import METRIC, OF_RUN, Catalog, Limits, Reported, quoted
from longfat.cli.console import echo, stderr, stdout
from longfat.cli.query_output import print_csv, print_json, print_table, show, write_parquet
from longfat.errors import InputError
from longfat.execution.cache import result_cache_root
from longfat.model.units import parse_size_bytes, parse_time_s

if TYPE_CHECKING:
    from rich.console import Console

    from longfat.analysis.query import Column

_LEAST_MEMORY_BYTES = 64 * 10**6
_DEFAULT_ROOT = Path("runs")
_MOST_PROBLEMS = 3
_LEAST_REPORTED = 200
_MOST_NAMES = 60
_GAP = 2
_EXAMPLE = "select study, count(*) as runs, sum(wall_s) as wall_s from runs group by study"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOptions:
    """The options of a query.

    Attributes:
        folders: query the runs below these; by default, those of `runs`.
        cache: query the cached results.
        tables: list the tables and run no query.
        as_json: the answer is JSON.
        as_csv: it is CSV.
        parquet: the Parquet file that takes it; None for none.
        time_limit: how long it may take, as written by the user.
        memory_limit: how much memory it may take, likewise.
        show_all: a terminal is shown all rows.
    """

    folders: tuple[Path, ...] = ()
    cache: bool = False
    tables: bool = False
    as_json: bool = False
    as_csv: bool = False
    parquet: Path | None = None
    time_limit: str
    memory_limit: str
    show_all: bool = False


def run_query(sql: str | None, options: QueryOptions) -> None:
    """Run a query and print its result; without one, list the tables.

    Raises:
        InputError: the options conflict, or the query failed.
    """
    if options.as_json + options.as_csv + (options.parquet is not None) > 1:
        raise InputError("--json, --csv and --parquet exclude each other: take one of them")
    limits = _limits(options.time_limit, options.memory_limit)
    with _reading() as progress:
        catalog = Catalog(_roots(options.folders, cache=options.cache), on_read=progress)
        answer = None if options.tables or sql is None else catalog.query(sql, limits=limits)
    if answer is None:
        _list_tables(catalog, console=stdout(), as_json=options.as_json)
    elif options.as_json:
        print_json(answer)
    elif options.as_csv:
        print_csv(answer)
    elif options.parquet is not None:
        write_parquet(answer, options.parquet)
    else:
        for note in show(answer, console=stdout(), show_all=options.show_all):
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


def _roots(folders: Sequence[Path], *, cache: bool) -> list[Path]:
    roots = list(folders)
    if not roots and not cache:
        if not _DEFAULT_ROOT.is_dir():
            raise InputError(
                f"there is no folder {_DEFAULT_ROOT} here: --runs FOLDER names another, and "
                "--cache queries the cached results"
            )
        roots = [_DEFAULT_ROOT]
    if cache:
        place = result_cache_root()
        if not place.is_dir():
            raise InputError(f"{place}: nothing is cached yet")
        roots.append(place)
    return roots


@contextmanager
def _reading() -> Iterator[_Progress]:
    """Show the progress of reading, on a terminal, if it takes a while."""
    progress = _Progress(stderr())
    try:
        yield progress
    finally:
        progress.close()


class _Progress:
    """A line on standard error with the number of runs that have been read."""

    def __init__(self, console: Console) -> None:
        self._status = console.status("reading")
        self._shown = False

    def __call__(self, reported: Reported) -> None:
        if reported.total < _LEAST_REPORTED or reported.count % 50:
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
        echo(json.dumps(listed, indent=2))
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
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, _GAP, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(style="dim")
    names = []
    for one in columns:
        if one.text and one.text != METRIC:
            table.add_row(Text(f"  {one.name}"), one.unit, Text(one.text))
        else:
            names.append(quoted(one.name) if one.text else one.name)
    print_table(table, console)
    if names:
        more = len(names) - _MOST_NAMES
        more_text = [f"and {more:,} more: --tables --json lists all"] if more > 0 else []
        text = Text(", ".join([*names[:_MOST_NAMES], *more_text]))
        for line in text.wrap(console, console.width - _GAP):
            console.print(Text("  ").append(line), soft_wrap=True)
