"""Real runs of Lab 8, of odd cases and of several seeds, captured from kernel 6.1.192."""

import shutil
from pathlib import Path

import pytest

from longfat.analysis.verdict import Verdict, evaluate
from longfat.execution.runs import load_run
from longfat.output.report.files import write_report
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
    return evaluate(study, runs)


@pytest.fixture(scope="session")
def lab08() -> Verdict:
    return captured("lab08")


@pytest.fixture(scope="session")
def many() -> Verdict:
    return captured("many")


@pytest.fixture(scope="session")
def seeded() -> Verdict:
    return captured("seeded")


@pytest.fixture(scope="session")
def lab08_report(lab08: Verdict, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of Lab 8, to be looked at; to make one takes seconds."""
    folder = tmp_path_factory.mktemp("lab08") / "report"
    write_report(lab08, folder)
    return folder


@pytest.fixture
def own_report(lab08_report: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(lab08_report, tmp_path / "report"))
