"""Forgetting: the right results go, and it is told what that frees."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.execution.cache import Memory, Rule, collect
from longfat.model.case import Case
from tests.execution.runs.test_runs import keep

MakeCase = Callable[..., Case]


@pytest.fixture
def memory(tmp_path: Path, make_case: MakeCase, kernel: Kernel) -> Memory:
    """Remember four results of 1,000 bytes; that of seed K was last used at K seconds."""
    memory = Memory()
    other = replace(kernel, digest="f" * 64, release="6.12.1")
    for seed in (1, 2, 3, 4):
        run = keep(
            tmp_path / "runs",
            make_case(seed=seed),
            other if seed == 3 else kernel,
            text=str(seed) * 1000,
        )
        memory.remember(run)
        os.utime(memory.place(run.key), (seed, seed))
    return memory


def seeds(rule: Rule, memory: Memory) -> list[int]:
    return [entry.seed for entry in rule.forgets(memory.entries())]


def test_what_a_rule_forgets(memory: Memory, kernel: Kernel) -> None:
    assert {entry.disk_bytes for entry in memory.entries()} == {1000}
    assert seeds(Rule(), memory) == []
    assert seeds(Rule(keep_bytes=2500), memory) == [1, 2]
    assert seeds(Rule(keep_bytes=0), memory) == [1, 2, 3, 4]
    assert seeds(Rule(used_before_s=3.0), memory) == [1, 2]
    assert seeds(Rule(kernels={kernel.digest}), memory) == [3]
    # What goes for another reason takes no room of what is kept.
    assert seeds(Rule(kernels={kernel.digest}, keep_bytes=2500), memory) == [1, 3]


def test_a_recall_counts_as_use(memory: Memory, tmp_path: Path) -> None:
    (first,) = (entry for entry in memory.entries() if entry.seed == 1)
    memory.recall(first.key, out=tmp_path / "out", name="x", study="", parameters={})
    assert seeds(Rule(keep_bytes=1000), memory) == [2, 3, 4]


def test_what_is_freed_is_told(memory: Memory, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "runs" / "case-seed1")
    entries = Rule(used_before_s=3.0).forgets(memory.entries())
    tried = collect(memory, entries, dry_run=True)
    assert len(list(memory.entries())) == 4
    done = collect(memory, entries)
    assert tried == done
    assert (done.results, done.freed_bytes, done.held_bytes) == (2, 1000, 1000)
    assert [entry.seed for entry in sorted(memory.entries(), key=lambda e: e.seed)] == [3, 4]
    assert (tmp_path / "runs" / "case-seed2" / "raw" / "a.txt").read_text() == "2" * 1000
