"""What is left after a kill: processes, files, partial runs, damaged results."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from longfat.errors import InputError
from longfat.execution.cache import ResultCache
from longfat.execution.runs import load_run
from longfat.execution.runs.run import damage
from tests.killing.isolation import strangers
from tests.killing.processes import Process, living

_GONE_WITHIN_S = 20.0

KINDS = ("process", "partial", "tmp", "shm", "cache", "digest")
"""What there can be of leftovers, in the table's order."""

# There by design: a lock, a note of a result and of a report, what a failing test leaves.
_HIDDEN_BY_DESIGN = (".lock", ".cached.json", ".report.json", ".longfat")


@dataclass(frozen=True, slots=True)
class Leftover:
    """One thing that should not be there.

    Attributes:
        kind: one of `KINDS`.
        what: which.
    """

    kind: str
    what: str


def wait_for_none() -> list[Process]:
    """Wait until all processes have ended, for a while; return those that have not."""
    end_s = time.monotonic() + _GONE_WITHIN_S
    while (left := living()) and time.monotonic() < end_s:
        time.sleep(0.02)
    return left


def find_leftovers(folder: Path, *, digests: dict[int, str]) -> list[Leftover]:
    """Wait for processes to end, and look for what is left.

    Args:
        folder: the folder that longfat worked in, with `out` and `cache`.
        digests: what the runs of the study have, by their seeds; those that are not
            there yet are added.
    """
    found = [Leftover("process", one.command or one.name) for one in wait_for_none()]
    for path in strangers():
        found.append(Leftover("shm" if path.is_relative_to("/dev") else "tmp", str(path)))
    found += _partials(folder)
    found += _damage(folder)
    found += _wrong(folder / "out", digests)
    return found


def _partials(folder: Path) -> Iterator[Leftover]:
    for path in sorted(folder.rglob(".*")):
        if path.name not in _HIDDEN_BY_DESIGN:
            yield Leftover("partial", str(path.relative_to(folder)))


def _damage(folder: Path) -> Iterator[Leftover]:
    """Yield the results of a cache that cannot be had from it as they were put there."""
    cache = folder / "memory"
    for place in sorted(cache.glob("??/*")):
        said: list[str] = []
        run = ResultCache(cache, report=said.append).get(
            place.name,
            out=folder / "cached",
            name="cached",
            study="",
            parameters={},
        )
        if run is None or said or damage(run):
            yield Leftover("cache", f"{place.name}: {' '.join(said)}")


def _wrong(out: Path, digests: dict[int, str]) -> Iterator[Leftover]:
    """Yield run directories that are not whole, or are not what they always were."""
    for folder in sorted(out.glob("*-seed*")):
        try:
            run = load_run(folder)
        except (InputError, OSError) as error:
            yield Leftover("partial", f"{folder.name}: {error}")
            continue
        wanted = digests.setdefault(run.seed, run.digest)
        if damage(run) or run.digest != wanted:
            yield Leftover("digest", f"{folder.name}: {run.digest}, and {wanted} before")
