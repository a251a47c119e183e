"""Running many cases: tasks, and the executors that run them.

`batch_runner` decides what is run (cases without a cached result) and processes
the results; an `Executor` runs it: the pool of this computer, or a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

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


class Listener(Protocol):
    """Handles progress and results; called from any thread, one call at a time for a run."""

    def progress(self, run_id: RunId, progress: Progress) -> None:
        """Handle the progress of a run, a few times a second."""

    def done(self, run_id: RunId, run: Run) -> None:
        """Handle a finished run, whose run directory is complete and in its place."""

    def failed(self, run_id: RunId, error: LongfatError) -> None:
        """Handle a failed run."""


class Executor(Protocol):
    """Executes runs."""

    def execute(
        self, run_tasks: Sequence[RunTask], *, listener: Listener, stop: threading.Event
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
