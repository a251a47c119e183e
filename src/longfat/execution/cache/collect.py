"""Garbage collection: old results, those of removed kernels, and too many.

Results are selected by when each was last used, so that a study
that is run every day is not dropped for one that was run once.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from longfat.execution.cache.entry import Entry
    from longfat.execution.cache.store import ResultCache


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """Which results to remove; each part that is None selects nothing.

    Attributes:
        keep_bytes: of the others, the last used results are kept up to this size, in bytes.
        used_before_s: results last used before this time go, in seconds since 1970.
        kernels: results of kernels with other digests than these go.
    """

    keep_bytes: float | None = None
    used_before_s: float | None = None
    kernels: Container[str] | None = None

    def expired(self, entries: Iterable[Entry]) -> list[Entry]:
        """Return the entries to remove, the least recently used first."""
        gone = []
        size = 0.0
        for entry in sorted(entries, key=lambda entry: (-entry.used_s, entry.key)):
            old = self.used_before_s is not None and entry.used_s < self.used_before_s
            orphaned = self.kernels is not None and entry.kernel_digest not in self.kernels
            size += 0 if old or orphaned else entry.disk_bytes
            if old or orphaned or (self.keep_bytes is not None and size > self.keep_bytes):
                gone.append(entry)
        return gone[::-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """The result of a garbage collection.

    Attributes:
        results: the number of removed results.
        freed_bytes: the disk space that this frees now, in bytes.
        held_bytes: the size of their files that run directories still contain.
    """

    results: int
    freed_bytes: int
    held_bytes: int


def collect(cache: ResultCache, entries: Iterable[Entry], *, dry_run: bool = False) -> Collected:
    """Remove results.

    Args:
        cache: the cache.
        entries: what to remove.
        dry_run: only return what would be removed.

    Raises:
        HostError: one cannot be removed.
    """
    results = freed = held = 0
    for entry in entries:
        for name in entry.files:
            with contextlib.suppress(OSError):
                about = (entry.folder / name).stat()
                freed += about.st_size if about.st_nlink == 1 else 0
                held += about.st_size if about.st_nlink > 1 else 0
        if not dry_run:
            cache.remove(entry.key)
        results += 1
    return Collected(results=results, freed_bytes=freed, held_bytes=held)
