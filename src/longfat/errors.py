"""The errors that a user of longfat can meet, each with its exit code.

Every error that leaves a public function is one of these. A message names
what was found and what would be right; the command line prints it without a
traceback. Anything else that escapes is a bug of ours.

* `InputError`: what the user wrote is wrong (exit code 2). It carries the
  `Place` in the file where one is known.
* `FlowFailedError`: a flow failed, or succeeded, against expectation (exit code 1).
* `HostError`: the host lacks something (exit code 3). It carries the
  command that fixes it where one is known.
* `MachineError`: a machine failed to boot, stalled or broke (exit code 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class ExitCode(IntEnum):
    """What the `longfat` command ends with."""

    GOOD = 0
    CLAIM_FAILED = 1
    BAD_INPUT = 2
    HOST_FAILED = 3
    INTERRUPTED = 130
    BROKEN_PIPE = 141  # as a command that SIGPIPE ends


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file something was written.

    Attributes:
        file: the file as the user named it.
        line: the line, counted from 1.
        column: the column, counted from 1.
        field: the path of keys that leads there, such as `cases.red.setup[0]`;
            empty for the document itself.
    """

    file: str
    line: int
    column: int
    field: str = ""

    def __str__(self) -> str:
        """Return the place as compilers print it: `file:line:column: field`."""
        where = f"{self.file}:{self.line}:{self.column}"
        return f"{where}: {self.field}" if self.field else where


class LongfatError(Exception):
    """An error with a message for the person who can fix it."""

    exit_code = ExitCode.HOST_FAILED
    hint: str = ""
    """The command that fixes it, where one is known."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message


class InputError(LongfatError):
    """What the user wrote is wrong.

    Args:
        message: what was found, and what would be right.
        place: where it was written, where a file is at fault.
    """

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, message: str, *, place: Place | None = None) -> None:
        super().__init__(message)
        self.place = place

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message

    @property
    def mistakes(self) -> tuple[InputError, ...]:
        """Each single mistake, in the file's order; this one, if there are no others."""
        return (self,)


class FlowFailedError(InputError):
    """A flow did not end as its study expects: that is a result, and its run is kept.

    Args:
        message: what failed, and where its run is.
        place: where the flow was written.
    """

    exit_code = ExitCode.CLAIM_FAILED


class MistakesError(InputError):
    """Several mistakes of one file, found in one reading.

    Its own message and place are those of the mistake that was found first.

    Args:
        found: the mistakes, two or more, as they were found.
    """

    def __init__(self, found: Sequence[InputError]) -> None:
        super().__init__(found[0].message, place=found[0].place)
        self._found = tuple(sorted(found, key=_position))

    @property
    def mistakes(self) -> tuple[InputError, ...]:
        """Each single mistake, in the file's order."""
        return self._found

    def __str__(self) -> str:
        lines = "".join(f"\n  {one}" for one in self._found)
        return f"{len(self._found)} mistakes:{lines}"


def _position(error: InputError) -> tuple[int, int]:
    return (error.place.line, error.place.column) if error.place else (0, 0)


class HostError(LongfatError):
    """The host lacks something that longfat needs.

    Args:
        message: what is missing, and what for.
        hint: the command that fixes it, or an empty string.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message


class MachineError(LongfatError):
    """A machine failed: it did not boot, it stalled, or it ended too early."""
