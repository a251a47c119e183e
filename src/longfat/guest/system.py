"""The few system calls of Linux that Python's standard library does not offer."""

import ctypes
import os

MS_RDONLY = 1
MS_NOSUID = 2
MS_REMOUNT = 32
MS_BIND = 4096

_POWER_OFF = 0x4321FEDC

_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str = "", *, flags: int = 0, options: str = "") -> None:
    """Attach one file system to the tree.

    By mount(2) and not by the command: the command is set-user-ID on the
    host, and would lose root to the host's view of its owner.

    Raises:
        OSError: the kernel refused.
    """
    arguments = (text.encode() for text in (source, target, kind))
    if _libc.mount(*arguments, ctypes.c_ulong(flags), options.encode()) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)


def power_off() -> None:
    """End the machine at once, by reboot(2)."""
    _libc.sync()
    _libc.reboot(ctypes.c_int(_POWER_OFF))
