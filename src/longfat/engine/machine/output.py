"""What a machine leaves: files that the host makes from records which the guest sends.

The guest can write to no file of the host's. It sends records over the channel
(`longfat.guest.output`), each a piece of one of the files that its job names; the host alone
creates them, under names that it chose itself, and counts what arrives. So what a guest can do,
whatever runs in its kernel's process, is to send bytes until its quota is spent.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from longfat.engine.sandbox.quota import current_quota
from longfat.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longfat.engine.machine.host_channel import Frame
    from longfat.engine.sandbox.quota import Quota

_RECORD = b"f"


class RunOutput:
    """The files that a machine may leave, to be closed.

    Args:
        folder: the folder for them, which nobody else writes to.
        names: their names, such as `raw/ping.txt`; in the job they are `output`. Folders in
            them are created.
        quota: its `disk` is the most that all of them together may have; that of our
            environment, if None.

    Raises:
        OSError: a folder cannot be created.
    """

    def __init__(self, folder: Path, names: Sequence[str], *, quota: Quota | None = None) -> None:
        self._folder = folder
        self._names = tuple(names)
        self._files: dict[int, int] = {}
        self._size = 0
        self._quota = current_quota() if quota is None else quota
        for name in self._names:
            (folder / name).parent.mkdir(exist_ok=True)

    def close(self) -> None:
        """Close the files."""
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()

    def take(self, frame: Frame) -> None:
        """Append what a record has to its file.

        Raises:
            MachineError: it is none that a guest sends, or the quota of disk is spent.
            OSError: the host's disk is full.
        """
        if frame.kind != _RECORD or frame.number >= len(self._names):
            raise MachineError(
                f"the guest sent a record of kind {frame.kind!r} and number {frame.number}, "
                "which there is not; was it tampered with?"
            )
        self._size += len(frame.payload)
        if error := self._quota.exceeded("disk", self._size, doing="has written"):
            raise error
        if frame.number not in self._files:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            path = self._folder / self._names[frame.number]
            self._files[frame.number] = os.open(path, flags, 0o644)
        data = memoryview(frame.payload)
        while data:
            data = data[os.write(self._files[frame.number], data) :]
