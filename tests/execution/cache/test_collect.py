"""Removing: the right results go, and it is told what that frees."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.execution.cache import ResultCache, RetentionPolicy, collect
from longfat.model.case import Case
from tests.execution.runs.test_runs import keep

MakeCase = Callable[..., Case]


@pytest.fixture
def cache(tmp_path: Path, make_case: MakeCase, kernel: Kernel) -> ResultCache:
    """Remember four results of 1,000 bytes; that of seed K was last used at K seconds."""
    cache = ResultCache()
    other = replace(kernel, digest="f" * 64, release="6.12.1")
    for seed in (1, 2, 3, 4):
        run = keep(
            tmp_path / "runs",
            make_case(seed=seed),
            other if seed == 3 else kernel,
            text=str(seed) * 1000,
        )
        cache.put(run)
        os.utime(cache.place(run.key), (seed, seed))
    return cache


def seeds(rule: RetentionPolicy, cache: ResultCache) -> list[int]:
    return [entry.seed for entry in rule.expired(cache.entries())]


def test_what_a_rule_forgets(cache: ResultCache, kernel: Kernel) -> None:
    assert {entry.disk_bytes for entry in cache.entries()} == {1000}
    assert seeds(RetentionPolicy(), cache) == []
    assert seeds(RetentionPolicy(keep_bytes=2500), cache) == [1, 2]
    assert seeds(RetentionPolicy(keep_bytes=0), cache) == [1, 2, 3, 4]
    assert seeds(RetentionPolicy(used_before_s=3.0), cache) == [1, 2]
    assert seeds(RetentionPolicy(kernels={kernel.digest}), cache) == [3]
    # What goes for another reason takes no room of what is kept.
    assert seeds(RetentionPolicy(kernels={kernel.digest}, keep_bytes=2500), cache) == [1, 3]


def test_a_recall_counts_as_use(cache: ResultCache, tmp_path: Path) -> None:
    (first,) = (entry for entry in cache.entries() if entry.seed == 1)
    cache.get(first.key, out=tmp_path / "out", name="x", study="", parameters={})
    assert seeds(RetentionPolicy(keep_bytes=1000), cache) == [2, 3, 4]


def test_what_is_freed_is_told(cache: ResultCache, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "runs" / "case-seed1")
    entries = RetentionPolicy(used_before_s=3.0).expired(cache.entries())
    tried = collect(cache, entries, dry_run=True)
    assert len(list(cache.entries())) == 4
    done = collect(cache, entries)
    assert tried == done
    assert (done.results, done.freed_bytes, done.held_bytes) == (2, 1000, 1000)
    assert [entry.seed for entry in sorted(cache.entries(), key=lambda e: e.seed)] == [3, 4]
    assert (tmp_path / "runs" / "case-seed2" / "raw" / "a.txt").read_text() == "2" * 1000
