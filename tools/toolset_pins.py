"""Renew the lists of the toolset's packages from the archives of this host, a Debian 12.

    .venv/bin/python -m tools.toolset_pins [NAME...]

The packages of both lists get the versions that apt-get would install today, and those named are
added to the toolset's. `apt-get update` comes first.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from longfat.engine.toolset.recipe import read_packages

_TOP = Path(__file__).parents[1] / "toolset"
_LIST, _BUILD_LIST = _TOP / "packages.txt", _TOP / "build-packages.txt"
_DATE = _TOP / "date.txt"
_FIELD = re.compile(r"^(Package|Version|Size|SHA256|Filename): (.*)$", re.MULTILINE)


def lines_of(shown: str) -> dict[str, str]:
    """Return the line of each package, by its name.

    Args:
        shown: what `apt-cache --no-all-versions show` prints.
    """
    lines = {}
    for block in shown.split("\n\n"):
        fields = dict(_FIELD.findall(block))
        if fields:
            name = fields["Package"]
            lines[name] = " ".join(
                (name, fields["Version"], fields["Size"], fields["SHA256"], fields["Filename"])
            )
    return lines


def main(names: Sequence[str]) -> None:
    """Write both lists, and the time at which the archives had these versions.

    Args:
        names: packages to add to the toolset's.
    """
    _renew(_LIST, names)
    _renew(_BUILD_LIST, ())
    _DATE.write_text(f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}\n", encoding="utf-8")


def _renew(file: Path, names: Sequence[str]) -> None:
    known = [package.name for package in read_packages(file.read_text(encoding="utf-8"))]
    command = ["apt-cache", "--no-all-versions", "show", *sorted({*known, *names})]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = lines_of(done.stdout)
    file.write_text("".join(f"{lines[name]}\n" for name in sorted(lines)), encoding="utf-8")
    print(f"{file.name}: {len(lines)} packages")


if __name__ == "__main__":
    main(sys.argv[1:])
