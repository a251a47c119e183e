"""`longfat kernel`: build, list and remove kernels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Table

from longfat.cli.console import echo, stderr, stdout
from longfat.cli.group import Group
from longfat.cli.options import json_option
from longfat.engine import kernel as kernels
from longfat.engine.kernel import Kernel, Progress, Step
from longfat.engine.kernel.build import build as build_kernel
from longfat.errors import InputError

_STEP_TEXTS = {
    Step.WAIT: "another process is at it",
    Step.SEARCH: "looking for its source",
    Step.DOWNLOAD: "downloading its source",
    Step.SOURCE: "source",
    Step.UNPACK: "unpacking",
    Step.CONFIGURE: "configuring",
    Step.COMPILE: "compiling",
}
# Where the bar is when a step begins and ends, in percent of the time. The time of a
# download cannot be compared with that of a build, so it has the whole bar for itself.
_SHARE = {
    Step.WAIT: (0, 0),
    Step.SEARCH: (0, 0),
    Step.DOWNLOAD: (0, 100),
    Step.SOURCE: (0, 0),
    Step.UNPACK: (0, 4),
    Step.CONFIGURE: (4, 7),
    Step.COMPILE: (7, 100),
}

_AS_JSON = json_option("Print the answer as JSON.")


@click.group(cls=Group)
def kernel() -> None:
    """Build, list and remove the kernels that machines boot."""


@kernel.command()
@click.argument("versions", nargs=-1, required=True, metavar="VERSION...")
@click.option(
    "--source",
    type=click.Path(path_type=Path),
    help="Build this tarball or tree. Without it: an installed linux-source package, an earlier"
    " download, a package that apt-get can download, or kernel.org's tarball.",
)
@click.option(
    "--sha256",
    metavar="DIGEST",
    default="",
    help="Build the tarball of kernel.org, or of --source, that has this checksum.",
)
@click.option(
    "--patch",
    "patches",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Apply this patch (-p1) as well; the version then names a variant, such as 6.12+mine."
    " May be given several times.",
)
@click.option(
    "--set",
    "answers",
    metavar="CONFIG_NAME=VALUE",
    multiple=True,
    help="Answer this question of Kconfig so; likewise.",
)
@click.option("--refresh", is_flag=True, help="Build the newest release of a series that is found.")
@click.option("--jobs", type=click.IntRange(min=1), help="How many compilers run at once.")
@_AS_JSON
def build(
    *,
    versions: tuple[str, ...],
    source: Path | None,
    sha256: str,
    patches: tuple[Path, ...],
    answers: tuple[str, ...],
    refresh: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Build the kernels of these versions, such as 6.1; about two minutes each.

    Of a series, the release that longfat is tested with is built, or the nearest to it.

    A source that is not on this host is downloaded, without root, into longfat's cache.
    """
    if len(versions) > 1:
        options: tuple[tuple[str, object], ...] = (
            ("--source", source),
            ("--sha256", sha256),
            ("--patch", patches),
            ("--set", answers),
        )
        for option, value in options:
            if value:
                raise InputError(f"{option} is of one kernel: name one version with it")
    built = []
    for version in versions:
        with _bar() as report:
            built.append(
                build_kernel(
                    version,
                    source=source,
                    sha256=sha256.lower(),
                    patches=patches,
                    answers=answers,
                    refresh=refresh,
                    jobs=jobs,
                    progress=report,
                )
            )
    for made in built:
        for answer in kernels.manifest_of(made).refused_answers:
            stderr().print(f"warning: kernel {made.release} did not accept {answer}")
    _print(built, as_json=as_json)


@kernel.command("list")
@_AS_JSON
def list_(as_json: bool) -> None:
    """List the kernels that are built, and where each is."""
    _print(kernels.kernels(), as_json=as_json)


@kernel.command()
@click.argument("names", nargs=-1, required=True, metavar="VERSION|DIGEST...")
@_AS_JSON
def remove(names: tuple[str, ...], as_json: bool) -> None:
    """Remove all built kernels of a version, or the one whose digest begins so."""
    named = {found.folder: found for name in names for found in kernels.named(name)}
    # Those that only pip can remove come last: the others are removed before it fails.
    chosen = sorted(named.values(), key=kernels.wheel_of)
    for found in chosen:
        kernels.remove(found)
        if not as_json:
            stdout().print(f"removed {found.release} ({found.digest[:12]})")
    if as_json:
        echo(
            json.dumps(
                [{"release": found.release, "digest": found.digest} for found in chosen],
                indent=2,
            )
        )


class _Report:
    """Move a bar as a build goes on; without a terminal, print a line per step.

    What is searched, downloaded and chosen is printed in either case.
    """

    def __init__(self, bars: Bars, *, console: Console) -> None:
        self._bars = bars
        self._console = console
        self._task = bars.add_task("", total=100, start=True)
        self._printed: tuple[Step | None, str] = (None, "")

    def __call__(self, progress: Progress) -> None:
        text = f"kernel {progress.version}: {_STEP_TEXTS[progress.step]}"
        if (progress.step, progress.words) != self._printed:
            if self._printed[0] is Step.DOWNLOAD:
                self._bars.reset(self._task)
            self._printed = (progress.step, progress.words)
            if progress.words:
                line = f"{text}: {progress.words}"
                self._console.print(line, soft_wrap=True, markup=False)
            elif not self._console.is_terminal:
                self._console.print(text)
        begin, end = _SHARE[progress.step]
        part = min(1.0, progress.done / progress.total) if progress.total else 0.0
        self._bars.update(self._task, completed=begin + part * (end - begin), description=text)


@contextmanager
def _bar() -> Iterator[_Report]:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    # The speed is taken over a minute: files differ much in how long they take.
    left = TimeRemainingColumn(elapsed_when_finished=True)
    console = stderr()
    with Bars(
        *columns,
        left,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=60,
    ) as bars:
        yield _Report(bars, console=console)


def _print(found: list[Kernel], *, as_json: bool) -> None:
    if as_json:
        echo(json.dumps([_document(each) for each in found], indent=2))
        return
    if not found:
        stderr().print("no kernel is built; build one with: longfat kernel build 6.1")
        return
    table = Table("release", "digest", "state", "from", box=None, pad_edge=False)
    for each in found:
        state = "ready" if kernels.fits(each) else "of an older recipe"
        origin = kernels.wheel_of(each) or "the cache"
        table.add_row(each.release, each.digest[:12], state, origin)
    stdout().print(table, soft_wrap=True)


def _document(found: Kernel) -> dict[str, str | bool]:
    return {
        "release": found.release,
        "series": found.series,
        "digest": found.digest,
        "binary_sha256": found.binary_sha256,
        "ready": kernels.fits(found),
        "folder": str(found.folder),
        "wheel": kernels.wheel_of(found),
    }
