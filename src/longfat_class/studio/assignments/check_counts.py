"""How often a student has checked each exercise, and when the next check of an answer is possible.

Without a limit, the key of a question is found by bisection. So wrong answers are counted where
the student has no access: in the server's state of the workspace, which no reset of the
progress changes. After a few of them, each further check waits longer than the one before. An
unchanged answer gives its stored result again, which costs nothing and reveals nothing.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from longfat.common.atomic import write_whole
from longfat.common.decoding import Decoder, parse_json
from longfat.errors import HostError, InputError
from longfat.studio.progress import ExerciseProgress

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from longfat_class.studio.assignments.events import CheckCountInfo

FREE_WRONG = 3
"""After how many wrong answers the first wait begins."""

FIRST_WAIT_S = 30.0
"""The first wait; each further wrong answer doubles it."""

MAX_WAIT_S = 1800.0

_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCount:
    """The checks of an exercise.

    Attributes:
        checks: how often it was checked.
        wrong: how many wrong answers were compared with the key since the last right one.
        next_s: when the next check is possible, in seconds since 1970; 0 if at any time.
        result: what the last check gave; None if there was none.
        key: a digest of the question that it was about, as the instructor has written it.
    """

    checks: int = 0
    wrong: int = 0
    next_s: float = 0.0
    result: ExerciseProgress | None = None
    key: str = ""

    def wait_s(self) -> float:
        """Return how long the next check has to wait, in seconds."""
        # The clock may have been set back.
        return min(max(0.0, self.next_s - time.time()), MAX_WAIT_S)

    def checked(self, result: ExerciseProgress, *, compared: bool, key: str = "") -> CheckCount:
        """Return the count after a further check.

        Args:
            result: what it gave.
            compared: an answer was compared with the key.
            key: a digest of the question.
        """
        new = replace(self, checks=self.checks + 1, result=result, key=key)
        if not result.reasons:
            return replace(new, wrong=0, next_s=0.0)
        if not compared:
            return new
        wrong = self.wrong + 1
        # The exponent is limited, too: a float overflows.
        further = min(wrong - FREE_WRONG, 32)
        wait_s = min(FIRST_WAIT_S * 2**further, MAX_WAIT_S) if further >= 0 else 0.0
        return replace(new, wrong=wrong, next_s=time.time() + wait_s)

    def to_json(self) -> CheckCountInfo:
        """Return it as the page has it."""
        return {"checks": self.checks, "wrong": self.wrong, "wait_s": self.wait_s()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    format: int
    labs: dict[str, dict[str, CheckCount]] = field(default_factory=dict)


_FILE = Decoder(_File)


class CheckCounts:
    """The counts of a student, by lab and exercise; from any thread.

    Args:
        file: where they are stored; None to keep them in memory.

    Raises:
        HostError: the file cannot be read: without the counts, keys could be guessed.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._labs = {} if file is None else _read(file)

    def of(self, lab: str, exercise: str) -> CheckCount:
        """Return the count of an exercise."""
        return self.of_lab(lab).get(exercise, CheckCount())

    def of_lab(self, lab: str) -> dict[str, CheckCount]:
        """Return the counts of a lab's exercises that were checked."""
        with self._lock:
            return dict(self._labs.get(lab, {}))

    def checks(self, lab: str) -> dict[str, int]:
        """Return how often each exercise of a lab was checked, by its name."""
        return {name: one.checks for name, one in self.of_lab(lab).items()}

    def labs(self) -> list[str]:
        """Return the labs of which exercises were checked."""
        with self._lock:
            return list(self._labs)

    def note(self, lab: str, counts: Mapping[str, CheckCount]) -> None:
        """Store new counts of a lab's exercises, before a student reads the results.

        Raises:
            HostError: they cannot be stored.
        """
        with self._lock:
            labs = {**self._labs, lab: {**self._labs.get(lab, {}), **counts}}
            if self._file is not None:
                text = json.dumps(asdict(_File(format=_FORMAT, labs=labs)))
                try:
                    self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    write_whole(self._file, text.encode(), mode=0o600)
                except OSError as error:
                    raise HostError(
                        f"{self._file}: the count of checks cannot be stored: {error.strerror}"
                    ) from None
            self._labs = labs


def _read(file: Path) -> dict[str, dict[str, CheckCount]]:
    try:
        data = parse_json(file.read_bytes(), where=str(file))
        stored: _File = _FILE.decode(data, where=str(file), error=InputError)
    except FileNotFoundError:
        return {}
    except (InputError, OSError) as error:
        reason = error.message if isinstance(error, InputError) else error.strerror
        raise HostError(
            f"{file}: the counts of checks cannot be read: {reason}",
            hint="remove the file to count from 0 again",
        ) from None
    if stored.format != _FORMAT:
        raise HostError(f"{file}: the counts of checks are of another version of longfat")
    return stored.labs
