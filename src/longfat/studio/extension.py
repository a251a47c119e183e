"""Extensions of the studio by products: labs with files of the user's own, and routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from longfat.studio.progress import ProgressStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.routing import BaseRoute

    from longfat.studio.machine_queue import Member
    from longfat.studio.workspace import Workspace
    from longfat.study.labs import StudyFolder


class LabFiles(Protocol):
    """A user's files of a lab, one of which the page opens in place of the lab's study."""

    @property
    def study_path(self) -> str:
        """The study, below the workspace."""

    @property
    def paths(self) -> frozenset[str]:
        """The files for which the disk quota may be exceeded, below the workspace."""

    @property
    def reserve_bytes(self) -> int:
        """By how much, in bytes."""

    def begin(self) -> None:
        """Create the files that do not exist yet.

        Raises:
            InputError: they cannot be written.
        """


def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppPart:
    """An extension's part of the application of one workspace.

    Attributes:
        progress: the progress in labs.
        lab_files: the files of the extension's labs, by the labs' names.
        routes: further routes.
        stop: stops all that runs, at any time and from any thread.
        close: waits until that has ended.
    """

    progress: ProgressStore
    lab_files: Mapping[str, LabFiles] = field(default_factory=dict)
    routes: Sequence[BaseRoute] = ()
    stop: Callable[[], None] = _nothing
    close: Callable[[], None] = _nothing


class Extension:
    """An extension of the studio; this base class adds nothing."""

    @property
    def labs(self) -> tuple[StudyFolder, ...]:
        """Labs besides those that come with longfat."""
        return ()

    def part(self, workspace: Workspace, *, member: Member | None) -> AppPart:
        """Return the part of the application of a workspace.

        Args:
            workspace: the workspace.
            member: the member of a class in the queue for machines; None without a class.
        """
        del member
        return AppPart(progress=ProgressStore(workspace))
