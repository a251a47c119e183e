"""Writes the runs of a live session, one after the other, in a thread of its own.

Writing may take long, and must not block the session's thread.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from longfat.errors import LongfatError
from longfat.studio.live.kept_run import write_live_run
from longfat.studio.plan import folder_name
from longfat.studio.urls import RUNS

if TYPE_CHECKING:
    from concurrent.futures import Future
    from pathlib import Path

    from longfat.studio.live.kept_run import LiveRun
    from longfat.studio.workspace import Workspace

_LOG = logging.getLogger(__name__)
_NUMBERED = re.compile(r"(?:.*-)?live-(\d+)-seed\d+")

# Sessions of the same drawing share the numbering of runs.
_COUNTING = threading.Lock()


class RunWriter:
    """Writes the runs of one session.

    Args:
        workspace: runs are saved in its `runs`; None to save none.
        name: the drawing's name.
    """

    def __init__(self, workspace: Workspace | None, *, name: str) -> None:
        self._workspace = workspace
        self._study = f"{folder_name(name)}-live"
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="run writer")
        self._waiting: list[Future[None]] = []

    def keep(self, live: LiveRun, report: Callable[[str | None, str], None]) -> None:
        """Write a run.

        Args:
            live: the run.
            report: called, from another thread, with its path below the workspace, or None if
                it could not be written, and with a message, which may be empty.
        """
        if self._workspace is None:
            live.samples.close()
            return
        workspace = self._workspace
        self._waiting.append(self._thread.submit(lambda: report(*self._write(live, workspace))))

    def close(self) -> None:
        """Wait until all is written."""
        self._thread.shutdown(wait=True)

    def _write(self, live: LiveRun, workspace: Workspace) -> tuple[str | None, str]:
        place = f"{RUNS}/{self._study}"
        try:
            with contextlib.closing(live.samples), _COUNTING, workspace.relative_paths():
                workspace.disk.check()
                out = workspace.folder(place, make=True)
                number = _last(out) + 1
                run, replay = write_live_run(
                    live,
                    out=out,
                    study=self._study,
                    number=number,
                    max_capture_bytes=workspace.disk.room_bytes(),
                )
        except LongfatError as error:
            return None, f"This run could not be saved: {error}"
        except Exception as error:
            _LOG.exception("a live run")
            return None, f"This run could not be saved: internal error ({error!r})"
        return f"{place}/{run.folder.name}", "; ".join(replay.left_out)


def _last(out: Path) -> int:
    """Return the number of the last live run of a folder; 0 for none."""
    found = (_NUMBERED.fullmatch(entry.name) for entry in out.iterdir())
    return max((int(one[1]) for one in found if one), default=0)
