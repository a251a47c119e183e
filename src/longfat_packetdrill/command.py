"""`longfat packetdrill`: packetdrill scripts against a kernel, in virtual time."""

from __future__ import annotations

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from longfat.cli.console import echo, stderr, stdout
from longfat.cli.options import jobs_option, json_option, seed_option
from longfat.engine import kernel as kernels
from longfat.engine.kernel.version import NEWEST
from longfat_packetdrill.find import find_scripts
from longfat_packetdrill.options import IP_VERSIONS, Settings
from longfat_packetdrill.report import exit_code, tasks_of
from longfat_packetdrill.run import DEFAULT_LIMIT_S, MAX_LIMIT_S, explain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from longfat.engine.kernel import Kernel
    from longfat_packetdrill.report import Report, Task

_SHOWN_OUTPUT_LINES = 6


class _EndedError(Exception):
    """The user interrupted the run."""


@click.command()
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option("--kernel", metavar="VERSION", default=NEWEST, show_default=True)
@click.option(
    "--ip-version",
    "versions",
    multiple=True,
    type=click.Choice(IP_VERSIONS),
    help="Run with this version; repeatable. Default: ipv4.",
)
@click.option(
    "--kselftest",
    is_flag=True,
    help="As the kernel's own runner: all versions of IP, with its addresses and definitions.",
)
@click.option(
    "--define", "-D", "defines", multiple=True, metavar="NAME=VALUE", help="Define a name."
)
@click.option(
    "--set",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of packetdrill's, such as mtu=1400; repeatable.",
)
@click.option(
    "--tolerance",
    "tolerance_us",
    type=click.IntRange(min=0),
    metavar="µs",
    help="How far from its time a packet may be, and no share of the time before it. "
    "Default: 4000 and 12.5 %.",
)
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="The folder that scripts see; default: that of each file, or the folder given.",
)
@click.option(
    "--limit",
    "limit_s",
    type=click.FloatRange(min=0, min_open=True, max=MAX_LIMIT_S),
    metavar="SECONDS",
    default=DEFAULT_LIMIT_S,
    show_default=True,
    help="Virtual time that a script may take.",
)
@click.option(
    "--pcap",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write each script's packets to a file in this folder.",
)
@seed_option("Decides all random numbers in the machines.", default=1)
@jobs_option()
@click.option("--check", is_flag=True, help="Read the scripts, and run none.")
@json_option("Print a JSON list in place of lines.")
def packetdrill(
    paths: tuple[Path, ...],
    *,
    kernel: str,
    versions: tuple[str, ...],
    kselftest: bool,
    defines: tuple[str, ...],
    options: tuple[str, ...],
    tolerance_us: int | None,
    root: Path | None,
    limit_s: float,
    pcap: Path | None,
    seed: int,
    jobs: int | None,
    check: bool,
    as_json: bool,
) -> int:
    """Run packetdrill scripts, each in a machine of its own.

    FILE is a script, or a folder: then all *.pkt in it run.

    Ends with 1 if a script fails, with 2 if one cannot be read, with 3 if a
    machine fails.
    """
    if kselftest and versions:
        raise click.UsageError("--kselftest has its own versions of IP: leave --ip-version out")
    settings = _settings(defines, options, tolerance_us)
    files = find_scripts(paths, root=root)
    found: Kernel | None = None if check else kernels.find(kernel)
    tasks = [
        task for file in files for task in tasks_of(file, settings, versions, kselftest=kselftest)
    ]

    stop = threading.Event()

    def check_stop(_: float) -> None:
        if stop.is_set():  # after Ctrl-C the machines must end before we do
            raise _EndedError

    def run(task: Task) -> Report:
        if found is None:
            return task.check()
        return task.run(
            kernel=found,
            seed=seed,
            limit_s=limit_s,
            capture=None if pcap is None else pcap / task.capture_name,
            on_progress=check_stop,
        )

    began_s = time.monotonic()
    reports = []
    for report in _in_order(tasks, run, jobs=jobs or len(os.sched_getaffinity(0)), stop=stop):
        reports.append(report)
        if not as_json:
            _show(report)
    if as_json:
        echo(json.dumps([report.to_json() for report in reports], indent=2))
    else:
        _show_summary(reports, wall_s=time.monotonic() - began_s)
    return exit_code(reports)


def _settings(defines: Sequence[str], options: Sequence[str], tolerance_us: int | None) -> Settings:
    settings = Settings()
    for option in options:
        name, equals, value = option.partition("=")
        settings = settings.with_option(name.replace("-", "_"), value if equals else None)
    for define in defines:
        settings = settings.with_option("define", define)
    if tolerance_us is not None:
        settings = settings.with_option("tolerance_usecs", str(tolerance_us))
        settings = settings.with_option("tolerance_percent", "0")
    return settings


def _in_order(
    tasks: Sequence[Task],
    run: Callable[[Task], Report],
    *,
    jobs: int,
    stop: threading.Event,
) -> Iterator[Report]:
    """Yield the reports in the order of the tasks, some of which run side by side."""
    with ThreadPoolExecutor(max_workers=jobs) as threads:
        futures = [threads.submit(run, task) for task in tasks]
        try:
            for future in futures:
                yield future.result()
        finally:
            stop.set()
            threads.shutdown(wait=False, cancel_futures=True)


def _show(report: Report) -> None:
    looks = {"passed": "green", "valid": "green", "failed": "red"}
    line = Text()
    line.append(f"{report.status:<8}", style=looks.get(report.status, "bold red"))
    line.append(report.task.name)
    result = report.result
    if result is not None and result.passed and result.deviation_s is not None:
        line.append(
            f"  {result.packets} packets, largest deviation {_time_text(result.deviation_s)}"
            f" in line {result.deviation_line}, within the tolerance",
            style="dim",
        )
    console = stdout()
    console.print(line, soft_wrap=True)
    if report.error is not None:
        for text in str(report.error).splitlines():
            console.print(f"  {text}", soft_wrap=True)
    if result is None or report.script is None:
        return
    failures = [*([result.failure] if result.failure else []), *result.warnings]
    for failure in failures:
        for text in explain(report.script, failure):
            console.print(f"  {text}", soft_wrap=True)
    if result.failure is not None and result.output.strip():
        console.print(Text("  its commands printed:", style="dim"))
        for text in result.output.strip().splitlines()[-_SHOWN_OUTPUT_LINES:]:
            console.print(f"    {text}", soft_wrap=True)


def _time_text(seconds: float) -> str:
    size = abs(seconds)
    if size < 1e-6:
        return f"{size * 1e9:.0f} ns"
    return f"{size * 1e6:.1f} µs" if size < 1e-3 else f"{size * 1e3:.3f} ms"


def _show_summary(reports: Sequence[Report], *, wall_s: float) -> None:
    counts = dict.fromkeys(("passed", "valid", "failed", "invalid", "broken"), 0)
    for report in reports:
        counts[report.status] += 1
    words = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    virtual_s = sum(report.result.virtual_s for report in reports if report.result is not None)
    stderr().print(Text(f"{words}, {virtual_s:.1f} virtual s in {wall_s:.1f} s"))
