"""A program of a script: started, listened to within bounds, and ended with all that it started."""

import os
import select
import signal
import subprocess
import tempfile
from types import TracebackType

from longfat_packetdrill.guest.failures import ScriptFailedError
from longfat_packetdrill.guest.waiting import Waiting

KEPT_OUTPUT = 4096
"""How much of what is printed is kept, in bytes: the end."""

_MAX_OUTPUT = 1 << 20
_CHUNK = 65536


class Program:
    """A program; use it as a context manager.

    Args:
        command: the program and its arguments.
        waiting: where its output and its end are waited for.
        stdin: what it reads.

    Attributes:
        is_over: whether it has ended.
        said: the end of what it printed.
    """

    def __init__(self, command: list[str], *, waiting: Waiting, stdin: bytes = b"") -> None:
        self._waiting = waiting
        self.is_over = False
        self.said = bytearray()
        self._total = 0
        near, far = os.pipe()
        os.set_blocking(near, False)
        with tempfile.TemporaryFile() as file:
            file.write(stdin)
            file.seek(0)
            self._process = subprocess.Popen(
                command, stdin=file, stdout=far, stderr=far, start_new_session=True
            )
        os.close(far)
        self._output: int | None = near
        self._ended = os.pidfd_open(self._process.pid)
        waiting.on(near, self._read)
        waiting.on(self._ended, self._end)

    def __enter__(self) -> "Program":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self.is_over:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._close()
        self._waiting.off(self._ended)
        os.close(self._ended)

    def status(self) -> int:
        """Return how it ended: its exit status, or -N after signal N."""
        # What it has left running may hold the pipe for ever.
        while self._output is not None and select.select([self._output], [], [], 0)[0]:
            self._read()
        return self._process.wait()

    def _end(self) -> None:
        self.is_over = True

    def _read(self) -> None:
        assert self._output is not None
        data = os.read(self._output, _CHUNK)
        self._total += len(data)
        self.said.extend(data)
        del self.said[:-KEPT_OUTPUT]
        if not data:
            self._close()
        elif self._total > _MAX_OUTPUT:
            raise ScriptFailedError(f"it wrote more than {_MAX_OUTPUT:,} bytes")

    def _close(self) -> None:
        if self._output is not None:
            self._waiting.off(self._output)
            os.close(self._output)
            self._output = None
