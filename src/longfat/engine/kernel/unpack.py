"""Unpacking a kernel's source, without what a machine never uses.

Most of a kernel is drivers and other processors. Their code is omitted; every
Kconfig and Makefile stays, because the configuration reads them all. A tree is
treated as the tarball that it would make, without owners and times, so
that its digest depends on its content alone.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

# Folders below drivers/ that are large and contain nothing for a machine.
_HEAVY_DRIVERS = (
    *("accel", "clk", "comedi", "crypto", "dma", "gpio", "gpu", "hid", "hwmon", "iio"),
    *("infiniband", "input", "media", "mfd", "misc", "mtd", "net/can", "net/dsa"),
    *("net/ethernet", "net/phy", "net/wireless", "phy", "pinctrl", "platform", "regulator"),
    *("s390", "scsi", "soc", "staging", "usb", "video"),
)

_LEFT_OUT = (
    # All processors but um and x86 (and others that begin the same).
    *(f"*/arch/[!ux]*.{suffix}" for suffix in ("[chS]", "dts*")),
    *(f"*/drivers/{name}/*.[chS]" for name in _HEAVY_DRIVERS),
    "*/sound/*.[chS]",
    "*/samples/*.[chS]",
    *(f"*/Documentation/*.{suffix}" for suffix in ("rst", "txt", "yaml", "svg", "json")),
    "*/tools/perf/*",
    "*/tools/testing/*",
)

# Files that a tree may contain that were not in its tarball.
_BUILT = ("*/.git", "*.o", "*.a", "*.ko", "*.mod", "*.cmd")

# tar reports each time it has read this many of its records of 10 KiB.
_RECORDS_PER_REPORT = 2000
RECORD_BYTES = 10240
_REPORT = re.compile(r".*: records (\d+)")


def _exclusions(*patterns: str) -> list[str]:
    return ["--anchored", "--wildcards", *(f"--exclude={pattern}" for pattern in patterns)]


def unpack_command(tarball: Path, *, into: Path) -> list[str]:
    """Return the command that unpacks the useful part of a tarball.

    Its standard error is for `records_read`.

    Args:
        tarball: the source.
        into: an empty folder, which becomes the top of the tree.
    """
    # Several threads read an .xz made of several blocks, as Debian's are.
    by_threads = ["--use-compress-program=xz -dT0"] if tarball.suffix == ".xz" else []
    report = [f"--checkpoint={_RECORDS_PER_REPORT}", "--checkpoint-action=echo=records %u"]
    return [
        *("tar", "--extract", f"--file={tarball}", f"--directory={into}", "--strip-components=1"),
        *("--no-same-owner", "--no-same-permissions"),
        *by_threads,
        *report,
        *_exclusions(*_LEFT_OUT),
    ]


def pack_command(tree: Path) -> list[str]:
    """Return the command that writes the useful part of a tree to standard output."""
    return [
        *("tar", "--create", "--file=-", f"--directory={tree}"),
        *("--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"),
        *("--mode=u+rw,a+rX,go-w", "--format=gnu"),
        # The top folder has the same name wherever the tree is.
        "--transform=s,^\\.,linux,S",
        *_exclusions(*_LEFT_OUT, *_BUILT),
        ".",
    ]


def records_read(line: str) -> int:
    """Return how many records an unpacking tar has read; 0 if the line does not report it."""
    match = _REPORT.fullmatch(line.strip())
    return int(match[1]) if match else 0


def count_records(tarball: Path) -> int:
    """Return how many records tar will read from an .xz; 0 if that is not known."""
    if tarball.suffix != ".xz":
        return 0
    listing = subprocess.run(
        ["xz", "--robot", "--list", str(tarball)],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    for line in listing.stdout.splitlines():
        fields = line.split("\t")
        if fields[0] == "totals":
            return int(fields[4]) // RECORD_BYTES
    return 0
