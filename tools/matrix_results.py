"""What came of the cells of the matrix: kept in a file, shown as a table.

`tools.matrix` tries them.
"""

from __future__ import annotations

import dataclasses
import fcntl
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tools.releases import RELEASES, HostError
from tools.roots import ORDINARY

USERS = {"root": "root", "user": ORDINARY}
"""The users that a cell may have, and their names in its root."""

MAIN_ONLY = "lab-main"
"""What is tried with the release's main archive alone, as debootstrap(8) leaves it."""

WHATS = ("lab", MAIN_ONLY, "wheels", "test")
"""What a cell may try."""

PIP = "pip install"
"""The step that installs the wheels."""

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Name:
    """Which cell.

    Attributes:
        release: Debian's name of it.
        user: `root`, or `user` for an ordinary one.
        what: what is tried.
    """

    release: str
    user: str
    what: str

    def __str__(self) -> str:
        """Return it as it stands in results and in names of logs."""
        return f"{self.release}-{self.user}-{self.what}"


@dataclass(slots=True, kw_only=True)
class Cell:
    """What came of a cell.

    Attributes:
        failed: what failed; empty if the cell passed.
        commit: the commit that was cloned, or that the wheels stand beside.
        wall_s: how long the cell's own steps took, without getting the root ready.
        cpu_s: the CPU time of the same.
        steps: how long each step took, and its CPU time.
        first_table_s: from the start of `longfat run` to the first table's heading.
        shared_kernels: whether the kernels were built by another cell.
        wheels: SHA-256 of the wheels, by name.
        claims: how many claims hold, and of how many.
        tests: how many tests ended how, as pytest counts them.
        again: the same of those that failed and ran once more, alone.
        versions: of python, iperf3, libc, the guest's and the host's kernel.
        sandbox: what kept Lab 8's machine apart from the root, as its manifest says.
        digest: the digest of Lab 8's case `default`.
        files: SHA-256 of what the tools of that case printed, by file.
        metrics: what that case measured.
        cpus: how many CPUs the host has.
        load: the host's load average when the cell began.
    """

    failed: str = ""
    commit: str = ""
    wall_s: float = 0
    cpu_s: float = 0
    steps: dict[str, tuple[float, float]] = field(default_factory=dict)
    first_table_s: float | None = None
    shared_kernels: bool = False
    wheels: dict[str, str] = field(default_factory=dict)
    claims: tuple[int, int] | None = None
    tests: dict[str, int] = field(default_factory=dict)
    again: dict[str, int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    sandbox: str = ""
    digest: str = ""
    files: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    cpus: int = 0
    load: float = 0


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def read_results(folder: Path) -> dict[Name, Cell]:
    """Return what is kept in a folder of results.

    Raises:
        HostError: it was written by another version of this program.
    """
    path = folder / "results.json"
    if not path.exists():
        return {}
    kept = json.loads(path.read_text())
    if kept.get("format") != _FORMAT:
        raise HostError(f"{path} is of another format; remove it")
    known = {one.name for one in dataclasses.fields(Cell)}
    found = {}
    for row in kept["cells"]:
        name = Name(row["release"], row["user"], row["what"])
        # A call that began before this one may have been of another version.
        cell = Cell(**{key: value for key, value in row.items() if key in known})
        cell.claims = (cell.claims[0], cell.claims[1]) if cell.claims else None
        cell.steps = {step: (took[0], took[1]) for step, took in cell.steps.items()}
        found[name] = cell
    return found


def keep_result(folder: Path, name: Name, cell: Cell) -> None:
    """Add a cell to the results of a folder, in place of an earlier one."""
    path = folder / "results.json"
    with _locked(path):
        cells = read_results(folder) | {name: cell}
        rows = [
            dataclasses.asdict(one) | dataclasses.asdict(cells[one])
            for one in sorted(cells, key=_place)
        ]
        part = path.with_suffix(".part")
        part.write_text(json.dumps({"format": _FORMAT, "cells": rows}, indent=2) + "\n")
        part.replace(path)


def _place(name: Name) -> tuple[int, int, int]:
    return WHATS.index(name.what), [*RELEASES].index(name.release), list(USERS).index(name.user)


def table(results: dict[Name, Cell]) -> str:
    """Return the results as a Markdown table."""
    heads = (
        *("what", "release", "user", "result", "wall s", "CPU s", "first table s", "claims"),
        *("tests", "Python", "iperf3", "glibc", "guest's kernel", "digest"),
    )
    rows = [heads, ("---",) * len(heads)]
    rows += [_row(name, results[name]) for name in sorted(results, key=_place)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def _counts(tests: Mapping[str, int]) -> str:
    return ", ".join(
        f"{count} {word}" for word, count in tests.items() if not word.startswith("warning")
    )


def _row(name: Name, cell: Cell) -> tuple[str, ...]:
    version = cell.versions.get
    counts = _counts(cell.tests)
    if cell.again:
        counts += f"; of these, once more: {_counts(cell.again)}"
    first = "-" if cell.first_table_s is None else f"{cell.first_table_s:.1f}"
    if PIP in cell.steps and cell.first_table_s is not None:
        first += f", after {cell.steps[PIP][0]:.0f} of pip"
    result = f"failed: {cell.failed}" if cell.failed else "passed"
    return (
        *(name.what, name.release, "ordinary" if name.user == "user" else name.user),
        result.replace("|", "\\|") + (", kernels of another cell" if cell.shared_kernels else ""),
        *(f"{cell.wall_s:.0f}", f"{cell.cpu_s:.0f}", first),
        "-" if cell.claims is None else f"{cell.claims[0]} of {cell.claims[1]} hold",
        *(counts or "-", version("python", "-"), version("iperf3", "-")),
        *(
            version("libc", "-").removeprefix("glibc "),
            version("kernel", "-"),
            cell.digest[:12] or "-",
        ),
    )
