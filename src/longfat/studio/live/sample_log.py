"""The samples of a session's probes since Run, one file for each kind, as in a run.

The guest's sampler may be restarted in the middle of a run: nodes were added, or its file has
become large. So its records are read as they come, with times relative to the run's start, and
the sources of all samplers are in one header (see `longfat.model.probes.samples` for the
format).
"""

from __future__ import annotations

import json
import struct
import tempfile
from typing import TYPE_CHECKING, Any

from longfat.errors import MachineError

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 256 * 1024**2
"""The maximum size per kind; later samples are dropped."""

_RECORD = struct.Struct("<QII")
_IN_MEMORY_BYTES = 4 * 1024**2
_MAX_HEADER_BYTES = 1 << 20
_COPIED_BYTES = 1 << 20


class SampleLog:
    """The samples of one run.

    Args:
        start_ns: the run's start, in nanoseconds of virtual time since boot.

    Attributes:
        is_full: samples were dropped because there were too many.
    """

    def __init__(self, *, start_ns: int) -> None:
        self._start_ns = start_ns
        self._kinds: dict[str, _Kind] = {}
        self.is_full = False

    def sampler(self, kind: str, *, start_ns: int) -> SamplerLog:
        """Return the receiver of the bytes of a new sampler.

        Args:
            kind: what it samples.
            start_ns: its start, in nanoseconds of virtual time since boot.
        """
        of = self._kinds.setdefault(kind, _Kind())
        return SamplerLog(self, of, offset_ns=start_ns - self._start_ns)

    def has(self, kind: str) -> bool:
        """Return whether anything of a kind was sampled."""
        return kind in self._kinds and bool(self._kinds[kind].records)

    def write(self, kind: str, path: Path) -> None:
        """Write all samples of a kind into a file.

        Raises:
            OSError: it cannot be written.
        """
        of = self._kinds[kind]
        header = {"every_ns": of.every_ns, "sources": of.sources}
        of.spool.seek(0)
        with path.open("xb") as file:
            file.write(json.dumps(header).encode() + b"\n")
            while piece := of.spool.read(_COPIED_BYTES):
                file.write(piece)

    def close(self) -> None:
        """Release the stored samples."""
        for of in self._kinds.values():
            of.spool.close()


class _Kind:
    """The samples of one kind: the sources so far, and the records with their numbers."""

    def __init__(self) -> None:
        self.every_ns = 0
        self.sources: list[dict[str, Any]] = []
        self.spool = tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES)  # noqa: SIM115  see `close`
        self.records = 0

    def add_source(self, node: str, interfaces: dict[str, str]) -> int:
        """Register a source, and return its number."""
        for number, one in enumerate(self.sources):
            if one["node"] == node:
                one["interfaces"].update(interfaces)
                return number
        self.sources.append({"node": node, "interfaces": dict(interfaces)})
        return len(self.sources) - 1


class SamplerLog:
    """Receives the bytes of one sampler.

    Args:
        log: the log that it belongs to.
        of: the kind.
        offset_ns: what is added to its times.
    """

    def __init__(self, log: SampleLog, of: _Kind, *, offset_ns: int) -> None:
        self._log = log
        self._of = of
        self._offset_ns = offset_ns
        self._unread = b""
        self._numbers: list[int] | None = None

    def feed(self, piece: bytes) -> None:
        """Process the next bytes of the sampler's file.

        Raises:
            MachineError: it was not written by a sampler.
        """
        content = self._unread + piece
        if self._numbers is None:
            head, newline, content = content.partition(b"\n")
            if not newline:
                if len(head) > _MAX_HEADER_BYTES:
                    raise MachineError("the samples of a probe have no first line")
                self._unread = head
                return
            self._read_header(head)
        self._unread = self._take(content)

    def _read_header(self, head: bytes) -> None:
        try:
            header = json.loads(head)
            self._of.every_ns = int(header["every_ns"])
            self._numbers = [
                self._of.add_source(str(one["node"]), one["interfaces"])
                for one in header["sources"]
            ]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise MachineError(
                f"the first line of a probe's samples cannot be read: {type(error).__name__}"
            ) from None

    def _take(self, content: bytes) -> bytes:
        """Store the complete records; return the rest."""
        numbers = self._numbers or []
        at = 0
        while len(content) - at >= _RECORD.size:
            time_ns, source, length = _RECORD.unpack_from(content, at)
            end = at + _RECORD.size + length
            if end > len(content):
                break
            if source >= len(numbers):
                raise MachineError(f"a sample of the unknown source {source}")
            if self._of.spool.tell() + end - at > MAX_BYTES:
                self._log.is_full = True
            elif not self._log.is_full:
                head = _RECORD.pack(max(0, time_ns + self._offset_ns), numbers[source], length)
                self._of.spool.write(head + content[at + _RECORD.size : end])
                self._of.records += 1
            at = end
        return content[at:]
