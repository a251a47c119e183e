"""`longfat packetdrill`: packetdrill scripts against a kernel, in virtual time."""

from __future__ import annotations

import json
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from longfat.cli.console import stderr, stdout
from longfat.cli.options import jobs_option, json_option, seed_option
from longfat.engine import kernel as kernels
from longfat.engine.kernel.version import NEWEST
from longfat.errors import ExitCode, InputError, LongfatError
from longfat.packetdrill import (
    IP_VERSIONS,
    Settings,
    find_scripts,
    parse_script,
    run_script,
)
from longfat.packetdrill.run import DEFAULT_LIMIT_S, LARGEST_LIMIT_S, explain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from longfat.engine.kernel import Kernel
    from longfat.packetdrill import Result, Script, ScriptFile

_SHOWN_OUTPUT_LINES = 6


class _EndedError(Exception):
    """The person had enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """A script with what it runs with: each version of IP is a task of its own."""

    file: ScriptFile
    settings: Settings

    @property
    def name(self) -> str:
        return f"{self.file.path} {self.settings.ip_version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """What became of a task: a result, or the error that there was none."""

    task: _Task
    script: Script | None = None
    result: Result | None = None
    error: LongfatError | None = None

    @property
    def status(self) -> str:
        if self.error is not None:
            return "invalid" if isinstance(self.error, InputError) else "broken"
        if self.result is None:
            return "valid"
        return "passed" if self.result.passed else "failed"


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
    "--define", "-D", "defines", multiple=True, metavar="NAME=VALUE", help="What a word stands for."
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
    type=click.FloatRange(min=0, min_open=True, max=LARGEST_LIMIT_S),
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
    """Run packetdrill scripts, each in a machine of its own, in virtual time.

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
        _Task(file=file, settings=one)
        for file in files
        for one in _versions(file, settings, versions, kselftest=kselftest)
    ]

    stop = threading.Event()

    def look(_: float) -> None:
        if stop.is_set():  # after Ctrl-C the machines must end before we do
            raise _EndedError

    def run(task: _Task) -> _Report:
        script = None
        try:
            script = parse_script(
                task.file.read(), file=str(task.file.path), settings=task.settings
            )
            script.plan()
            if found is None:
                return _Report(task=task, script=script)
            result = run_script(
                script,
                root=task.file.root,
                kernel=found,
                seed=seed,
                limit_s=limit_s,
                capture=None if pcap is None else pcap / _capture_name(task),
                on_progress=look,
            )
        except LongfatError as error:
            return _Report(task=task, script=script, error=error)
        return _Report(task=task, script=script, result=result)

    began_s = time.monotonic()
    reports = []
    for report in _in_order(tasks, run, jobs=jobs or len(os.sched_getaffinity(0)), stop=stop):
        reports.append(report)
        if not as_json:
            _show(report)
    if as_json:
        click.echo(json.dumps([_document(report) for report in reports], indent=2))
    else:
        _show_summary(reports, wall_s=time.monotonic() - began_s)
    return _exit_code(reports)


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


def _versions(
    file: ScriptFile, settings: Settings, versions: Sequence[str], *, kselftest: bool
) -> Iterator[Settings]:
    own = file.ip_version() if kselftest or not versions else None
    names = (own,) if own in IP_VERSIONS else versions or (settings.ip_version,)
    if kselftest and own is None:
        names = IP_VERSIONS
    for name in names:
        one = settings.with_option("ip_version", name)
        yield one.with_kselftest() if kselftest else one


def _in_order(
    tasks: Sequence[_Task],
    run: Callable[[_Task], _Report],
    *,
    jobs: int,
    stop: threading.Event,
) -> Iterator[_Report]:
    """Yield the reports in the order of the tasks, some of which run side by side."""
    with ThreadPoolExecutor(max_workers=jobs) as threads:
        futures = [threads.submit(run, task) for task in tasks]
        try:
            for future in futures:
                yield future.result()
        finally:
            stop.set()
            threads.shutdown(wait=False, cancel_futures=True)


def _capture_name(task: _Task) -> str:
    inside = task.file.path.resolve().relative_to(task.file.root.resolve())
    return f"{'-'.join(inside.with_suffix('').parts)}-{task.settings.ip_version}.pcap"


def _show(report: _Report) -> None:
    looks = {"passed": "green", "valid": "green", "failed": "red"}
    line = Text()
    line.append(f"{report.status:<8}", style=looks.get(report.status, "bold red"))
    line.append(report.task.name)
    result = report.result
    if result is not None and result.passed and result.deviation_s is not None:
        line.append(
            f"  {result.packets} packets, at most {_time_text(result.deviation_s)} off,"
            f" line {result.deviation_line}",
            style="dim",
        )
    console = stdout()
    console.print(line, soft_wrap=True)
    if report.error is not None:
        for text in str(report.error).splitlines():
            console.print(_plain(f"  {text}"), soft_wrap=True)
    if result is None or report.script is None:
        return
    failures = [*([result.failure] if result.failure else []), *result.warnings]
    for failure in failures:
        for text in explain(report.script, failure):
            console.print(_plain(f"  {text}"), soft_wrap=True)
    if result.failure is not None and result.output.strip():
        console.print(Text("  its commands printed:", style="dim"))
        for text in result.output.strip().splitlines()[-_SHOWN_OUTPUT_LINES:]:
            console.print(_plain(f"    {text}"), soft_wrap=True)


def _plain(text: str) -> Text:
    """Return a text without what a terminal would obey: a script wrote some of it."""
    return Text("".join(letter if letter.isprintable() else "\ufffd" for letter in text))


def _time_text(seconds: float) -> str:
    size = abs(seconds)
    if size < 1e-6:
        return f"{size * 1e9:.0f} ns"
    return f"{size * 1e6:.1f} µs" if size < 1e-3 else f"{size * 1e3:.3f} ms"


def _show_summary(reports: Sequence[_Report], *, wall_s: float) -> None:
    counts = dict.fromkeys(("passed", "valid", "failed", "invalid", "broken"), 0)
    for report in reports:
        counts[report.status] += 1
    words = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    virtual_s = sum(report.result.virtual_s for report in reports if report.result is not None)
    stderr().print(Text(f"{words}, {virtual_s:.1f} virtual s in {wall_s:.1f} s"))


def _document(report: _Report) -> dict[str, Any]:
    result = report.result
    document: dict[str, Any] = {
        "script": str(report.task.file.path),
        "ip_version": report.task.settings.ip_version,
        "status": report.status,
        "error": None if report.error is None else str(report.error),
    }
    if result is None:
        return document
    document |= {
        name: getattr(result, name)
        for name in ("events", "packets", "virtual_s", "wall_s", "late_s", "deviation_s")
    }
    document["deviation_line"] = result.deviation_line
    document["failure"] = _failure_document(report, result.failure)
    document["warnings"] = [_failure_document(report, one) for one in result.warnings]
    document["output"] = result.output
    return document


def _failure_document(report: _Report, failure: Any) -> dict[str, Any] | None:
    if failure is None:
        return None
    assert report.script is not None
    event = report.script.event_at(failure.line)
    return {
        **asdict(failure),
        "sent": None if failure.sent is None else failure.sent.text(),
        "event": None if event is None else event.text(),
        "column": None if event is None else event.place.column,
    }


def _exit_code(reports: Sequence[_Report]) -> ExitCode:
    statuses = {report.status for report in reports}
    for status, code in (
        ("broken", ExitCode.HOST_FAILED),
        ("invalid", ExitCode.BAD_INPUT),
        ("failed", ExitCode.CLAIM_FAILED),
    ):
        if status in statuses:
            return code
    return ExitCode.GOOD
