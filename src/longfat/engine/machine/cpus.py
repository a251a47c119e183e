"""One CPU for each machine.

A machine spread over two CPUs is four times slower than on one: its kernel
and its guest's processes take turns and never run side by side. Each machine
reserves a CPU by binding a Unix socket in the abstract namespace, which has the
CPU's number in its name: it leaves no file anywhere, ends with the process
however that ends, and is visible to all users' machines. It is not visible in another container
with its own network namespace; then machines may share a CPU.
Source: unix(7).
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def reserve_cpu(*, scope: str = "longfat") -> Iterator[int]:
    """Hold a CPU that no other machine holds, for as long as the context lasts.

    If all are held, the CPU is shared with another machine: slower, but never
    blocked. Results do not depend on it.

    Args:
        scope: the name of a group; other groups may hold the same CPUs.

    Yields:
        The CPU's number.
    """
    allowed = sorted(os.sched_getaffinity(0))
    for cpu in allowed:
        with socket.socket(socket.AF_UNIX) as lock:
            try:
                lock.bind(f"\0{scope}-cpu{cpu}")
            except OSError:
                continue
            yield cpu
            return
    yield allowed[time.monotonic_ns() % len(allowed)]
