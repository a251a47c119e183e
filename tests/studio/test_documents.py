"""Files listed, opened, checked, converted and saved."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from longfat.studio.workspace import version_of
from longfat.study.labs import all_labs
from tests.paths import TESTS
from tests.studio.conftest import STUDY

DRAWINGS = sorted((TESTS / "data" / "miniedit").glob("*.mn"))


def checked(client: TestClient, text: str, **more: str) -> Any:
    answer = client.post("/api/check", json={"text": text, "name": "mine.yaml", **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_script_is_run_in_a_machine(client: TestClient) -> None:
    text = (TESTS / "data" / "mininet" / "from_miniedit.py").read_text()
    found = client.post("/api/import", json={"text": text, "name": "net.py"}).json()
    assert "switches: [s1, s2]" in found["text"]
    assert "line 56: h1: `ping -c1 h2`: the flow ping_h1_h2" in found["warnings"]
    text = "open('/etc/longfat')\n"
    answer = client.post("/api/import", json={"text": text, "name": "net.py"})
    assert answer.status_code == 400
    assert "FileNotFoundError" in answer.text
    assert "Traceback" not in answer.text


def test_files_are_listed_by_a_cheap_look(client: TestClient, workspace: Path) -> None:
    (workspace / "mine.yaml").write_text(STUDY)
    (workspace / "compose.yaml").write_text("services: {}\n")
    (workspace / "net.mn").write_text("{}")
    (workspace / "top.py").write_text("from mininet.net import Mininet\n")
    (workspace / "other.py").write_text("print(1)\n")
    deep = workspace / "labs" / "one"
    deep.mkdir(parents=True)
    (deep / "study.yaml").write_text(STUDY)
    kept = workspace / "runs" / "mine"
    kept.mkdir(parents=True)
    (kept / "study.yaml").write_text(STUDY)
    found = {one["path"]: one for one in client.get("/api/files").json()}
    assert {path: one["kind"] for path, one in found.items()} == {
        "mine.yaml": "study",
        "net.mn": "miniedit",
        "top.py": "mininet",
        "labs/one/study.yaml": "study",
    }
    assert found["mine.yaml"]["size_bytes"] == len(STUDY)
    assert abs(found["mine.yaml"]["modified_s"] - time.time()) < 60


def test_a_study_is_opened_and_saved_as_it_is(client: TestClient, workspace: Path) -> None:
    text = STUDY + "# a comment, and an é\n"
    (workspace / "mine.yaml").write_text(text)
    opened = client.get("/api/document", params={"path": "mine.yaml"}).json()
    assert opened == {
        "name": "mine.yaml",
        "path": "mine.yaml",
        "version": version_of(text.encode()),
        "lab": None,
        "text": text,
        "warnings": [],
    }
    changed = text.replace("10ms", "20ms")
    body = {"path": "mine.yaml", "text": changed, "version": opened["version"]}
    saved = client.put("/api/document", json=body).json()
    version = version_of(changed.encode())
    assert saved == {"path": "mine.yaml", "version": version, "warnings": []}
    assert (workspace / "mine.yaml").read_text() == changed
    again = {"path": "mine.yaml", "text": text, "version": version}
    assert client.put("/api/document", json=again).status_code == 200


def test_what_others_wrote_is_not_lost(client: TestClient, workspace: Path) -> None:
    file = workspace / "mine.yaml"
    file.write_text(STUDY)
    opened = client.get("/api/document", params={"path": "mine.yaml"}).json()
    file.write_text("title: of an editor\n")
    # What another page reads meanwhile makes no difference.
    client.get("/api/document", params={"path": "mine.yaml"})
    body = {"path": "mine.yaml", "text": STUDY + "\n", "version": opened["version"]}
    refused = client.put("/api/document", json=body)
    assert refused.status_code == 409
    assert "has changed since it was opened" in refused.json()["error"]
    assert file.read_text() == "title: of an editor\n"
    assert client.put("/api/document", json={**body, "force": True}).status_code == 200
    assert file.read_text() == STUDY + "\n"


def test_a_file_that_was_never_opened_is_not_written_over(
    client: TestClient, workspace: Path
) -> None:
    (workspace / "there.yaml").write_text("title: older\n")
    refused = client.put("/api/document", json={"path": "there.yaml", "text": STUDY})
    assert refused.status_code == 409
    assert "is there already" in refused.json()["error"]


def test_of_two_tabs_the_second_cannot_undo_the_first(client: TestClient, workspace: Path) -> None:
    (workspace / "mine.yaml").write_text(STUDY)
    version = client.get("/api/document", params={"path": "mine.yaml"}).json()["version"]
    first = {"path": "mine.yaml", "text": STUDY + "#1\n", "version": version}
    assert client.put("/api/document", json=first).status_code == 200
    second = {"path": "mine.yaml", "text": STUDY + "#2\n", "version": version}
    assert client.put("/api/document", json=second).status_code == 409
    assert (workspace / "mine.yaml").read_text() == STUDY + "#1\n"


@pytest.mark.parametrize("file", DRAWINGS, ids=lambda file: file.name)
def test_drawings_are_opened_as_studies(client: TestClient, workspace: Path, file: Path) -> None:
    (workspace / file.name).write_bytes(file.read_bytes())
    answer = client.get("/api/document", params={"path": file.name})
    imported = client.post(
        "/api/import", json={"name": file.name, "text": file.read_text(encoding="utf-8-sig")}
    )
    assert answer.status_code == imported.status_code
    found = answer.json()
    assert found == imported.json()
    assert str(workspace) not in answer.text
    assert "/tmp" not in answer.text
    if answer.status_code == 200:
        assert found["path"] is None
        assert checked(client, found["text"])["problems"] == []


def test_a_study_becomes_other_formats(client: TestClient, workspace: Path) -> None:
    body = {"text": STUDY, "name": "mine.yaml"}
    drawn = client.post("/api/export", json={**body, "suffix": ".mn"}).json()
    assert {host["opts"]["hostname"] for host in json.loads(drawn["text"])["hosts"]} == {"h1", "h2"}
    assert any("flows" in warning for warning in drawn["warnings"])
    script = client.post("/api/export", json={**body, "suffix": ".py"}).json()
    compile(script["text"], "script", "exec")
    saved = client.put("/api/document", json={"path": "mine.mn", "text": STUDY})
    assert saved.json()["warnings"] == drawn["warnings"]
    assert (workspace / "mine.mn").read_text() == drawn["text"]
    same = client.post("/api/export", json={**body, "suffix": ".yaml"}).json()
    assert same == {"text": STUDY, "warnings": []}


def test_a_broken_study_does_not_become_another_format(client: TestClient) -> None:
    body = {"text": STUDY.replace("10ms", "fast"), "name": "mine.yaml", "suffix": ".mn"}
    answer = client.post("/api/export", json=body)
    assert answer.status_code == 400
    assert answer.json()["problem"]["line"] == 7


def test_labs_are_opened(client: TestClient) -> None:
    for entry in client.get("/api/labs").json():
        opened = client.get("/api/document", params={"lab": entry["name"]}).json()
        assert opened["lab"] == entry["name"]
        assert opened["path"] is None
        title = entry["title"]
        assert f"title: {title}\n" in opened["text"] or f'title: "{title}"\n' in opened["text"]
    assert client.get("/api/document", params={"lab": "lab99"}).status_code == 400


def test_a_check_tells_what_will_be_built(client: TestClient) -> None:
    found = checked(client, STUDY)["study"]
    assert (found["title"], found["memory_bytes"]) == ("Two hosts", 256 * 2**20)
    link = found["network"]["links"][1]
    assert (link["a"], link["b"], link["interfaces"]) == ("h2", "s1", ["h2-eth0", "s1-eth2"])
    assert link["addresses"] == ["10.0.0.2/8", None]
    assert link["impairments"][0]["rate_bps"] == 10_000_000
    assert link["impairments"][1]["delay_s"] == 0.01
    assert link["tc"][0][0].startswith("tc qdisc add dev h2-eth0 root handle 1: netem")
    assert link["tc"][1][1].startswith("tc qdisc add dev s1-eth2 parent 1:")
    h1, _ = found["network"]["hosts"]
    assert h1["interfaces"] == [{"name": "h1-eth0", "address": "10.0.0.1/8"}]
    assert found["network"]["switches"] == [{"name": "s1", "interfaces": ["s1-eth1", "s1-eth2"]}]
    (case,) = found["cases"]
    assert case["name"] == "default"
    rtt, bulk = case["flows"]
    assert rtt["command"] == "ping -c 2 10.0.0.2"
    assert (bulk["after"], bulk["summary"]) == ("rtt", "1 s")
    assert found["claims"] == [{"text": "it has the delay", "expression": "default.rtt.min > 10ms"}]


@pytest.mark.parametrize(
    ("change", "line", "field", "words"),
    [
        (("delay: 10ms", "delay: fast"), 7, "network.links[1][2].delay", "fast"),
        (("rate: 10mbit", "rate: 1bit"), 7, "network.links[1][2].rate", "8bit"),
        (("[h1, s1]", "[h1, h1]"), 6, "network.links[0]", "h1"),
        (("switches: [s1]", "switches: [h1]"), 4, "network.switches[0]", "h1"),
        (("hosts: {", "hosts: {h1: 10.0.0.9/8, "), 3, "", "twice"),
        (("ping: h1 -> h2", "ping: h1 -> h9"), 10, "flows.rtt", "h9"),
        (("title: Two hosts", "title: ["), 3, "", "YAML"),
        (("default.rtt.min > 10ms", "default.rtt.min > 10mbit"), 13, "claims[0]", ""),
    ],
)
def test_a_problem_has_its_place(
    client: TestClient, change: tuple[str, str], line: int, field: str, words: str
) -> None:
    assert change[0] in STUDY
    found = checked(client, STUDY.replace(*change))
    assert found["study"] is None
    # A switch that has no name of its own is not there for its links.
    problem, *others = found["problems"]
    assert not others or "switches: [h1]" in change
    assert problem["line"] == line
    assert problem["field"].startswith(field)
    assert words in problem["message"]


@pytest.mark.parametrize("text", ["", "\0", "x", "[]", "\ud7ff", "a: &a [*a]", "- " * 5000])
def test_rubbish_is_a_problem_and_no_error(client: TestClient, text: str) -> None:
    assert checked(client, text)["problems"]


def test_labs_have_no_problems(client: TestClient) -> None:
    for lab in all_labs():
        assert checked(client, lab.study_file.read_text(), lab=lab.name)["problems"] == []


RUBBISH: list[bytes] = [
    b"",
    b"[]",
    b"null",
    b"{",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"name": 1, "text": 2}',
    b'{"name": "x"}',
    b'{"name": "", "text": ""}',
    b'{"name": "\\ud800", "text": "\\ud800"}',
    b'{"path": ["x"], "text": {}}',
    b'{"name": "x\\u0000.mn", "text": "{}", "suffix": ".mn"}',
    b'{"name": "x.exe", "text": "{}", "suffix": ".exe"}',
    b'{"name": "x.mn", "text": "{}", "suffix": "/../x.mn"}',
    b'{"name": "/../x.py", "text": "import os", "suffix": ".yaml"}',
    b'{"name": "x", "text": "title: x", "cases": [1], "seeds": true}',
    b'{"name": "x", "text": "title: x", "cases": "all", "seeds": 0}',
]


@pytest.mark.parametrize("body", RUBBISH, ids=range(len(RUBBISH)))
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/check"),
        ("POST", "/api/import"),
        ("POST", "/api/export"),
        ("PUT", "/api/document"),
        ("POST", "/api/jobs"),
        ("POST", "/api/sessions"),
    ],
)
def test_rubbish_gets_a_clear_answer(
    client: TestClient, method: str, path: str, body: bytes
) -> None:
    answer = client.request(method, path, content=body)
    assert answer.status_code < 500, answer.text
    if answer.status_code != 200:
        assert set(answer.json()) == {"error", "problem"}
        assert answer.json()["error"]


def test_too_much_is_refused(client: TestClient) -> None:
    answer = client.post("/api/check", content=b" " * (5 * 1024**2))
    assert answer.status_code == 413
    assert client.get("/api/labs").status_code == 200


def test_other_ways_are_refused_in_json(client: TestClient) -> None:
    for method, path in (("GET", "/api/check"), ("POST", "/api/runs"), ("GET", "/api/none")):
        answer = client.request(method, path)
        assert answer.status_code in (404, 405)
        assert path in answer.json()["error"]
    for query in ("", "?path=a.yaml&lab=lab08"):
        assert client.get(f"/api/document{query}").status_code == 400


def test_a_bug_of_ours_does_not_end_the_server(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("longfat.studio.documents.check", broken)
    answer = client.post("/api/check", json={"text": "", "name": "x"})
    assert answer.status_code == 500
    assert "ZeroDivisionError" in answer.json()["error"]
    monkeypatch.undo()
    assert client.post("/api/check", json={"text": "", "name": "x"}).status_code == 200


def test_the_state_tells_what_there_is(client: TestClient, workspace: Path) -> None:
    state = client.get("/api/state").json()
    assert state["workspace"] == str(workspace)
    assert "6.1" in {kernel["series"] for kernel in state["kernels"]}
    assert "lab08" in {lab["name"] for lab in state["labs"]}
    assert (state["sessions"], state["jobs"]) == ([], [])


@pytest.mark.parametrize(
    "link",
    [
        "[h2, s1, {loss: 200%}]", "[h2, s1, {rate: fast}]", "[h2, s1, {qdisc: red limit 3 $(x)}]",
        "[h2, s1, {rate: 1gbit, qdisc: pfifo, queue: 1MB}]", "[h2, s1, {reorder: 3%}]",
        "[h2, s1, {nonsense: 1}]", "[h2, s1, {jitter: 1ms}]", "[h2, s1, {mtu: 5}]", "[h2, s1, 5]",
        "[h2, s1, {rate: 64tbit}]", "[h2, s1, {addresses: [1, 2]}]", "[h2, s1, {queue: 10KB}]",
        "[h2, s1, {to: {s1: {duplicate: -1%}}}]", "[h2, h2]", "[h2, s9]",
        "[h2, s1]\n    - [s1, s1]",
    ],
)  # fmt: skip
def test_every_problem_of_a_link_has_its_line(client: TestClient, link: str) -> None:
    text = STUDY.replace("[h2, s1, {delay: 10ms, rate: 10mbit}]", link)
    assert text != STUDY
    (problem,) = client.post("/api/check", json={"text": text, "name": "x"}).json()["problems"]
    wrong = link.splitlines()[-1].strip(" -")
    assert text.splitlines()[problem["line"] - 1].strip() == f"- {wrong}"
    assert problem["column"] > 0
    assert problem["field"].startswith("network.links[")
