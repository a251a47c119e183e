"""Parts of every kind: networks of MiniEdit and of studies, reports of real machines, seeds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longfat.execution.cache import ResultCache
from longfat.execution.tools import Toolbox
from longfat.study.formats.convert import convert_text
from longfat_class.analysis import CHECKS, Graded, Player, Submission, grade, seed_of
from longfat_class.study import read_grading
from longfat_class.study.model import CHECKS as NAMES
from tests.longfat_class.analysis.class_of_students import REPORT, TEMPLATE
from tests.paths import REPOSITORY

LAB = """\
title: A lab
study: study.yaml
parts:
  drawn: {network: drawn.mn, case: bare, rate: 500mbit}
  other: {network: other.yaml, case: bare}
  rivals: {iperf3: [reno.json, cubic.json], rate: 1gbit}
  answers: {answers: answers.yaml}
  lines: {setup: lines.yaml, case: bare, rate: 500mbit}
exercises:
"""


@pytest.fixture
def graded(tmp_path: Path) -> Callable[..., Graded]:
    """Grade a submission of some files by some exercises."""
    shutil.copy(TEMPLATE / "instructor" / "study.yaml", tmp_path)
    (tmp_path / "alice").mkdir()

    def run(exercises: str, *, seed: int = 1, **files: str) -> Graded:
        (tmp_path / "grading.yaml").write_text(LAB + exercises)
        for name, text in files.items():
            stem, _, suffix = name.rpartition("_")
            (tmp_path / "alice" / f"{stem}.{suffix}").write_text(text)
        submission = Submission(student="alice", folder=tmp_path / "alice", seed=seed)
        player = Player(ResultCache(), Toolbox())
        return grade(submission, read_grading(tmp_path), player=player)

    return run


def reasons(found: Graded) -> str:
    return " | ".join(reason for score in found.scores for reason in score.reasons)


SHAPED = """\
title: A path
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1, s2]
  links:
    - [h1, s1]
    - [s1, s2, {rate: 500mbit, delay: 50ms, queue: 15000000}]
    - [h2, s2]
"""


def test_a_drawing_is_played_with_the_labs_traffic(
    tmp_path: Path, graded: Callable[..., Graded]
) -> None:
    (tmp_path / "path.yaml").write_text(SHAPED)
    drawing = convert_text(tmp_path / "path.yaml", suffix=".mn").text
    exercise = "  e: {part: drawn, points: 1, checks: [shaper, rate], "
    exercise += "claim: 'within(drawn.ping.min, 100ms, 2%) and drawn.bulk.receiver > 50mbit'}\n"
    found = graded(exercise, drawn_mn=drawing)
    assert found.total == 1, reasons(found)
    found = graded(exercise, drawn_mn=drawing.replace('"bw": 500', '"bw": 100'))
    assert "has 100 Mbit/s, and the lab's 500 Mbit/s" in reasons(found)


def test_a_network_without_the_labs_hosts(graded: Callable[..., Graded]) -> None:
    text = SHAPED.replace("h2", "server")
    found = graded("  e: {part: other, points: 1, claim: other.ping.loss == 0}\n", other_yaml=text)
    assert "this network has no host 'h2' (its hosts: h1, server)" in reasons(found)


RIVALS = """\
  e:
    part: rivals
    points: 1
    claim: {both moved data: rivals.reno.receiver > 1mbit and rivals.cubic.receiver > 1mbit}
    checks: [algorithm, overlap, rate, figures]
"""


def report(congestion: str, *, started_s: int) -> str:
    data: dict[str, Any] = json.loads(REPORT.read_text())
    data["start"]["timestamp"]["timesecs"] = started_s
    data["end"]["sender_tcp_congestion"] = congestion
    return json.dumps(data)


def test_reports_of_real_machines(graded: Callable[..., Graded]) -> None:
    reno, cubic = (report(name, started_s=1_795_246_236) for name in ("reno", "cubic"))
    found = graded(RIVALS, reno_json=reno, cubic_json=cubic)
    assert found.total == 1, reasons(found)
    found = graded(RIVALS, reno_json=cubic, cubic_json=cubic)
    assert "the report is called reno, and its sender used cubic" in reasons(found)
    later = report("cubic", started_s=1_795_246_246)
    found = graded(RIVALS, reno_json=reno, cubic_json=later)
    assert "cubic from 10.0 to 13.0 s: one after the other" in reasons(found)


def test_the_key_is_a_run_with_the_students_seed(graded: Callable[..., Graded]) -> None:
    exercise = (
        "  e: {part: answers, points: 1, answer: key-lossy.bulk.receiver, unit: mbit, "
        "tolerance: 1%}\n"
    )
    keys = set()
    for seed in (seed_of("alice"), seed_of("bob")):
        wrong = graded(exercise, seed=seed, answers_yaml="e: 1 mbit\n")
        assert wrong.total == 0
        keys.add(key := wrong.scores[0].key)
        right = graded(exercise, seed=seed, answers_yaml=f"e: {key}\n")
        assert right.total == 1, reasons(right)
    assert len(keys) == 2


def test_files_of_comments_are_files_in_which_nothing_was_filled_in(
    graded: Callable[..., Graded],
) -> None:
    exercises = (
        "  e: {part: lines, points: 1, claim: lines.ping.min > 90ms}\n"
        "  a: {part: answers, points: 1, answer: 500mbit * 100ms, unit: MB}\n"
    )
    found = graded(exercises, lines_yaml="# Yours:\n# - h1: ...\n", answers_yaml="# a:\n")
    assert "nothing on the path of bulk limits its rate" in reasons(found)
    assert reasons(found).endswith("not answered")


def test_every_check_is_documented_and_explained() -> None:
    page = (REPOSITORY / "docs" / "class.md").read_text()
    assert tuple(CHECKS) == NAMES
    for name, check in CHECKS.items():
        assert f"| `{name}` |" in page
        assert len(check.explanation) > 200


def test_an_interrupt_ends_it_and_leaves_nothing(tmp_path: Path) -> None:
    shutil.copytree(TEMPLATE, tmp_path / "lab")
    shutil.copytree(TEMPLATE / "instructor" / "solution", tmp_path / "alice")
    (tmp_path / "alice" / "path.yaml").write_text(
        (tmp_path / "alice" / "path.yaml").read_text() + '- h1: "while :; do :; done"\n'
    )
    (tmp_path / "tmp").mkdir()
    code = "from longfat.cli.main import main; main()"
    words = [sys.executable, "-c", code, "grade", "alice", "--against", "lab", "--exercise", "path"]
    words.append("--no-cache")
    process = subprocess.Popen(
        words,
        cwd=tmp_path,
        env={"TMPDIR": str(tmp_path / "tmp"), "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
        | {"HOME": str(Path.home())},
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(4)
    process.send_signal(2)
    sent_s = time.monotonic()
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130, errors
    assert time.monotonic() - sent_s < 8  # and not when the submission's own limit ends it
    assert "Traceback" not in errors
    deadline_s = time.monotonic() + 10
    while list((tmp_path / "tmp").iterdir()) and time.monotonic() < deadline_s:
        time.sleep(0.1)
    assert list((tmp_path / "tmp").iterdir()) == []
