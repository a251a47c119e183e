"""The output of a guarded command, line by line, for as long as it lives."""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.common.guard import Guarded

_LOOK_AGAIN_S = 0.2


def lines_of(fd: int, guarded: Guarded) -> Iterator[bytes]:
    """Yield a command's lines until it has ended.

    The end of the pipe is not the command's end: its guard holds the pipe open.

    Args:
        fd: the near end of the pipe that the command writes to.
        guarded: the command.
    """
    unread = b""
    while True:
        ended = guarded.wait(timeout_s=0)
        while select.select([fd], [], [], 0 if ended is not None else _LOOK_AGAIN_S)[0]:
            data = os.read(fd, 65536)
            if not data:
                break
            *lines, unread = (unread + data).split(b"\n")
            yield from lines
        if ended is not None:
            return
