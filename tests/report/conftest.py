"""Real runs of Lab 8 and of a study of odd cases, captured from kernel 6.1.192."""

from pathlib import Path

import pytest

from longfat.runs import load_run
from longfat.study import read_study
from longfat.verdict import Verdict, judge

RUNS = Path(__file__).parents[1] / "data" / "runs"


def captured(name: str) -> Verdict:
    folder = RUNS / name
    study = read_study(folder)
    return judge(study, {case: load_run(folder / f"{case}-seed1") for case in study.cases})


@pytest.fixture(scope="session")
def lab08() -> Verdict:
    return captured("lab08")


@pytest.fixture(scope="session")
def many() -> Verdict:
    return captured("many")
