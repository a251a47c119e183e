"""What became of running many cases, and who is told meanwhile."""

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
    """Who is told of the pieces of work; each method may be called from any thread.

    By itself it listens to nothing: what is of interest is overridden.
    """

    def planned(self, works: Sequence[RunTask]) -> None:
        """Hear what will be run, once, before anything is."""

    def cached(self, piece: RunId, run: Run) -> None:
        """Hear that the result of a piece was known already."""

    def progress(self, piece: RunId, progress: Progress) -> None:
        """Hear how far a piece is, a few times a second while it runs."""

    def done(self, piece: RunId, run: Run) -> None:
        """Hear that a piece is done and cached."""

    def failed(self, piece: RunId, error: LongfatError) -> None:
        """Hear that a piece has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A piece that failed.

    Attributes:
        piece: the piece.
        error: why.
    """

    piece: RunId
    error: LongfatError


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of running many cases.

    Attributes:
        runs: for each batch the runs by the cases' names, in the cases' order; one for
            each seed, in the seeds' order. A case that is not done with all of its
            seeds is absent: the median of those that are left would speak of others.
        failures: what failed, in the cases' order.
        cached: how many pieces were known already.
        ran: how many were run.
        left: how many were neither, because something had failed before.
    """

    runs: tuple[Mapping[str, tuple[Run, ...]], ...]
    failures: tuple[Failure, ...]
    cached: int
    ran: int
    left: int

    @property
    def exit_code(self) -> ExitCode:
        """Return what a command ends with: the worst of all, 3 before 2, and 0 without failures.

        A broken machine or host makes one doubt all the rest; a wrong line, that case only.
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
