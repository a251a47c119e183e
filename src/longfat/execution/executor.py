"""Running many cases: tasks, and the executors that run them.

`batch_runner` decides what is run (what is cached is not) and what becomes of
it; an `Executor` runs it: the pool of this machine, or a cluster.
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
        batch: the place of its batch among the batches, from 0.
        name: the case's name.
        seed: the seed.
    """

    batch: int
    name: str
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTask:
    """A piece with all that is needed to run it.

    Attributes:
        piece: the piece.
        case: what to run, with the piece's seed.
        study: the name of its study; empty if it is of none.
        parameters: of a case of a grid, what each parameter is in it.
        places: where the case's parts were written, for messages.
        out: the folder that takes the run's folder.
        cost: what it is expected to cost.
    """

    piece: RunId
    case: Case
    out: Path
    cost: Cost
    study: str = ""
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict, hash=False)
    places: CasePlaces = NOWHERE


class Listener(Protocol):
    """Who is told how far works are; called from any thread, one call at a time for a piece."""

    def progress(self, piece: RunId, progress: Progress) -> None:
        """Hear how far a piece is, a few times a second while it runs."""

    def done(self, piece: RunId, run: Run) -> None:
        """Hear that a piece is done; its run directory is whole and in its place."""

    def failed(self, piece: RunId, error: LongfatError) -> None:
        """Hear that a piece has failed."""


class Executor(Protocol):
    """Where works are carried out."""

    def execute(
        self, works: Sequence[RunTask], *, listener: Listener, stop: threading.Event
    ) -> None:
        """Run works, those that cost most first, each into its `out`.

        Returns when each work is done or has failed, or, once `stop` is set, when
        nothing runs any more: works that had not begun, and those that were ended,
        are then told of in no way. A work that fails ends no other one. On Ctrl-C
        (a KeyboardInterrupt in the calling thread) it ends what runs and raises it again.

        Args:
            works: the works.
            listener: who is told.
            stop: set by the listener, or by anybody else, to begin no more works and to
                end those that run.

        Raises:
            HostError: the place itself cannot work.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The cases of one study that are to be run.

    Attributes:
        cases: the cases by name.
        out: the folder that takes their runs' folders.
        study: the study's name, for the runs' manifests; empty if they are of none.
    """

    cases: Mapping[str, Planned]
    out: Path
    study: str = ""
