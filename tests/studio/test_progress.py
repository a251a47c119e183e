"""Progress in labs: kept in the workspace, bounded, and nothing but what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from longfat.studio.progress import MAX_ENTRIES
from tests.studio.conftest import SOCKET

PLACE = "/api/labs/lab03/progress"
DONE = {"good": ["h1 0"], "status": 0, "done": True}


def test_progress_is_kept_and_added_to(client: TestClient, workspace: Path) -> None:
    assert client.get(PLACE).json()["steps"] == {}
    client.put(PLACE, json={"steps": {"one": DONE}, "step_count": 4})
    client.put(PLACE, json={"claims": {"no ping is lost": True}, "claim_count": 9})
    found = client.get(PLACE).json()
    assert found["steps"] == {"one": DONE}
    assert found["claims"] == {"no ping is lost": True}
    kept = json.loads((workspace / "progress" / "lab03.json").read_text())
    assert kept["step_count"] == 4
    (summary,) = client.get("/api/progress").json()
    assert (summary["lab"], summary["steps"], summary["step_count"]) == ("lab03", 1, 4)
    assert (summary["claims"], summary["claim_count"]) == (1, 9)
    assert client.delete(PLACE).json()["steps"] == {}
    assert client.get("/api/progress").json() == []


def test_an_earlier_change_that_comes_later_does_not_replace(client: TestClient) -> None:
    def send(page: str, number: int, right: bool | None) -> bool | None:
        answers = {"4": {"text": "ARP", "right": right}}
        sent = {"page": page, "number": number, "answers": answers}
        found = client.put(PLACE, json=sent).json()["answers"]["4"]["right"]
        assert isinstance(found, bool | None)
        return found

    assert send("one", 2, True) is True
    assert send("one", 1, None) is True
    assert send("two", 1, False) is False
    assert send("one", 3, None) is None


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"steps": {"x": {"done": "yes"}}}, "done"),
        ({"steps": {"x": {"good": "h1"}}}, "good"),
        ({"steps": {"x": {"more": 1}}}, "more"),
        ({"steps": {"x": {"good": ["h1 0"] * 1000}}}, "steps.x.good: found 1000 entries"),
        ({"steps": ["x"]}, "an object"),
        ({"steps": {"": DONE}}, "found 0 characters, expected 1 to 300"),
        ({"steps": {"x" * 1000: DONE}}, "found 1000 characters, expected 1 to 300"),
        ({"steps": {str(n): DONE for n in range(MAX_ENTRIES + 1)}}, "at most"),
        ({"claims": {"x": 1}}, "true or false"),
        ({"answers": {"1": {"text": "x" * 5000}}}, "answers.1.text: found 5000 characters"),
        ({"step_count": 10**9}, "step_count"),
    ],
)
def test_what_is_no_progress_is_not_kept(
    client: TestClient, workspace: Path, sent: dict[str, object], words: str
) -> None:
    answer = client.put(PLACE, json=sent)
    assert answer.status_code == 400
    assert words in answer.json()["error"]
    assert not (workspace / "progress").exists()


def test_only_labs_have_progress(client: TestClient, workspace: Path) -> None:
    for name in ("nolab", "..%2f..%2fx", "%2e%2e"):
        assert client.get(f"/api/labs/{name}/progress").status_code in (400, 404)
        assert client.put(f"/api/labs/{name}/progress", json={}).status_code in (400, 404, 405)
    assert not (workspace / "progress").exists()


def test_a_damaged_file_and_a_link_count_as_none(client: TestClient, workspace: Path) -> None:
    folder = workspace / "progress"
    folder.mkdir()
    (folder / "lab03.json").write_text('{"steps": [')
    assert client.get(PLACE).json()["steps"] == {}
    outside = workspace.parent / "outside.json"
    outside.write_text("{}")
    (folder / "lab04.json").symlink_to(outside)
    assert client.get("/api/labs/lab04/progress").json()["steps"] == {}
    assert client.put("/api/labs/lab04/progress", json={}).status_code == 400
    assert outside.read_text() == "{}"


def test_each_page_hears_of_what_another_one_does(client: TestClient) -> None:
    client.put(PLACE, json={"steps": {"one": DONE}})
    with client.websocket_connect("/ws/progress", headers=SOCKET) as socket:
        hello = socket.receive_json()
        assert hello["event"] == "hello"
        assert hello["labs"]["lab03"]["steps"] == {"one": DONE}
        client.put(PLACE, json={"page": "p", "claims": {"x": True}, "claim_count": 2})
        assert socket.receive_json() == {
            "event": "progress",
            "page": "p",
            "lab": "lab03",
            "change": {"claims": {"x": True}, "claim_count": 2},
        }
        # What is not kept is not heard of.
        assert client.put(PLACE, json={"page": "p", "claims": {"x": 1}}).status_code == 400
        client.delete(PLACE, params={"page": "q"})
        assert socket.receive_json() == {"event": "forgotten", "page": "q", "lab": "lab03"}
