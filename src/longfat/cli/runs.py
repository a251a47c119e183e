"""`longfat runs`: what results are cached, and forgetting them."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from longfat.cli.console import echo, stderr, stdout
from longfat.cli.group import Group
from longfat.cli.options import json_option
from longfat.cli.render.number_text import format_age, format_count, parse_age_s
from longfat.cli.render.tables import plain_table, print_table
from longfat.engine import kernel as kernels_here
from longfat.errors import ExitCode, InputError
from longfat.execution.cache import Collected, Entry, ResultCache, RetentionPolicy, collect
from longfat.execution.runs import load_run
from longfat.execution.runs.run import damage
from longfat.model.metric import Unit
from longfat.model.units import format_quantity, parse_size_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.table import Table

    from longfat.execution.runs import Run

_SHOWN = 12
_OPTIONAL = ("virtual", "kernel", "size")  # columns that a narrow terminal can do without
_MIN_PREFIX = 4


def _filters(command: Any) -> Any:
    """Add the options that choose among what is cached."""
    for option in (
        click.option("--study", "studies", multiple=True, metavar="NAME", help="Of this study."),
        click.option("--case", "cases", multiple=True, metavar="NAME", help="Of this case."),
        click.option(
            "--kernel",
            "releases",
            multiple=True,
            metavar="VERSION",
            help="Of this kernel, or of a series such as 6.1.",
        ),
    ):
        command = option(command)
    return command


@click.group(cls=Group)
def runs() -> None:
    """Look after cached results: list, show, remove, check, gc.

    A case that was run once with a kernel and tools is not run again with them.
    LONGFAT_RESULT_CACHE names the folder of the results, in place of the user's data folder.
    """


@runs.command(name="list")
@_filters
@json_option()
def list_(
    studies: tuple[str, ...], cases: tuple[str, ...], releases: tuple[str, ...], *, as_json: bool
) -> None:
    """List what is cached, what was used last first."""
    cache = ResultCache()
    found = _chosen(cache.entries(), studies=studies, cases=cases, releases=releases)
    found.sort(key=lambda entry: (-entry.used_s, entry.key))
    if as_json:
        data = {
            "folder": str(cache.root),
            "results": [_entry_json(entry) for entry in found],
            "unreadable": [str(path) for path in cache.unreadable()],
        }
        echo(json.dumps(data, indent=2))
        return
    if found:
        print_table(_table(found), console=stdout(), optional=_OPTIONAL)
    size = format_quantity(sum(entry.disk_bytes for entry in found), Unit.BYTES)
    stderr().print(
        Text(f"{format_count(len(found), 'result')}, {size}, in {cache.root}"), soft_wrap=True
    )
    if unreadable := cache.unreadable():
        stderr().print(
            Text(
                f"{len(unreadable):,} more cannot be used: damaged, or of another"
                " longfat; `longfat runs gc --damaged` removes them"
            ),
            soft_wrap=True,
        )


@runs.command()
@click.argument("key")
@json_option()
def show(key: str, *, as_json: bool) -> None:
    """Show all of the result whose key begins with KEY."""
    entry = _one(ResultCache(), key)
    run = load_run(entry.folder)
    if as_json:
        echo(json.dumps(_entry_json(entry) | {"run": run.to_manifest()}, indent=2))
        return
    for table in _details(entry, run):
        print_table(table, console=stdout())
        stdout().print()


@runs.command()
@click.argument("keys", nargs=-1, metavar="KEY...")
@_filters
@click.option("--all", "everything", is_flag=True, help="All that is cached.")
@click.option("--yes", is_flag=True, help="Remove what the filters match without confirmation.")
@json_option()
def remove(
    keys: tuple[str, ...],
    studies: tuple[str, ...],
    cases: tuple[str, ...],
    releases: tuple[str, ...],
    *,
    everything: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Forget results: those whose keys begin with KEY..., or all that filters choose.

    Run directories that have been made of them stay.
    """
    filtered = bool(studies or cases or releases or everything)
    if bool(keys) == filtered:
        raise click.UsageError("name the results by KEY..., or choose them by filters or --all")
    cache = ResultCache()
    if keys:
        entries = list({entry.key: entry for entry in (_one(cache, key) for key in keys)}.values())
    else:
        entries = _chosen(cache.entries(), studies=studies, cases=cases, releases=releases)
        if not yes:
            print_table(_table(entries), console=stderr(), optional=_OPTIONAL)
            click.confirm(f"Forget {format_count(len(entries), 'result')}?", abort=True, err=True)
    _print_collected(collect(cache, entries), dry_run=False, as_json=as_json)


@runs.command()
@click.argument("folders", nargs=-1, metavar="[RUN]...", type=click.Path(path_type=Path))
@json_option()
def check(folders: tuple[Path, ...], *, as_json: bool) -> None:
    """Read every byte of all results, or of run directories, and compare it with its checksum.

    A cached result that is damaged is set aside, and its case will run again. Ends
    with 3 if anything is damaged.
    """
    problems: list[str] = []
    good = 0
    for folder in folders:
        try:
            problem = damage(load_run(folder))
            problems += [f"{folder}: {problem}"] if problem else []
        except InputError as error:
            problems.append(error.message)
    good = len(folders) - len(problems)
    if not folders:
        cache = ResultCache(report=problems.append)
        good = sum(cache.check(entry.key) for entry in list(cache.entries()))
        problems += [f"{path}: it cannot be used" for path in cache.unreadable()]
    if as_json:
        echo(json.dumps({"good": good, "problems": problems}, indent=2))
    else:
        for problem in problems:
            echo(problem)
        stderr().print(Text(f"{format_count(good, 'result')} as when made"), soft_wrap=True)
    if problems:
        raise click.exceptions.Exit(ExitCode.HOST_FAILED)


@runs.command()
@click.option("--keep", metavar="SIZE", help="Keep the results used last, up to this size: 10GB.")
@click.option("--older", metavar="TIME", help="Forget what was not used for so long: 30d, 12h.")
@click.option("--kernels-gone", is_flag=True, help="Forget results of kernels no longer built.")
@click.option("--damaged", is_flag=True, help="Remove what cannot be used.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@json_option()
def gc(
    *,
    keep: str | None,
    older: str | None,
    kernels_gone: bool,
    damaged: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Forget old results, those used longest ago first."""
    if keep is None and older is None and not kernels_gone and not damaged:
        raise click.UsageError(
            "select what to remove: --keep SIZE, --older TIME, --kernels-gone or --damaged"
        )
    policy = RetentionPolicy(
        keep_bytes=None if keep is None else parse_size_bytes(keep),
        used_before_s=None if older is None else time.time() - parse_age_s(older, option="--older"),
        kernels={one.digest for one in kernels_here.kernels()} if kernels_gone else None,
    )
    cache = ResultCache()
    unreadable = cache.unreadable() if damaged else []
    if not dry_run:
        for path in unreadable:
            cache.clear(path)
    if unreadable and not as_json:
        would = "would be " if dry_run else ""
        echo(f"{len(unreadable)} that could not be used {would}removed")
    entries = policy.expired(cache.entries())
    if dry_run and entries and not as_json:
        print_table(_table(entries), console=stdout())
    _print_collected(collect(cache, entries, dry_run=dry_run), dry_run=dry_run, as_json=as_json)


def _chosen(
    entries: Iterable[Entry],
    *,
    studies: Sequence[str],
    cases: Sequence[str],
    releases: Sequence[str],
) -> list[Entry]:
    return [
        entry
        for entry in entries
        if (not studies or entry.study in studies)
        and (not cases or entry.name in cases)
        and (
            not releases
            or any(f"{entry.release}.".startswith(f"{version}.") for version in releases)
        )
    ]


def _one(cache: ResultCache, prefix: str) -> Entry:
    """Return the entry whose key begins so.

    Raises:
        InputError: there is none, or there are several.
    """
    if len(prefix) < _MIN_PREFIX:
        raise InputError(f"{prefix!r}: at least {_MIN_PREFIX} digits of a key are needed")
    found = list(cache.entries(prefix=prefix.lower()))
    if not found:
        raise InputError(f"no cached result has a key that begins with {prefix!r}")
    if len(found) > 1:
        keys = ", ".join(entry.key[:_SHOWN] for entry in found[:4])
        raise InputError(f"{len(found)} results have keys that begin with {prefix!r}: {keys}")
    return found[0]


def _entry_json(entry: Entry) -> dict[str, Any]:
    return {
        "key": entry.key,
        "folder": str(entry.folder),
        "study": entry.study,
        "case": entry.name,
        "seed": entry.seed,
        "kernel": entry.release,
        "virtual_s": entry.virtual_s,
        "wall_s": entry.wall_s,
        "peak_bytes": entry.peak_bytes,
        "disk_bytes": entry.disk_bytes,
        "used": datetime.fromtimestamp(entry.used_s, UTC).isoformat(timespec="seconds"),
    }


def _table(entries: Iterable[Entry]) -> Table:
    table = plain_table("key", "study", "case", "seed", "kernel", "virtual", "size", "last used")
    for column in (3, 5, 6):
        table.columns[column].justify = "right"
    now_s = time.time()
    for entry in entries:
        table.add_row(
            entry.key[:_SHOWN],
            Text(entry.study),
            Text(entry.name),
            str(entry.seed),
            entry.release,
            f"{entry.virtual_s:.1f} s",
            format_quantity(entry.disk_bytes, Unit.BYTES),
            f"{format_age(now_s - entry.used_s)} ago",
        )
    return table


def _details(entry: Entry, run: Run) -> list[Table]:
    about = plain_table("", "")
    used = datetime.fromtimestamp(entry.used_s).astimezone().isoformat(" ", timespec="seconds")
    for name, text in (
        ("key", entry.key),
        ("folder", str(entry.folder)),
        ("study", run.study),
        ("case", run.name),
        ("seed", str(run.seed)),
        ("kernel", f"{run.kernel['release']}, {run.kernel['digest'][:_SHOWN]}"),
        ("case digest", run.case_digest),
        ("result digest", run.digest),
        ("virtual time", f"{run.virtual_s:.3f} s"),
        ("wall time", f"{run.wall_s:.3f} s"),
        ("sandbox", run.sandbox),
        ("most memory", format_quantity(run.peak_bytes, Unit.BYTES)),
        ("size", format_quantity(entry.disk_bytes, Unit.BYTES)),
        ("last used", used),
    ):
        about.add_row(name, Text(text))
    tables = [about]
    if run.parameters:
        parameters = plain_table("parameter", "value")
        for name, setting in run.parameters.items():
            parameters.add_row(Text(name), Text(setting.text))
        tables.append(parameters)
    metrics = plain_table("metric", "value")
    metrics.columns[1].justify = "right"
    for name, value in sorted(run.metrics.items()):
        metrics.add_row(Text(name), f"{value:.10g}")
    tools = plain_table("tool", "digest", "version")
    for name, tool in sorted(run.tools.items()):
        tools.add_row(Text(name), tool.digest[:_SHOWN], Text(tool.version))
    files = plain_table("file", "size")
    files.columns[1].justify = "right"
    for path, file in entry.files.items():
        files.add_row(Text(path), format_quantity(file.size_bytes, Unit.BYTES))
    return [*tables, metrics, tools, files]


def _print_collected(collected: Collected, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        data = {
            "results": collected.results,
            "freed_bytes": collected.freed_bytes,
            "held_bytes": collected.held_bytes,
            "dry_run": dry_run,
        }
        echo(json.dumps(data, indent=2))
        return
    would = "would be " if dry_run else ""
    freed = format_quantity(collected.freed_bytes, Unit.BYTES)
    echo(f"{format_count(collected.results, 'result')} {would}forgotten, {freed} freed")
    if collected.held_bytes:
        held = format_quantity(collected.held_bytes, Unit.BYTES)
        echo(
            f"{held} of files are those of run directories, too: they take their space "
            "until these are removed"
        )
