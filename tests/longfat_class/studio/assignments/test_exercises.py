"""Exercises in the studio: filled in, checked as `longfat grade` does, and nothing told of keys."""

from __future__ import annotations

import io
import json
import re
import shutil
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from longfat.errors import InputError
from longfat.studio.app import make_app
from longfat_class.analysis import seed_of
from longfat_class.studio.assignments.assignment import read_assignments
from longfat_class.studio.assignments.extension import ExerciseExtension
from tests.command import longfat
from tests.paths import REPOSITORY
from tests.studio.conftest import ORIGIN, SOCKET, TOKEN, keys_of_tests

TEMPLATE = REPOSITORY / "labs" / "templates" / "bdp"
LAB = "/api/labs/my-lab"

SECRET = "the secret of the instructor"
"""What stands in the instructor's folder wherever a text can stand that students never see."""

HIDDEN = f"""
  hidden_one:
    title: "{SECRET} title"
    part: answers
    points: 5
    answer: 12345.678 * 1mbit
    unit: mbit
    hidden: yes
    hint: "{SECRET} hint"
"""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A lab of an instructor, with a hidden question."""
    folder = tmp_path / "instructors" / "my-lab"
    shutil.copytree(TEMPLATE, folder)
    grading = folder / "instructor" / "grading.yaml"
    grading.write_text(f"# {SECRET}\n{grading.read_text()}{HIDDEN}")
    (folder / "instructor" / "notes.txt").write_text(SECRET)
    return folder


@pytest.fixture
def alice(tmp_path: Path, lab: Path, static: Path) -> Iterator[TestClient]:
    """The page of a student, whose workspace is called after her."""
    workspace = tmp_path / "alice"
    workspace.mkdir()
    keys = keys_of_tests()
    given = read_assignments([lab], workspace=workspace)
    extension = ExerciseExtension(given)
    app = make_app(workspace=workspace, keys=keys, static=static, extension=extension)
    with TestClient(app, base_url=ORIGIN, raise_server_exceptions=False) as client:
        assert client.get("/", params={"token": TOKEN}).status_code == 200
        client.headers["Origin"] = ORIGIN
        yield client


def check(client: TestClient, *exercises: str) -> dict[str, Any]:
    """Check exercises; return what came of all of them so far."""
    begun = client.post(f"{LAB}/check", json={"exercises": exercises})
    assert begun.status_code == 201, begun.text
    deadline_s = time.monotonic() + 300
    while (now := client.get(f"{LAB}/exercises").json()["check"])["state"] in (
        "waiting",
        "running",
    ):
        assert time.monotonic() < deadline_s
        time.sleep(0.2)
    assert now["state"] == "done", now
    found: dict[str, Any] = client.get(f"{LAB}/progress").json()["exercises"]
    return found


def fill_in(client: TestClient) -> None:
    """Fill in the solution, whose answers are those of alice's seed or of none."""
    solution = TEMPLATE / "instructor" / "solution"
    for file in ("path.yaml", "study.yaml", "contest.py"):
        text = (solution / file).read_text()
        sent = client.put(f"{LAB}/part", json={"file": file, "text": text, "force": True})
        assert sent.status_code == 200, sent.text
    right = {"question": "bdp", "text": "6.25 MB", "force": True}
    sent = client.put(f"{LAB}/answer", json=right)
    assert sent.status_code == 200, sent.text


def test_a_lab_with_exercises_is_a_lab_of_the_students_own(
    alice: TestClient, tmp_path: Path
) -> None:
    first = alice.get("/api/labs").json()[0]
    assert (first["name"], first["has_exercises"]) == ("my-lab", True)
    assert alice.get(LAB).json()["has_exercises"] is True
    assert alice.get("/api/labs/lab08").json()["has_exercises"] is False
    opened = alice.get("/api/document", params={"lab": "my-lab"}).json()
    assert (opened["path"], opened["lab"]) == ("my-lab/study.yaml", "my-lab")
    # What runs in the studio runs with the seed that is graded.
    assert f"seed: {seed_of('alice')}" in opened["text"]
    assert alice.post("/api/check", json={"name": "x", "text": opened["text"]}).json()["study"]
    found = alice.get(f"{LAB}/exercises").json()
    assert found["seed"] == seed_of("alice")
    assert (found["points"], found["hidden_points"]) == (25, 7)
    # A file that is there is not replaced.
    mine = tmp_path / "alice" / "my-lab" / "path.yaml"
    mine.write_text("# mine\n")
    alice.get("/api/document", params={"lab": "my-lab"})
    assert mine.read_text() == "# mine\n"


def test_answers_are_written_and_comments_stay(alice: TestClient, tmp_path: Path) -> None:
    alice.get(f"{LAB}/exercises")
    file = tmp_path / "alice" / "my-lab" / "answers.yaml"
    given = file.read_text()

    def answer(question: str, text: str) -> int:
        body = {"question": question, "text": text, "force": True}
        sent = alice.put(f"{LAB}/answer", json=body)
        return int(sent.status_code)

    def shown(name: str) -> str:
        parts = alice.get(f"{LAB}/exercises").json()["parts"]
        answers = next(part for part in parts if part["name"] == "answers")["answers"]
        (found,) = (one["text"] for one in answers if one["name"] == name)
        assert isinstance(found, str)
        return found

    for text in ("6.25 MB", "6,25 MB", "about: 3 # or so", '"quoted"', "6 MB"):
        assert answer("bdp", text) == 200
        assert shown("bdp") == text
        assert "# of the path of exercise 1" in file.read_text()
    assert answer("lossy_retransmits", "152") == 200
    assert (shown("bdp"), shown("lossy_retransmits")) == ("6 MB", "152")
    assert answer("bdp", "") == answer("lossy_retransmits", "") == 200
    assert file.read_text().split() == given.split()
    for question, text in (("none", "1"), ("hidden_one", "1"), ("bdp", "a\nb"), ("bdp", "1" * 999)):
        assert answer(question, text) == 400
    # In a file that somebody has spoilt, and what is there stays.
    file.write_text("- [\nlossy_retransmits: 3 # mine\nbdp: 5 MB\nbdp: 7 MB\n")
    assert shown("lossy_retransmits") == "3"
    assert answer("bdp", "6 MB") == 200
    assert shown("bdp") == "6 MB"
    assert file.read_text() == "- [\nlossy_retransmits: 3 # mine\nbdp: 6 MB\n"
    file.write_text("a: [\nlossy_retransmits:\n# mine\n")
    assert answer("bdp", "6 MB") == 200
    assert file.read_text() == "a: [\nlossy_retransmits:\n# mine\nbdp: 6 MB\n"
    file.write_bytes(b"\xff: 1\nlossy_retransmits: 3\n")
    assert answer("bdp", "6 MB") == 200
    assert file.read_bytes() == b"\xff: 1\nlossy_retransmits: 3\nbdp: 6 MB\n"
    file.write_text("bdp: |\n  5 MB\nlossy_retransmits: '3'\n")
    assert answer("bdp", "6 MB") == 200
    assert (shown("bdp"), shown("lossy_retransmits")) == ("6 MB", "3")


def test_only_parts_are_written(alice: TestClient, tmp_path: Path) -> None:
    for file in ("../x.yaml", "/etc/x", "other.yaml", ".hidden", "text.md", "instructor/x"):
        sent = alice.put(f"{LAB}/part", json={"file": file, "text": "x"})
        assert sent.status_code == 400, file
    large = alice.put(f"{LAB}/part", json={"file": "path.yaml", "text": "x" * (4 << 20)})
    assert large.status_code == 413
    outside = tmp_path / "outside"
    outside.mkdir()
    (tmp_path / "alice" / "my-lab").symlink_to(outside)
    sent = alice.put(f"{LAB}/part", json={"file": "path.yaml", "text": "x"})
    assert sent.status_code == 400
    assert list(outside.iterdir()) == []


@pytest.mark.timeout(600)
def test_points_reasons_hints_and_what_is_handed_in(
    alice: TestClient, lab: Path, tmp_path: Path
) -> None:
    assert alice.post(f"{LAB}/hint", json={"exercise": "path"}).status_code == 409
    fill_in(alice)
    with alice.websocket_connect("/ws/progress", headers=SOCKET) as socket:
        assert socket.receive_json()["event"] == "hello"
        before = check(alice, "bdp", "path")
        events = [socket.receive_json()]
        while events[-1].get("check", {}).get("state") != "done":
            events.append(socket.receive_json())
    assert {one["event"] for one in events} == {"check", "progress"}
    assert {name: one["points"] for name, one in before.items()} == {"bdp": 2, "path": 3}
    assert before["path"]["digest"] == alice.get(f"{LAB}/exercises").json()["digests"]["path"]
    # What is spoilt costs the points, is told with its reason, and hints come one by one.
    right = (TEMPLATE / "instructor" / "solution" / "path.yaml").read_text()
    wrong = {"file": "path.yaml", "text": f"{right}- h1: tc nonsense\n", "force": True}
    assert alice.put(f"{LAB}/part", json=wrong).status_code == 200
    assert alice.get(f"{LAB}/exercises").json()["digests"]["path"] != before["path"]["digest"]
    after = check(alice, "path")["path"]
    assert (after["points"], after["most"]) == (0, 3)
    assert alice.get(f"{LAB}/progress").json()["checks"] == {"bdp": 1, "path": 2}
    assert "tc nonsense" in after["reasons"][0]
    hints = []
    while alice.post(f"{LAB}/hint", json={"exercise": "path"}).status_code == 200:
        hints.append(alice.get(f"{LAB}/progress").json()["exercises"]["path"]["hints"])
    assert [len(one) for one in hints] == [1, 2]
    assert alice.post(f"{LAB}/hint", json={"exercise": "bdp"}).status_code == 409
    fill_in(alice)
    (summary,) = alice.get("/api/progress").json()
    assert (summary["points"], summary["most_points"]) == (2, 5)

    # Both ways of handing in are graded alike, and as the page has said.
    packed = alice.get(f"{LAB}/submission")
    assert 'filename="my-lab-alice.zip"' in packed.headers["content-disposition"]
    zipfile.ZipFile(io.BytesIO(packed.content)).extractall(tmp_path / "handed")
    options = ("--against", str(lab), "--json", "--exercise", "path", "--exercise", "bdp")
    for words in (["handed/alice"], ["alice", "--folder", "my-lab"]):
        done = longfat("grade", *words, *options, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        (one,) = json.loads(done.stdout)["submissions"]
        assert (one["student"], one["seed"], one["points"]) == ("alice", seed_of("alice"), 5)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_key_and_nothing_hidden_reaches_the_page(
    alice: TestClient, lab: Path, tmp_path: Path
) -> None:
    fill_in(alice)
    wrong = {"lossy_throughput": "1 mbit", "lossy_retransmits": "1", "default_throughput": "1 bit"}
    for question, text in wrong.items():
        alice.put(f"{LAB}/answer", json={"question": question, "text": text})
    heard: list[str] = []
    with alice.websocket_connect("/ws/progress", headers=SOCKET) as socket:
        results = check(alice)
        while '"state": "done"' not in (heard[-1] if heard else ""):
            heard.append(socket.receive_text())
    for name in wrong:
        assert results[name]["points"] == 0
        alice.post(f"{LAB}/hint", json={"exercise": name})
    assert set(results) == {
        "path", "fill", "contest", "bdp", *wrong,
    }  # fmt: skip
    # The very keys, as an instructor gets them.
    options = ("--against", str(lab), "--folder", "my-lab", "--json")
    graded = json.loads(longfat("grade", "alice", *options, cwd=tmp_path).stdout)
    exercises = graded["submissions"][0]["exercises"]
    keys = {one["exercise"]: one["key"] for one in exercises if one["key"]}
    assert keys["hidden_one"].startswith("1.23")
    answers = [
        alice.get(path, params=query).text
        for path, query in (
            (f"{LAB}/exercises", {}), (f"{LAB}/progress", {}), (LAB, {}), ("/api/labs", {}),
            ("/api/progress", {}), ("/api/state", {}), ("/api/files", {}),
            ("/api/document", {"lab": "my-lab"}), ("/api/drafts", {}),
        )
    ]  # fmt: skip
    packed = zipfile.ZipFile(io.BytesIO(alice.get(f"{LAB}/submission").content))
    answers += [packed.read(name).decode() for name in packed.namelist()]
    answers += [path.read_text() for path in (tmp_path / "alice").rglob("*") if path.is_file()]
    everything = "\n".join([*answers, *heard])
    for secret in (SECRET, "hidden_one", "the window limits the default case", "key-", 'reason"'):
        assert secret not in everything, secret
    assert keys["lossy_throughput"].endswith(" mbit")
    for name in ("lossy_throughput", "lossy_retransmits"):
        assert not re.search(rf"(?<![\w.]){re.escape(keys[name])}(?![\w.])", everything), name
    # Nor by asking for it: a hidden exercise is as one that there is not.
    for name in ("reason", "hidden_one", "nothing"):
        refused = alice.post(f"{LAB}/check", json={"exercises": [name]})
        assert refused.status_code == 400
        assert refused.json()["error"].startswith(f"there is no exercise {name!r} (there are: path")
        assert alice.post(f"{LAB}/hint", json={"exercise": name}).status_code == 400
    inside = (
        "../instructor/grading.yaml", "my-lab/../instructor/grading.yaml",
        str(lab / "instructor" / "grading.yaml"), "my-lab/instructor/grading.yaml",
    )  # fmt: skip
    for path in inside:
        assert alice.get("/api/document", params={"path": path}).status_code >= 400
        study = f"{(TEMPLATE / 'student' / 'study.yaml').read_text()}files: {{/x: {path}}}\n"
        sent = {"name": "x", "text": study, "lab": "my-lab", "case": None}
        assert alice.post("/api/sessions", json=sent).status_code == 400
        assert alice.post("/api/jobs", json=sent).status_code == 400


@pytest.fixture
def spoilt(lab: Path) -> Path:
    """A lab whose answer key cannot be run."""
    study = lab / "instructor" / "study.yaml"
    before = "    flows: {bulk: {congestion: reno}}"
    line = f"    setup: [{{h1: \"false '{SECRET}'\"}}]"
    assert before in study.read_text()
    study.write_text(study.read_text().replace(before, f"{line}\n{before}"))
    return lab


def test_an_error_of_the_instructors_files_is_not_shown(
    spoilt: Path, alice: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    del spoilt
    sent = {"question": "lossy_throughput", "text": "1 mbit"}
    assert alice.put(f"{LAB}/answer", json=sent).status_code == 200
    alice.post(f"{LAB}/check", json={"exercises": ["lossy_throughput"]})
    deadline_s = time.monotonic() + 100
    while True:
        found = alice.get(f"{LAB}/exercises")
        assert SECRET not in found.text
        if found.json()["check"]["state"] == "failed":
            break
        assert time.monotonic() < deadline_s
        time.sleep(0.2)
    assert "inform your instructor" in found.json()["check"]["problem"]
    assert alice.get(f"{LAB}/progress").json()["exercises"] == {}
    assert SECRET in caplog.text  # which is the terminal's


def test_other_labs_have_no_exercises(alice: TestClient) -> None:
    for lab in ("lab08", "nolab", "%2e%2e"):
        assert alice.get(f"/api/labs/{lab}/exercises").status_code == 404
        assert alice.post(f"/api/labs/{lab}/check", json={}).status_code == 404
        assert alice.get(f"/api/labs/{lab}/submission").status_code == 404


def test_labs_that_cannot_be_given(lab: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is in the workspace"):
        read_assignments([lab], workspace=tmp_path)
    with pytest.raises(InputError, match="another lab has this name"):
        read_assignments([lab, lab], workspace=tmp_path / "alice")
    shutil.copytree(lab, named := tmp_path / "lab08")
    with pytest.raises(InputError, match="another lab has this name"):
        read_assignments([named], workspace=tmp_path / "alice")
    (lab / "student" / "study.yaml").unlink()
    with pytest.raises(InputError, match="this folder has none"):
        read_assignments([lab], workspace=tmp_path / "alice")
    with pytest.raises(InputError, match=r"no grading\.yaml"):
        read_assignments([tmp_path], workspace=tmp_path / "alice")
