"""A real run of three flows whose connections are easily taken for each other's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longfat.analysis.timeseries.live import LiveRun, Plan, plan_watch
from longfat.model.case import Case
from tests.paths import TESTS

DATA = TESTS / "data/watch"


@pytest.fixture
def case() -> Case:
    return Case.from_json(json.loads((DATA / "case.json").read_text()))


@pytest.fixture
def plan(case: Case) -> Plan:
    return plan_watch(case)


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    return Growing(tmp_path / "run")


class Growing:
    """A run folder whose samples grow in steps."""

    names = ("queue.samples", "tcp.samples")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "raw").mkdir(parents=True)

    def grow(self, share: float) -> None:
        for name in self.names:
            content = (DATA / name).read_bytes()
            with (self.folder / "raw" / name).open("ab") as file:
                file.write(content[file.tell() : round(share * len(content))])


@pytest.fixture
def whole(plan: Plan, growing: Growing) -> LiveRun:
    """What is known at the run's end."""
    growing.grow(1)
    live = LiveRun(plan)
    live.folder = growing.folder
    live.poll()
    return live
