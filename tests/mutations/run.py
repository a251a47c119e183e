"""Put changed samples of a kind through its reader, and count what comes of them."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from longfat.errors import LongfatError
from tests.mutations.kinds import KINDS

SLOW_S = 10.0
MAX_MEMORY_BYTES = 1 << 30


@dataclass(slots=True)
class Counted:
    """What came of a kind.

    Attributes:
        read: how many were read.
        refused: how many were refused.
        findings: the last line of each traceback and where it was raised, with how many there
            were, and the first seed.
        slowest_s: the longest that one took, in seconds of CPU time.
    """

    read: int = 0
    refused: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    seeds: dict[str, int] = field(default_factory=dict)
    slowest_s: float = 0.0

    def add(self, other: Counted) -> None:
        """Add the counts of others."""
        self.read += other.read
        self.refused += other.refused
        self.findings.update(other.findings)
        self.seeds = {**other.seeds, **self.seeds}
        self.slowest_s = max(self.slowest_s, other.slowest_s)


@contextmanager
def _scratch() -> Iterator[Path]:
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as name:
        yield Path(name)


def run_kind(name: str, *, count: int, seed: int) -> Counted:
    """Read changed samples of a kind.

    Args:
        name: the kind.
        count: how many.
        seed: of the first; each has the next one.
    """
    kind = KINDS[name]
    samples = kind.samples()
    counted = Counted()
    with _scratch() as scratch:
        for one in range(seed, seed + count):
            chance = random.Random(f"{name} {one}")
            sample = chance.choice(samples)
            content = kind.mutate(chance, sample)
            folder = scratch / "x"
            folder.mkdir()
            start_s = time.process_time()
            try:
                kind.read(folder, content)
                counted.read += 1
            except LongfatError:
                counted.refused += 1
            except Exception as error:
                *_, last = traceback.extract_tb(error.__traceback__)
                where = (
                    f"{type(error).__name__} {str(error)[:80]!r} in {last.filename}:{last.lineno}"
                )
                counted.findings[where] += 1
                counted.seeds.setdefault(where, one)
            took_s = time.process_time() - start_s
            counted.slowest_s = max(counted.slowest_s, took_s)
            if took_s > SLOW_S:
                counted.findings[f"took {took_s:.0f} s"] += 1
                counted.seeds.setdefault(f"took {took_s:.0f} s", one)
            shutil.rmtree(folder)
    return counted
