"""Running many cases as values and protocols: tasks, executors, observers, the outcome.

`batch_runner` decides what is run (cases without a cached result) and processes
the results; an `Executor` runs it: the pool of this computer, or a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from longfat.errors import ExitCode
from longfat.model.case import NOWHERE

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from longfat.errors import LongfatError
    from longfat.execution.case_runner import Progress
    from longfat.execution.cost import Cost
    from longfat.execution.runs import Run
    from longfat.model.case import Case, CasePlaces
    from longfat.model.parameter import ParameterValue
    from longfat.study import Planned


@dataclass(frozen=True, slots=True, kw_only=True)
class RunId:
    """One case with one seed.

    Attributes:
        batch: the index of its batch.
        name: the case's name.
        seed: the seed.
    """

    batch: int
    name: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTask:
    """A run with everything needed to execute it.

    Attributes:
        run_id: identifies the run.
        case: what to run, with the seed of the run.
        study: the name of its study; empty if it is of none.
        parameters: of a case of a grid, the values of its parameters.
        places: where the case's parts were written, for messages.
        out: the folder that will contain the run's folder.
        cost: its expected cost.
    """

    run_id: RunId
    case: Case
    out: Path
    cost: Cost
    study: str = ""
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict, hash=False)
    places: CasePlaces = NOWHERE


class RunObserver:
    """Is notified of runs, by an executor or by `run_batches`.

    Each method may be called from any thread, one call at a time for a run. They do nothing;
    subclasses override those of interest. An executor calls `progress`, `done` and `failed`.
    """

    def planned(self, run_tasks: Sequence[RunTask]) -> None:
        """Handle the plan of what will be run, once, before anything is."""

    def cached(self, run_id: RunId, run: Run) -> None:
        """Handle a result that was taken from the cache."""

    def progress(self, run_id: RunId, progress: Progress) -> None:
        """Handle the progress of a run, a few times a second."""

    def done(self, run_id: RunId, run: Run) -> None:
        """Handle a finished run, whose run directory is complete; of `run_batches`, also cached."""

    def failed(self, run_id: RunId, error: LongfatError) -> None:
        """Handle a failed run."""


class Executor(Protocol):
    """Executes runs."""

    def execute(
        self, run_tasks: Sequence[RunTask], *, listener: RunObserver, stop: threading.Event
    ) -> None:
        """Execute runs, the costliest first, each into its `out`.

        Returns when each run is done or has failed, or, once `stop` is set, when
        nothing runs any more: runs that had not begun, and those that were cancelled,
        are then not reported. A run that fails cancels no other one. On Ctrl-C
        (a KeyboardInterrupt in the calling thread) it cancels everything and raises it again.

        Args:
            run_tasks: the runs.
            listener: is notified.
            stop: set by the listener, or by any thread, to begin no more runs and to
                cancel running ones.

        Raises:
            HostError: the executor itself cannot work.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The cases of one study that are to be run.

    Attributes:
        cases: the cases by name.
        out: the folder that will contain their runs' folders.
        study: the study's name, for the runs' manifests; empty if they are of none.
    """

    cases: Mapping[str, Planned]
    out: Path
    study: str = ""


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
