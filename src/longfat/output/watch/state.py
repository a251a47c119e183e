"""The progress of a watched run, by both clocks."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from longfat.execution.compile import TRAFFIC_START_S

if TYPE_CHECKING:
    from longfat.execution import Progress
    from longfat.execution.runs import Run
    from longfat.model.case import Case
    from longfat.output.watch.live import LiveRun

_SPEED_OVER_S = 3.0  # of wall time


class Watched:
    """A run of a case as it is shown.

    Args:
        study: the study's name.
        name: the case's name.
        title: its title in a table.
        case: the case.
        live: its state.
        pace: at most so many virtual seconds in a second; None for no limit.

    Attributes:
        virtual_s: virtual time after the traffic's start, in seconds; below 0 before it.
        expected_s: about when it ends, in the same time.
        run: its result; None while it runs.
    """

    def __init__(
        self,
        *,
        study: str,
        name: str,
        title: str,
        case: Case,
        live: LiveRun,
        pace: float | None,
    ) -> None:
        self.study, self.name, self.title, self.case = study, name, title, case
        self.live, self.pace = live, pace
        self.virtual_s = -TRAFFIC_START_S
        self.expected_s = 0.0
        self.run: Run | None = None
        self._looks: deque[tuple[float, float]] = deque()

    def progress(self, progress: Progress) -> None:
        """Record the progress of the machine."""
        self.virtual_s = progress.virtual_s - TRAFFIC_START_S
        self.expected_s = progress.expected_s - TRAFFIC_START_S
        now_s = time.monotonic()
        # Booting has a speed of its own, and no pace.
        if self.virtual_s < 0:
            return
        if not self._looks or now_s - self._looks[-1][0] > _SPEED_OVER_S / 30:
            self._looks.append((now_s, self.virtual_s))
        while len(self._looks) > 2 and now_s - self._looks[0][0] > _SPEED_OVER_S:
            self._looks.popleft()

    @property
    def speed(self) -> float | None:
        """Return virtual seconds in a second of wall time, lately or of the whole run."""
        if self.run is not None:
            return self.run.virtual_s / self.run.wall_s if self.run.wall_s > 0 else None
        if len(self._looks) < 2:
            return None
        (wall_0, virtual_0), (wall_1, virtual_1) = self._looks[0], self._looks[-1]
        return (virtual_1 - virtual_0) / (wall_1 - wall_0) if wall_1 > wall_0 else None

    @property
    def now_s(self) -> float:
        """Return the current time, at which charts end, in seconds after the traffic's start."""
        return self.live.time_s
