"""Run what the README promises on fresh roots, and record the measurements.

A cell is a root (a release of Debian or Ubuntu, or `bare`), a user and what is run:

* `lab`: `make lab` in a clone of this repository's HEAD;
* `lab-main`: the same, where apt's list has the release's main archive and nothing else, as
  debootstrap(8) leaves it;
* `wheels`: pip installs the wheels in `dist` where Python is installed and nothing else, and
  `longfat run` runs two labs;
* `wheels-bubblewrap`: the same with bubblewrap, and so in the sandbox of namespaces;
* `test`: `make test` in such a clone.

Each has a root of its own (`tools.roots`, `tools.bare`), with nothing in it but the smallest
base and what the README requires: git, make, and sudo for the ordinary user; for wheels
Python with venv.

The digests of the labs' runs are compared between all cells. Results are kept in a file,
so that several calls make one table:

    sudo .venv/bin/python -m tools.matrix --release trixie --what lab,wheels
    .venv/bin/python -m tools.matrix --table

It needs root, debootstrap and overlayfs. It ends with 0 if all cells passed and have the same
digests, 1 if not, 2 if it was called wrongly, 3 if the host lacks something, 130 if interrupted.
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
from typing import NoReturn

from tools.bare import BARE, BareRoot, make_bare
from tools.matrix_results import (
    LABS,
    MAIN_ONLY,
    PIP,
    ROOTS,
    USERS,
    WHATS,
    WHEELS,
    WHEELS_AND_BUBBLEWRAP,
    Cell,
    Name,
    differences,
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
    run,
)

_TOP = Path(__file__).parents[1]
# argparse ends with 2 by itself.
_GOOD, _FAILED, _HOST, _INTERRUPTED = 0, 1, 3, 130
_FIRST_TABLE_S = 30
_BASE_S = 1800.0

_FOR_SOURCE = ("git", "make")
_FOR_WHEELS = ("python3", "python3-venv")
_BUBBLEWRAP = "bubblewrap"
# What a cell of wheels must be without: neither compilers nor the programs of machines.
_PYTHON_ALONE = """\
for program in gcc cc c++ clang tcc make iperf3 tc ping {further}; do
    for folder in /usr/local/bin /usr/local/sbin /usr/bin /usr/sbin /bin /sbin; do
        if [ -e $folder/$program ]; then echo "$folder/$program"; exit 1; fi
    done
done
"""
_INSTALL = """\
python3 -m venv venv
cd /mnt/wheels
~/venv/bin/python -m pip install "$(ls longfat-*.whl)[lab]" longfat_kernel_6_1-*.whl \
    longfat_tools-*.whl
"""
_FACTS = """\
{python} - <<'END'
import platform
print("python", platform.python_version())
print("libc", *platform.libc_ver())
END
"""
_WHEELS = ("longfat-*.whl", "longfat_kernel_6_1-*.whl", "longfat_tools-*.whl")


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
            if self.name.what in (WHEELS, WHEELS_AND_BUBBLEWRAP):
                self._wheels()
            else:
                self._source()

    def _wheels(self) -> None:
        folder = self.root.host / "wheels"
        folder.mkdir()
        for pattern in _WHEELS:
            (wheel,) = self.plan.wheels.glob(pattern)
            shutil.copy(wheel, folder)
            self.cell.wheels[wheel.name] = hashlib.sha256(wheel.read_bytes()).hexdigest()
        has_bubblewrap = self.name.what == WHEELS_AND_BUBBLEWRAP
        packages = (*_FOR_WHEELS, _BUBBLEWRAP) if has_bubblewrap else _FOR_WHEELS
        self._prepare(packages, sudo=False)
        further = "" if has_bubblewrap else "bwrap"
        self._step("Python alone", _PYTHON_ALONE.format(further=further))
        self._step(PIP, _INSTALL, counts=True)
        first, *others = LABS
        self._judged(
            f"longfat run {first}",
            f"venv/bin/longfat run {first}",
            self._hear_run,
            place=".",
            python="venv/bin/python",
        )
        for lab in others:
            self._step(f"longfat run {lab}", f"venv/bin/longfat run {lab}")
        self._note_runs(".")

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
        script = self.root.preparation(packages, sudo=sudo)
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
        """Note the versions, and the digests of the runs of labs."""

        def hear(_seconds: float, line: str) -> None:
            name, _, version = line.partition(" ")
            if name in {"python", "libc"} and version:
                self.cell.versions[name] = version

        self.cell.versions["host"] = os.uname().release
        self._step("versions", f"cd {place}\n{_FACTS.format(python=python)}", heard=hear)
        self._note_runs(place)

    def _note_runs(self, place: str) -> None:
        runs = self.root.on_host(f"{self.root.home}/{place}/runs")
        for path in sorted(runs.glob("lab*/*/manifest.json")):
            manifest = json.loads(path.read_text())
            lab, run = path.parts[-3:-1]
            self.cell.runs.setdefault(lab, {})[run] = manifest["digest"]
            self.cell.kernel = manifest["kernel"]["digest"]
            self.cell.versions["kernel"] = manifest["kernel"]["release"]
            self.cell.toolset = manifest["tools"]["toolset"]["digest"]
            self.cell.sandbox = manifest["sandbox"]


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
        watch = Watch(most_s=_BASE_S, waiting=wait)
        if name.release == BARE:
            make_bare(cache, log=log, watch=watch)
        else:
            cache.make_base(log=log, watch=watch)
        only_main = name.what == MAIN_ONLY
        kind = BareRoot if name.release == BARE else Root
        root = kind(cache=cache, user=USERS[name.user], log=log, only_main=only_main)
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
        if name.what in (WHEELS, WHEELS_AND_BUBBLEWRAP):
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
        description="Run longfat on fresh roots. Lists take commas.",
    )
    add = parser.add_argument
    add("--release", type=_some(ROOTS), default=list(ROOTS), help=", ".join(ROOTS))
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
    for pattern in _WHEELS:
        needed = {WHEELS, WHEELS_AND_BUBBLEWRAP} & set(chosen.what)
        if needed and len(list(wheels.glob(pattern))) != 1:
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
        if _is_possible(name := Name(*one))
    ]
    failed = False
    for name in names:
        cell = _try(plan, name)
        say(_verdict(name, cell))
        failed |= bool(cell.failed)
    results = read_results(plan.results)
    print(table(results), end="")
    for difference in differences(results):
        say(f"other bytes: {difference}")
        failed = True
    return _FAILED if failed else _GOOD


def _is_possible(name: Name) -> bool:
    """Return whether a root has what a cell needs."""
    if name.release == BARE:
        return name.what == WHEELS
    # Ubuntu's main archive alone lacks what `make lab` installs.
    return name.what != MAIN_ONLY or RELEASES[name.release].id == "debian"


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
