"""`longfat query`: query all runs and series in SQL."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from longfat.cli.console import stderr, stdout
from longfat.cli.options import json_option
from longfat.common.extras import need
from longfat.errors import InputError
from longfat.execution.cache import result_cache_root
from longfat.model.units import parse_size_bytes, parse_time_s

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from longfat.analysis.query import Limits, Reported

_MIN_MEMORY_BYTES = 64 * 10**6
_DEFAULT_ROOT = Path("runs")
_MAX_PROBLEMS = 3
_MIN_RUNS_REPORTED = 200


@click.command()
@click.argument("sql", required=False)
@click.option(
    "--runs",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Query the runs below this folder; repeatable; default: runs.",
)
@click.option("--cache", is_flag=True, help="Query the cached results.")
@click.option("--tables", is_flag=True, help="List all tables and columns, and run no query.")
@json_option("Print a list of JSON objects.")
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
    cache: bool,
    tables: bool,
    as_json: bool,
    as_csv: bool,
    parquet: Path | None,
    time_limit: str,
    memory_limit: str,
    show_all: bool,
) -> None:
    """Query all runs and series in SQL.

    Without SQL it lists the tables and columns that there are. A query reads these
    tables only; it can read no other file and change nothing, and it ends when it has
    taken the time or the memory that it may take.
    """
    need("sql")
    # The catalog is made of Arrow's types.
    from longfat.analysis.query import Catalog  # noqa: PLC0415
    from longfat.cli.render.query import (  # noqa: PLC0415
        print_answer,
        print_csv,
        print_json,
        print_tables,
        write_parquet,
    )

    if as_json + as_csv + (parquet is not None) > 1:
        raise InputError("--json, --csv and --parquet exclude each other: take one of them")
    limits = _limits(time_limit, memory_limit)
    with _reading() as progress:
        catalog = Catalog(_roots(folders, cache=cache), on_read=progress)
        answer = None if tables or sql is None else catalog.query(sql, limits=limits)
    if answer is None:
        print_tables(catalog, console=stdout(), as_json=as_json)
    elif as_json:
        print_json(answer)
    elif as_csv:
        print_csv(answer)
    elif parquet is not None:
        write_parquet(answer, parquet)
    else:
        for note in print_answer(answer, console=stdout(), show_all=show_all):
            _note(note)
    for note in _problems(catalog.problems):
        _note(note)
    if catalog.runs == 0:
        _note("there are no runs there yet: `longfat run STUDY` makes some")


def _limits(time_limit: str, memory_limit: str) -> Limits:
    from longfat.analysis.query import Limits  # noqa: PLC0415  it loads Arrow

    try:
        limits = Limits(
            time_s=parse_time_s(time_limit), memory_bytes=parse_size_bytes(memory_limit)
        )
    except InputError as error:
        raise InputError(f"--time-limit or --memory-limit: {error}") from None
    if limits.time_s <= 0:
        raise InputError(f"--time-limit {time_limit}: more than no time is needed")
    if limits.memory_bytes < _MIN_MEMORY_BYTES:
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
        root = result_cache_root()
        if not root.is_dir():
            raise InputError(f"{root}: nothing is cached yet")
        roots.append(root)
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
        if reported.total < _MIN_RUNS_REPORTED or reported.count % 50:
            return
        self._status.update(f"reading {reported.what}: {reported.count:,} of {reported.total:,}")
        if not self._shown:
            self._status.start()
            self._shown = True

    def close(self) -> None:
        if self._shown:
            self._status.stop()


def _problems(problems: Sequence[str]) -> list[str]:
    notes = [f"passed over: {problem}" for problem in problems[:_MAX_PROBLEMS]]
    more = len(problems) - len(notes)
    return [*notes, f"and {more:,} more are passed over"] if more else notes


def _note(text: str) -> None:
    stderr().print(Text(text), soft_wrap=True)
