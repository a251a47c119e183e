"""Try what the README promises on fresh Debian and Ubuntu machines, and keep what was measured.

A cell is a release, a user and what is tried:

* `lab`: `make lab` in a clone of this repository's HEAD;
* `lab-main`: the same, where apt's list has the release's main archive and nothing else, as
  debootstrap(8) leaves it;
* `wheels`: pip installs the wheels in `dist` where there is no compiler, and
  `longfat run lab08` runs;
* `test`: `make test` in such a clone.

Each has a root of its own (`tools.roots`), with nothing in it but the smallest
base and what the README asks for: git, make, and sudo for the ordinary user. Wheels
get the programs that `longfat doctor` names, and Python.

Results are kept in a file, so that several calls make one table:

    sudo .venv/bin/python -m tools.matrix --release trixie --what lab,wheels
    .venv/bin/python -m tools.matrix --table

It needs root, debootstrap and overlayfs. It ends with 0 if all cells passed, 1 if one
failed, 2 if it was called wrongly, 3 if the host lacks something, 130 if interrupted.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from tools.matrix_results import (
    MAIN_ONLY,
    PIP,
    USERS,
    WHATS,
    Cell,
    Name,
    keep_result,
    read_results,
    table,
)
from tools.releases import RELEASES, HostError
from tools.roots import (
    Cache,
    Heard,
    Root,
    Watch,
    preparation,
    run,
)

_TOP = Path(__file__).parents[1]
# argparse ends with 2 by itself.
_GOOD, _FAILED, _HOST, _INTERRUPTED = 0, 1, 3, 130
_FIRST_TABLE_S = 30
_CASE = "default"
_BASE_S = 1800.0

_FOR_SOURCE = ("git", "make")
# What `longfat doctor` names, without what compiles.
_FOR_WHEELS = (
    *("python3", "python3-venv", "bubblewrap", "iproute2", "iperf3", "iputils-ping", "procps"),
    *("tcpdump", "libpango-1.0-0", "libpangoft2-1.0-0", "fonts-dejavu-core"),
)
_NO_COMPILER = "! command -v gcc cc c++ clang tcc make"
_INSTALL = """\
python3 -m venv venv
cd /mnt/wheels
~/venv/bin/python -m pip install "$(ls longfat-*.whl)[lab]" longfat_kernel_6_1-*.whl
"""
_FACTS = """\
PATH="$PATH:/usr/sbin:/sbin"
echo "python $({python} -c 'import platform; print(platform.python_version())')"
echo "iperf3 $(iperf3 --version | sed -n '1s/^iperf \\([^ ]*\\).*/\\1/p')"
echo "libc $(getconf GNU_LIBC_VERSION)"
"""


class CellFailedError(Exception):
    """A step of a cell did not do what it should."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What all cells of a call have in common.

    Attributes:
        cache: the folder of `tools.roots.Cache`.
        results: the folder of results and logs.
        wheels: the folder of wheels.
        share_kernels: whether a cell may use kernels that another built.
        most_s: after how many seconds a step has failed.
    """

    cache: Path
    results: Path
    wheels: Path
    share_kernels: bool
    most_s: float


@dataclass(slots=True, kw_only=True)
class Trial:
    """A cell that is being tried.

    Attributes:
        plan: see there.
        name: which cell.
        cell: what came of it so far.
        root: where it is tried.
    """

    plan: Plan
    name: Name
    cell: Cell
    root: Root
    _last: str = ""

    def run(self) -> None:
        """Try it.

        Raises:
            CellFailedError: a step failed.
            HostError: the root could not be got ready.
        """
        with self.root.entered():
            if self.name.what == "wheels":
                self._wheels()
            else:
                self._source()

    def _wheels(self) -> None:
        folder = self.root.host / "wheels"
        folder.mkdir()
        for wheel in sorted(self.plan.wheels.glob("longfat*.whl")):
            shutil.copy(wheel, folder)
            self.cell.wheels[wheel.name] = hashlib.sha256(wheel.read_bytes()).hexdigest()
        self._prepare(_FOR_WHEELS, sudo=False)
        self._step("no compiler", _NO_COMPILER)
        self._step(PIP, _INSTALL, counts=True)
        self._judged(
            "longfat run lab08",
            "venv/bin/longfat run lab08",
            self._hear_run,
            place=".",
            python="venv/bin/python",
        )

    def _source(self) -> None:
        clone = [
            "git",
            "clone",
            "--quiet",
            "--no-hardlinks",
            str(_TOP),
            str(self.root.host / "longfat"),
        ]
        if (done := subprocess.run(clone, check=False, capture_output=True, text=True)).returncode:
            raise HostError(f"git clone: {done.stderr.strip()}")
        kernels = self.root.cache.kernels
        self.cell.shared_kernels = self.plan.share_kernels and kernels.exists()
        if self.cell.shared_kernels:
            shutil.copytree(kernels, self.root.host / "home/.cache/longfat", symlinks=True)
        self._prepare((*_FOR_SOURCE, "sudo", "ca-certificates"), sudo=self.name.user != "root")
        self._step("clone", "cp -r /mnt/longfat .")
        make = f"make {self.name.what.removesuffix('-main')}"
        heard = self._hear_tests if self.name.what == "test" else self._hear_run
        self._judged(make, make, heard, place="longfat", python=".venv/bin/python")
        if self.plan.share_kernels:
            self.root.cache.keep_kernels(self.root.on_host(f"{self.root.home}/.cache/longfat"))

    def _judged(self, what: str, script: str, heard: Heard, *, place: str, python: str) -> None:
        """Run what the cell is about, in a folder of the user's, and note all that came of it.

        Raises:
            CellFailedError: it failed.
        """
        try:
            self._step(what, f"cd {place}\n{script}", heard=heard, counts=True)
        except CellFailedError:
            self._note_facts(place, python)
            raise
        self._note_facts(place, python)

    def _prepare(self, packages: Sequence[str], *, sudo: bool) -> None:
        script = preparation(USERS[self.name.user], packages, sudo=sudo)
        try:
            self._step("getting the root ready", script, user="root")
        except CellFailedError as error:
            raise HostError(f"{self.name}: {error}; see {self.root.log}") from error

    def _step(
        self,
        what: str,
        script: str,
        *,
        user: str = "",
        heard: Heard | None = None,
        counts: bool = False,
    ) -> None:
        """Run a script as the cell's user.

        Raises:
            CellFailedError: it failed.
        """
        say(f"{self.name}: {what}")
        with self.root.log.open("a") as log:
            log.write(f"\n=== {what}\n{script}\n===\n")

        def hear(seconds: float, line: str) -> None:
            self._last = line.strip() or self._last
            if heard:
                heard(seconds, line)

        def wait(seconds: float) -> None:
            say(f"{self.name}: {what}: {seconds:.0f} s: {self._last[:100]}")

        command = self.root.command(script, user=user or self.root.user)
        watch = Watch(most_s=self.plan.most_s, waiting=wait, heard=hear)
        ended = run(command, log=self.root.log, watch=watch)
        self.cell.steps[what] = (round(ended.wall_s, 1), round(ended.cpu_s, 1))
        if counts:
            self.cell.wall_s += ended.wall_s
            self.cell.cpu_s += ended.cpu_s
        if ended.status is None:
            raise CellFailedError(f"{what}: not done in {self.plan.most_s:.0f} s")
        if ended.status != 0:
            raise CellFailedError(f"{what}: exit status {ended.status}: {self._last[:200]}")

    def _hear_run(self, seconds: float, line: str) -> None:
        if self.cell.first_table_s is None and re.match(r"metric\s.*\bmeasured\b", line):
            self.cell.first_table_s = seconds
        if found := claims_in(line):
            self.cell.claims = found

    def _hear_tests(self, _seconds: float, line: str) -> None:
        if found := counts_in(line):
            if self.cell.tests:
                self.cell.again = found
            else:
                self.cell.tests = found

    def _note_facts(self, place: str, python: str) -> None:
        """Note the versions, and what is in the manifest of a run of Lab 8 if there is one."""

        def hear(_seconds: float, line: str) -> None:
            name, _, version = line.partition(" ")
            if name in {"python", "iperf3", "libc"} and version:
                self.cell.versions[name] = version

        self.cell.versions["host"] = os.uname().release
        self._step("versions", f"cd {place}\n{_FACTS.format(python=python)}", heard=hear)
        run_folder = self.root.on_host(f"{self.root.home}/{place}/runs/lab08/{_CASE}-seed1")
        manifest = run_folder / "manifest.json"
        if manifest.exists():
            found = json.loads(manifest.read_text())
            self.cell.digest, self.cell.files, self.cell.metrics = run_in(found)
            self.cell.versions["kernel"] = found["kernel"]["release"]
            self.cell.sandbox = found["sandbox"]


def claims_in(line: str) -> tuple[int, int] | None:
    """Return how many claims hold, and of how many, if a line of a report's says so."""
    found = re.match(r"Claims\s+(\d+) of (\d+) hold", line)
    return (int(found[1]), int(found[2])) if found else None


def counts_in(line: str) -> dict[str, int]:
    """Return what pytest counted, if a line is its last one; else nothing."""
    found = re.fullmatch(r"=+ (.+) in [\d.]+s(?: \([\d:]+\))? =+", line.strip())
    if not found:
        return {}
    return {word: int(count) for count, word in re.findall(r"(\d+) ([a-z]+)", found[1])}


def run_in(manifest: dict[str, Any]) -> tuple[str, dict[str, str], dict[str, float]]:
    """Return a run's digest, its raw files' checksums and its metrics."""
    files = manifest["files"].items()
    raw = {name: one["sha256"] for name, one in files if name.startswith("raw/")}
    return manifest["digest"], raw, manifest["metrics"]


def say(text: str) -> None:
    """Tell whoever waits."""
    print(text, file=sys.stderr, flush=True)


def _try(plan: Plan, name: Name) -> Cell:
    """Try a cell and keep what came of it.

    Raises:
        HostError: the host lacks something.
    """
    log = plan.results / "logs" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("")
    cache = Cache(folder=plan.cache, release=name.release)
    cell = Cell(commit=_commit(), cpus=os.cpu_count() or 0, load=os.getloadavg()[0])

    def wait(seconds: float) -> None:
        say(f"{name}: debootstrap: {seconds:.0f} s")

    with cache.reserved():
        say(f"{name}: log in {log}")
        cache.make_base(log=log, watch=Watch(most_s=_BASE_S, waiting=wait))
        only_main = name.what == MAIN_ONLY
        root = Root(cache=cache, user=USERS[name.user], log=log, only_main=only_main)
        try:
            Trial(plan=plan, name=name, cell=cell, root=root).run()
        except CellFailedError as error:
            cell.failed = str(error)
    keep_result(plan.results, name, cell)
    return cell


def _commit() -> str:
    command = ["git", "-C", str(_TOP), "rev-parse", "HEAD"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise HostError(f"git rev-parse: {done.stderr.strip()}")
    return done.stdout.strip()


def _verdict(name: Name, cell: Cell) -> str:
    parts = [f"failed: {cell.failed}" if cell.failed else "passed"]
    parts.append(f"{cell.wall_s:.0f} s, {cell.cpu_s:.0f} s of CPU")
    if cell.first_table_s is not None:
        within = "within" if cell.first_table_s <= _FIRST_TABLE_S else "not within"
        if name.what == "wheels":
            parts.append(
                f"first table after {cell.first_table_s:.1f} s, {within} {_FIRST_TABLE_S} s"
            )
    if cell.claims:
        parts.append(f"{cell.claims[0]} of {cell.claims[1]} claims hold")
    parts += [f"{count} {word}" for word, count in cell.tests.items()]
    return f"{name}: {'; '.join(parts)}"


def _some(allowed: Sequence[str]) -> Callable[[str], list[str]]:
    def chosen(text: str) -> list[str]:
        words = text.split(",")
        if strange := [word for word in words if word not in allowed]:
            raise argparse.ArgumentTypeError(f"{strange[0]!r} is none of {', '.join(allowed)}")
        return list(dict.fromkeys(words))

    return chosen


def _parser() -> argparse.ArgumentParser:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "longfat-matrix"
    parser = argparse.ArgumentParser(
        prog="python -m tools.matrix",
        description="Try longfat on fresh Debian and Ubuntu machines. Lists take commas.",
    )
    add = parser.add_argument
    add("--release", type=_some(tuple(RELEASES)), default=list(RELEASES), help=", ".join(RELEASES))
    add("--user", type=_some(tuple(USERS)), default=list(USERS), help="root, user")
    add("--what", type=_some(WHATS), default=list(WHATS), help=", ".join(WHATS))
    add("--cache", type=Path, default=cache, help="folder of bases and packages (%(default)s)")
    add("--results", type=Path, default=_TOP / "build/matrix", help="folder of results and logs")
    add("--wheels", type=Path, default=_TOP / "dist", help="folder of wheels, of `make dist`")
    add("--share-kernels", action="store_true", help="build a kernel in one cell of a release only")
    add(
        "--timeout", type=float, default=7200, metavar="S", help="the most for a step (%(default)s)"
    )
    add("--table", action="store_true", help="print the results as Markdown, and try nothing")
    return parser


def _interrupted(_number: int, _frame: object) -> NoReturn:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main(arguments: Sequence[str]) -> int:
    """Try the cells that the arguments choose, and return the exit status."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    if chosen.table:
        print(table(read_results(chosen.results)), end="")
        return _GOOD
    wheels = chosen.wheels.resolve()
    for pattern in ("longfat-*.whl", "longfat_kernel_6_1-*.whl"):
        if "wheels" in chosen.what and len(list(wheels.glob(pattern))) != 1:
            parser.error(f"{chosen.wheels} has not one file {pattern}: make dist")
    if os.geteuid() != 0:
        raise HostError("a root can be made by root alone: sudo")
    plan = Plan(
        cache=chosen.cache.resolve(),
        results=chosen.results.resolve(),
        wheels=wheels,
        share_kernels=chosen.share_kernels,
        most_s=chosen.timeout,
    )
    read_results(plan.results)  # what cannot be read is better known before the work than after
    names = [
        name
        for one in itertools.product(chosen.release, chosen.user, chosen.what)
        # Ubuntu's main archive alone lacks what the README needs, such as iperf3.
        if (name := Name(*one)).what != MAIN_ONLY or RELEASES[name.release].id == "debian"
    ]
    failed = False
    for name in names:
        cell = _try(plan, name)
        say(_verdict(name, cell))
        failed |= bool(cell.failed)
    print(table(read_results(plan.results)), end="")
    return _FAILED if failed else _GOOD


if __name__ == "__main__":
    for caught in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(caught, _interrupted)
    try:
        sys.exit(main(sys.argv[1:]))
    except (HostError, OSError) as error:
        say(f"error: {error}")
        sys.exit(_HOST)
    except KeyboardInterrupt:
        say("interrupted: nothing is left but finished cells")
        sys.exit(_INTERRUPTED)
