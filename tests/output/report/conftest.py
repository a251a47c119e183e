"""Real runs of Lab 8, of odd cases and of several seeds, captured from kernel 6.1.192."""

import pytest

from longfat.analysis.verdict import Verdict, judge
from longfat.execution.runs import load_run
from longfat.study import read_study
from tests.paths import TESTS

RUNS = TESTS / "data" / "runs"


def captured(name: str) -> Verdict:
    folder = RUNS / name
    study = read_study(folder)
    runs = {
        name: [load_run(folder / f"{name}-seed{case.seed}") for case in planned.seeded()]
        for name, planned in study.cases.items()
    }
    return judge(study, runs)


@pytest.fixture(scope="session")
def lab08() -> Verdict:
    return captured("lab08")


@pytest.fixture(scope="session")
def many() -> Verdict:
    return captured("many")


@pytest.fixture(scope="session")
def seeded() -> Verdict:
    return captured("seeded")
