"""What came of the cells of the matrix: kept in a file, shown as a table.

`tools.matrix` tries them.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tools.bare import BARE
from tools.releases import RELEASES, HostError
from tools.roots import ORDINARY

USERS = {"root": "root", "user": ORDINARY}
"""The users that a cell may have, and their names in its root."""

MAIN_ONLY = "lab-main"
"""What is tried with the release's main archive alone, as debootstrap(8) leaves it."""

WHEELS = "wheels"
"""What is tried where Python is installed, and nothing else."""

WHEELS_AND_BUBBLEWRAP = "wheels-bubblewrap"
"""The same with bubblewrap, and so in the other sandbox."""

WHATS = ("lab", MAIN_ONLY, WHEELS, WHEELS_AND_BUBBLEWRAP, "test")
"""What a cell may try."""

ROOTS = (*RELEASES, BARE)
"""The roots in which cells are tried."""

LABS = {"lab08": "Lab 8", "lab01": "Lab 1"}
"""The labs that are compared between cells, with the headings of their digests."""

PIP = "pip install"
"""The step that installs the wheels."""

_FORMAT = 2


@dataclass(frozen=True, slots=True)
class Name:
    """Which cell.

    Attributes:
        release: Debian's or Ubuntu's name of it, or `BARE`.
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
        sandbox: the sandbox of Lab 8's machines.
        kernel: the digest of the kernel of the machines.
        toolset: the digest of their programs.
        runs: the digests of the runs of each lab, by the run's name.
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
    kernel: str = ""
    toolset: str = ""
    runs: dict[str, dict[str, str]] = field(default_factory=dict)
    cpus: int = 0
    load: float = 0

    def lab_digest(self, lab: str) -> str:
        """Return the digest of all runs of a lab, or nothing if it was not run."""
        if not (runs := self.runs.get(lab)):
            return ""
        lines = [f"{name} {digest}\n" for name, digest in sorted(runs.items())]
        return hashlib.sha256("".join(lines).encode()).hexdigest()


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
    return WHATS.index(name.what), ROOTS.index(name.release), list(USERS).index(name.user)


def table(results: dict[Name, Cell]) -> str:
    """Return the results as a Markdown table."""
    heads = (
        *("what", "release", "user", "result", "wall s", "CPU s", "first table s", "claims"),
        *("tests", "Python", "glibc", "kernel", "toolset", "sandbox", *LABS.values()),
    )
    rows = [heads, ("---",) * len(heads)]
    rows += [_row(name, results[name]) for name in sorted(results, key=_place)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def _counts(tests: Mapping[str, int]) -> str:
    return ", ".join(
        f"{count} {word}" for word, count in tests.items() if not word.startswith("warning")
    )


def _row(name: Name, cell: Cell) -> tuple[str, ...]:
    counts = _counts(cell.tests)
    if cell.again:
        counts += f"; of these, once more: {_counts(cell.again)}"
    first = "-" if cell.first_table_s is None else f"{cell.first_table_s:.1f}"
    if PIP in cell.steps and cell.first_table_s is not None:
        first += f", after {cell.steps[PIP][0]:.0f} of pip"
    result = f"failed: {cell.failed}" if cell.failed else "passed"
    facts = (
        cell.versions.get("python", ""),
        cell.versions.get("libc", "").removeprefix("glibc "),
        " ".join((cell.versions.get("kernel", ""), cell.kernel[:12])).strip(),
        cell.toolset[:12],
        cell.sandbox,
        *(cell.lab_digest(lab)[:12] for lab in LABS),
    )
    return (
        *(name.what, name.release, "ordinary" if name.user == "user" else name.user),
        result.replace("|", "\\|") + (", kernels of another cell" if cell.shared_kernels else ""),
        *(f"{cell.wall_s:.0f}", f"{cell.cpu_s:.0f}", first),
        "-" if cell.claims is None else f"{cell.claims[0]} of {cell.claims[1]} hold",
        counts or "-",
        *(fact or "-" for fact in facts),
    )


def differences(results: Mapping[Name, Cell]) -> list[str]:
    """Return, for each run that has two digests in cells of the same kernel release, which cells.

    Cells of different toolsets are not compared.
    """
    digests: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for name in sorted(results, key=_place):
        cell = results[name]
        for lab, runs in cell.runs.items():
            for run, digest in runs.items():
                key = (lab, run, cell.versions.get("kernel", ""), cell.toolset)
                digests.setdefault(key, {}).setdefault(digest, []).append(str(name))
    return [
        f"{lab}, {run}, kernel {release}: "
        + "; ".join(f"{digest[:12]} in {', '.join(names)}" for digest, names in by_digest.items())
        for (lab, run, release, _), by_digest in digests.items()
        if len(by_digest) > 1
    ]
