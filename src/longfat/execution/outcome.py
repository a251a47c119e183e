"""The outcome of running many cases, and the observer of their progress."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.errors import LongfatError
    from longfat.execution.case_runner import Progress
    from longfat.execution.executor import RunId, RunTask
    from longfat.execution.runs import Run


class RunObserver:
    """Is notified of runs; each method may be called from any thread.

    Its methods do nothing; subclasses override those of interest.
    """

    def planned(self, run_tasks: Sequence[RunTask]) -> None:
        """Handle the plan of what will be run, once, before anything is."""

    def cached(self, run_id: RunId, run: Run) -> None:
        """Handle a result that was taken from the cache."""

    def progress(self, run_id: RunId, progress: Progress) -> None:
        """Handle the progress of a run, a few times a second."""

    def done(self, run_id: RunId, run: Run) -> None:
        """Handle a finished and cached run."""

    def failed(self, run_id: RunId, error: LongfatError) -> None:
        """Handle a failed run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A run that failed.

    Attributes:
        run_id: identifies the run.
        error: the reason.
    """

    run_id: RunId
    error: LongfatError


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of running many cases.

    Attributes:
        runs: for each batch the runs by the cases' names, in the cases' order; one for
            each seed, in the seeds' order. A case that is not done with all of its
            seeds is absent: the median of the others would describe something else.
        failures: what failed, in the cases' order.
        cached: how many results were cached already.
        ran: how many were run.
        left: how many were neither, because of an earlier failure.
    """

    runs: tuple[Mapping[str, tuple[Run, ...]], ...]
    failures: tuple[Failure, ...]
    cached: int
    ran: int
    left: int

    @property
    def exit_code(self) -> ExitCode:
        """Return the exit code of a command: the worst of all, 3 before 2, and 0 without failures.

        A broken machine or host makes all results doubtful; an invalid line, that case only.
        """
        codes = [failure.error.exit_code for failure in self.failures]
        return max(codes, default=ExitCode.GOOD)

    def summary(self) -> str:
        """Return the numbers in a line, such as `200 runs: 180 cached, 20 run`."""
        total = self.cached + self.ran + len(self.failures) + self.left
        parts = [f"{self.cached:,} cached", f"{self.ran:,} run"]
        if self.failures:
            parts.append(f"{len(self.failures):,} failed")
        if self.left:
            parts.append(f"{self.left:,} not run")
        return f"{total:,} run{'' if total == 1 else 's'}: {', '.join(parts)}"
