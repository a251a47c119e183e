"""A script with what it runs with, and the report of its run: as lines and as JSON data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longfat.engine.kernel import Kernel
from longfat.errors import ExitCode, InputError, LongfatError
from longfat_packetdrill.find import ScriptFile
from longfat_packetdrill.options import IP_VERSIONS, Settings
from longfat_packetdrill.parser import parse_script
from longfat_packetdrill.run import DEFAULT_LIMIT_S, Failure, Result, run_script
from longfat_packetdrill.script import Script


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The outcome of a task: a result, or the error that prevented one.

    Attributes:
        task: what was to run.
        script: the script; None if it cannot be read.
        result: what came of it; None if it was only read, or could not run.
        error: why there is no result.
    """

    task: Task
    script: Script | None = None
    result: Result | None = None
    error: LongfatError | None = None

    @property
    def status(self) -> str:
        """Return `passed`, `failed`, `valid` (read only), `invalid` or `broken`."""
        if self.error is not None:
            return "invalid" if isinstance(self.error, InputError) else "broken"
        if self.result is None:
            return "valid"
        return "passed" if self.result.passed else "failed"

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON data, with times in seconds."""
        result = self.result
        data: dict[str, Any] = {
            "script": str(self.task.file.path),
            "ip_version": self.task.settings.ip_version,
            "status": self.status,
            "error": None if self.error is None else str(self.error),
        }
        if result is None:
            return data
        data |= {
            name: getattr(result, name)
            for name in ("events", "packets", "virtual_s", "wall_s", "late_s", "deviation_s")
        }
        data["deviation_line"] = result.deviation_line
        data["failure"] = None if result.failure is None else self._failure_json(result.failure)
        data["warnings"] = [self._failure_json(one) for one in result.warnings]
        data["output"] = result.output
        return data

    def _failure_json(self, failure: Failure) -> dict[str, Any]:
        event = None if self.script is None else self.script.event_at(failure.line)
        return {
            **asdict(failure),
            "sent": None if failure.sent is None else failure.sent.text(),
            "event": None if event is None else event.text(),
            "column": None if event is None else event.place.column,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A script and its settings: each IP version is a task of its own.

    Attributes:
        file: the script.
        settings: its options, with one version of IP.
    """

    file: ScriptFile
    settings: Settings

    @property
    def name(self) -> str:
        """Return the file and the version of IP."""
        return f"{self.file.path} {self.settings.ip_version}"

    @property
    def capture_name(self) -> str:
        """Return the name of the file for its packets."""
        inside = self.file.path.resolve().relative_to(self.file.root.resolve())
        return f"{'-'.join(inside.with_suffix('').parts)}-{self.settings.ip_version}.pcap"

    def check(self) -> Report:
        """Read the script without running it."""
        try:
            return Report(task=self, script=self._script())
        except LongfatError as error:
            return Report(task=self, error=error)

    def run(
        self,
        *,
        kernel: Kernel,
        seed: int = 1,
        limit_s: float = DEFAULT_LIMIT_S,
        capture: Path | None = None,
        on_progress: Callable[[float], None] = lambda _: None,
    ) -> Report:
        """Run the script in a machine of its own; the arguments are those of `run_script`."""
        script = None
        try:
            script = self._script()
            result = run_script(
                script,
                root=self.file.root,
                kernel=kernel,
                seed=seed,
                limit_s=limit_s,
                capture=capture,
                on_progress=on_progress,
            )
        except LongfatError as error:
            return Report(task=self, script=script, error=error)
        return Report(task=self, script=script, result=result)

    def _script(self) -> Script:
        script = parse_script(self.file.read(), file=str(self.file.path), settings=self.settings)
        script.plan()
        return script


def tasks_of(
    file: ScriptFile, settings: Settings, versions: Sequence[str] = (), *, kselftest: bool = False
) -> Iterator[Task]:
    """Yield the tasks of a script, one for each version of IP.

    Args:
        file: the script.
        settings: options that hold for all.
        versions: the versions; if none is given, the one that the script names or that of
            the settings.
        kselftest: run it as the kernel's own runner does: with all versions, unless the
            script names one, and with that runner's options.
    """
    own = file.ip_version() if kselftest or not versions else None
    names = (own,) if own in IP_VERSIONS else versions or (settings.ip_version,)
    if kselftest and own is None:
        names = IP_VERSIONS
    for name in names:
        one = settings.with_option("ip_version", name)
        yield Task(file=file, settings=one.with_kselftest() if kselftest else one)


def exit_code(reports: Sequence[Report]) -> ExitCode:
    """Return how a command ends that gave these reports: the worst of them decides."""
    statuses = {report.status for report in reports}
    for status, code in (
        ("broken", ExitCode.HOST_FAILED),
        ("invalid", ExitCode.BAD_INPUT),
        ("failed", ExitCode.CLAIM_FAILED),
    ):
        if status in statuses:
            return code
    return ExitCode.GOOD
