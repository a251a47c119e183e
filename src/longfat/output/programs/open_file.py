"""`xdg-open FILE` in a machine, which has no screen: says where the file is on the computer."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import quote

from longfat.output.programs.paths import (
    check_arguments,
    outside_folders,
    path_outside,
    print_error,
    run,
)

_NAME = "xdg-open"
# The exit statuses of xdg-open(1).
_NOT_FOUND, _NO_PROGRAM, _FAILED = 2, 3, 4


def main(arguments: list[str]) -> int:
    """Run it with these arguments; return its exit status."""
    return run(_NAME, lambda: _open(arguments))


def _open(arguments: list[str]) -> int:
    check_arguments(arguments, "xdg-open FILE")
    (name,) = arguments
    if "://" in name:
        print_error(_NAME, f"{name}: the machine has no browser and no way to the Internet")
        return _NO_PROGRAM
    if not Path(name).exists():
        print_error(_NAME, f"file {name!r} does not exist")
        return _NOT_FOUND
    outside = path_outside(name)
    if outside is None:
        folders = " or ".join(outside_folders())
        hint = f"; copy it to {folders}, which is on your computer" if folders else ""
        print_error(_NAME, f"{name} is in the machine's memory, which has no screen{hint}")
        return _FAILED
    print("the machine has no screen; open this file on your computer:")
    print(_linked(outside))
    return 0


def _linked(path: str) -> str:
    """Return a path as a hyperlink if the terminal may know them (OSC 8), else as it is."""
    if not sys.stdout.isatty() or os.environ.get("TERM", "dumb") in ("dumb", "linux"):
        return path
    return f"\x1b]8;;file://{quote(path)}\x1b\\{path}\x1b]8;;\x1b\\"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
