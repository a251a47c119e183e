"""One CPU for each machine.

A machine spread over two CPUs is four times slower than on one: its kernel
and its guest's processes take turns and never run side by side. Each machine
reserves a CPU by a lock that all of longfat's processes of a user share.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def reserve_cpu() -> Iterator[int]:
    """Hold a CPU that no other machine holds, for as long as the context lasts.

    If all are held, the CPU is shared with another machine: slower, but never
    stuck. Results do not depend on it.

    Yields:
        The CPU's number.
    """
    allowed = sorted(os.sched_getaffinity(0))
    folder = _lock_folder()
    for cpu in allowed:
        with contextlib.ExitStack() as stack:
            lock = os.open(folder / f"cpu{cpu}", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            stack.callback(os.close, lock)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield cpu
            return
    yield allowed[time.monotonic_ns() % len(allowed)]


def _lock_folder() -> Path:
    folder = Path(tempfile.gettempdir()) / f"longfat-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
