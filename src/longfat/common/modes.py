"""The modes of longfat's files: those that the user's umask allows, as for any program."""

from __future__ import annotations

from pathlib import Path


def file_mode() -> int:
    """Return the mode of a new file, for one that was created with fewer rights (umask(2))."""
    return 0o666 & ~_umask()


def folder_mode() -> int:
    """Return the mode of a new folder, for one that was created with fewer rights (umask(2))."""
    return 0o777 & ~_umask()


def _umask() -> int:
    # umask() returns it by setting it, which other threads would see.
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("Umask:"):
            return int(line.split()[1], 8)
    return 0o077
