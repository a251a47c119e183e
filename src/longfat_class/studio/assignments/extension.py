"""Labs with exercises as an extension of the studio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.studio.extension import AppPart, Extension
from longfat.studio.progress import ProgressStore
from longfat_class.analysis import seed_of
from longfat_class.studio.assignments.assignment import read_assignments
from longfat_class.studio.assignments.check_counts import CheckCounts
from longfat_class.studio.assignments.checks import Checks
from longfat_class.studio.assignments.exercise_sheet import ExerciseSheet, Submitter
from longfat_class.studio.assignments.routes import exercise_routes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from longfat.studio.machine_queue import Member
    from longfat.studio.workspace import Workspace
    from longfat.study.labs import StudyFolder
    from longfat_class.studio.assignments.assignment import Assignment


class ExerciseExtension(Extension):
    """The labs with exercises of one workspace.

    Args:
        assignments: the labs.
        submitter: who submits the exercises; None to derive it from the workspace's name.
        counts: the file of how often exercises were checked; None to keep it in memory.
    """

    def __init__(
        self,
        assignments: Sequence[Assignment],
        *,
        submitter: Submitter | None = None,
        counts: Path | None = None,
    ) -> None:
        self._assignments = assignments
        self._submitter = submitter
        self._counts = counts

    @property
    def labs(self) -> tuple[StudyFolder, ...]:
        """What students get of the labs."""
        return tuple(assignment.given for assignment in self._assignments)

    def part(self, workspace: Workspace, *, member: Member | None) -> AppPart:
        """Return the exercises of a workspace.

        Raises:
            HostError: the counts cannot be read.
        """
        name = workspace.root.name
        submitter = self._submitter or Submitter(name=name, folder=name, seed=seed_of(name))
        sheets = {
            assignment.name: ExerciseSheet(assignment, workspace, submitter)
            for assignment in self._assignments
        }
        counts = CheckCounts(self._counts)
        progress = ProgressStore(workspace, counts=counts)
        checks = Checks(sheets, progress=progress, counts=counts, member=member)
        return AppPart(
            progress=progress,
            lab_files=sheets,
            routes=exercise_routes(checks, progress.pages),
            stop=checks.stop,
            close=checks.close,
        )


def extend_with(labs: Sequence[Path]) -> Callable[[Path, Path], Extension]:
    """Return what `longfat.studio.serve.serve` calls for labs with exercises.

    Args:
        labs: their folders.
    """

    def extend(workspace: Path, state: Path) -> Extension:
        assignments = read_assignments(labs, workspace=workspace)
        return ExerciseExtension(assignments, counts=state / "checks.json")

    return extend
