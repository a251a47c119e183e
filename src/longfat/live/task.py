"""A process of a session, what is kept of its output, and the error for what the guest rejects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_OUTPUT_BYTES = 256 << 20
"""The default limit of what is kept of a process's output; one that writes more is killed."""


@dataclass(eq=False, slots=True)
class Task:
    """A process of a session.

    Attributes:
        number: its number in messages between host and guest.
        pid: its number in the guest.
        status: its exit status, -N after signal N; None while it runs.
        output: its output that was not taken yet.
        errors: likewise its standard error.
        is_full: it has written more than is kept of it, and was killed.
        on_output: called with whether it was to standard error, and with the bytes, instead
            of storing them.
        on_wanted: called when it can take input, with the virtual time since boot in
            nanoseconds; time is stopped meanwhile. It returns input, b"" at its end, or
            None if there is none yet: then pass it to `write_stdin` later.
    """

    number: int
    pid: int = 0
    status: int | None = None
    output: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    is_full: bool = False
    on_output: Callable[[bool, bytes], None] | None = None
    on_wanted: Callable[[int], bytes | None] | None = None

    @property
    def kept_bytes(self) -> int:
        """How much of its output is stored."""
        return len(self.output) + len(self.errors)

    def keep(self, is_error: bool, data: bytes, *, max_bytes: int) -> bool:
        """Store output.

        Args:
            is_error: it was written to standard error.
            data: the output.
            max_bytes: how much of it and its standard error is stored.

        Returns:
            Whether it has become too much just now.
        """
        if self.is_full:
            return False
        room = max_bytes - self.kept_bytes
        (self.errors if is_error else self.output).extend(data[: max(room, 0)])
        self.is_full = len(data) > room
        return self.is_full


class RejectedError(InputError):
    """The guest rejected a request.

    Attributes:
        status: the exit status of a shell for it.
    """

    def __init__(self, words: str, *, status: int = 1) -> None:
        super().__init__(words)
        self.status = status
