"""Six exercises: honest solutions have their points, however they are made, and cheats none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from longfat.execution.cache import ResultCache
from longfat.execution.tools import Toolbox
from longfat_class.analysis import Graded, Player, Submission, grade
from longfat_class.study import Grading, read_grading
from tests.longfat_class.analysis.six_cheats import CHEATS
from tests.longfat_class.analysis.six_exercises import FILES, GRADING, HONEST, STUDY

pytestmark = pytest.mark.slow

# What a cheat that does not even run is refused with.
_BROKEN = ("expected a line", "SyntaxError", "Traceback", "exited with status", "not found")


@pytest.fixture(scope="module")
def grading(tmp_path_factory: pytest.TempPathFactory) -> Grading:
    folder = tmp_path_factory.mktemp("lab")
    (folder / "study.yaml").write_text(STUDY)
    (folder / "grading.yaml").write_text(GRADING)
    return read_grading(folder)


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Player]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LONGFAT_RESULT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield Player(ResultCache(), Toolbox())


def graded(
    ways: Mapping[str, Mapping[str, str]], grading: Grading, *, player: Player, out: Path
) -> dict[str, Graded]:
    """Grade submissions of one exercise each."""

    def one(exercise: str, number: int, text: str) -> Graded:
        folder = out / f"{exercise}{number}"
        folder.mkdir(parents=True)
        (folder / FILES[exercise]).write_text(text)
        submission = Submission(student="me", folder=folder, seed=5)
        return grade(submission, grading, player=player, exercises=[exercise])

    with ThreadPoolExecutor(max_workers=2) as threads:
        begun = {
            f"{exercise}, {name}": threads.submit(one, exercise, number, text)
            for exercise, texts in ways.items()
            for number, (name, text) in enumerate(texts.items())
        }
        return {name: future.result() for name, future in begun.items()}


def test_honest_solutions_have_their_points(
    grading: Grading, player: Player, tmp_path: Path
) -> None:
    assert sum(map(len, HONEST.values())) >= 30
    done = graded(HONEST, grading, player=player, out=tmp_path)
    lost = {
        name: (one.failure, one.scores[0].reasons) for name, one in done.items() if not one.total
    }
    assert lost == {}
    noted = {name: one.findings for name, one in done.items() if one.findings}
    assert noted == {}


def test_cheats_have_none(grading: Grading, player: Player, tmp_path: Path) -> None:
    kinds = {kind for cheats in CHEATS.values() for kind, _ in cheats.values()}
    assert sum(map(len, CHEATS.values())) >= 60
    assert len(kinds) >= 10
    texts = {
        exercise: {name: text for name, (_, text) in cheats.items()}
        for exercise, cheats in CHEATS.items()
    }
    done = graded(texts, grading, player=player, out=tmp_path)
    assert [name for name, one in done.items() if one.total or one.failure] == []
    reasons = {
        name: " ".join(one.scores[0].reasons)
        for name, one in done.items()
        if name != "carried, forges its report"
    }
    broken = {
        name: words for name, words in reasons.items() if any(text in words for text in _BROKEN)
    }
    assert broken == {}
