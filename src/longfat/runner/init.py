"""PID 1 of a machine: our guest program, and how to hand it to a machine."""

from __future__ import annotations

import compileall
import functools
from pathlib import Path

from longfat import guest
from longfat.machine import HANDOVER, INTERPRETER

GUEST_FOLDER = Path(guest.__file__).resolve().parent
"""The guest program on this host."""

# As a package of the same name, so that its modules import each other as they do here.
GUEST_PLACE = "guest/longfat/guest"
"""Where a machine is to show it, under `HANDOVER`."""


def init_program() -> list[str]:
    """Return the guest's PID 1: our own interpreter and our program."""
    _compile_guest()
    return [str(INTERPRETER), "-I", "-S", "-B", f"{HANDOVER}/{GUEST_PLACE}/main.py"]


@functools.cache
def _compile_guest() -> None:
    """Compile the guest program, once for all machines: each would do it anew as it boots.

    Where that cannot be kept (the folder is somebody else's), machines boot a little slower
    and give the same results.
    """
    compileall.compile_dir(GUEST_FOLDER, quiet=2)
