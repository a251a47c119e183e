"""`longfat tools`: build and show the toolset, the pinned programs of machines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.progress import BarColumn, DownloadColumn, TextColumn
from rich.progress import Progress as Bars
from rich.table import Table

from longfat.cli.console import echo, stderr, stdout
from longfat.cli.options import json_option
from longfat.engine import toolset as toolsets
from longfat.engine.toolset import Toolset

_AS_JSON = json_option("Print the answer as JSON.")


@click.group()
def tools() -> None:
    """Build and show the pinned programs of machines: iperf3, ping, tc, Python and the like.

    They are the same on every host, so results do not depend on its distribution. Programs of
    the host that are not among them come after them in a machine's search path.
    """


@tools.command()
@click.option("--again", is_flag=True, help="Build it, although it is in the cache.")
@_AS_JSON
def build(*, again: bool, as_json: bool) -> None:
    """Build the toolset from packages, without root."""
    with _bar() as report:
        toolset = toolsets.build(report=report, again=again)
    _print(toolset, as_json=as_json, with_packages=False)


@tools.command("list")
@_AS_JSON
def list_(as_json: bool) -> None:
    """List the packages of the toolset."""
    _print(toolsets.find(), as_json=as_json, with_packages=True)


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    console = stderr()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn())
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("pinned tools: downloading", total=None)
        if not console.is_terminal:
            console.print("pinned tools: downloading and unpacking")

        def report(done: int, total: int) -> None:
            text = "pinned tools: unpacking" if done == total else "pinned tools: downloading"
            bars.update(task, completed=done, total=total, description=text)

        yield report


def _print(toolset: Toolset, *, as_json: bool, with_packages: bool) -> None:
    if as_json:
        document = {
            "digest": toolset.digest,
            "folder": str(toolset.folder),
            "packages": dict(toolset.versions),
        }
        echo(json.dumps(document, indent=2))
        return
    stdout().print(f"toolset {toolset.digest[:12]}, {len(toolset.versions)} packages", markup=False)
    if with_packages:
        table = Table("package", "version", box=None, pad_edge=False)
        for name, version in toolset.versions.items():
            table.add_row(name, version)
        stdout().print(table, soft_wrap=True)
