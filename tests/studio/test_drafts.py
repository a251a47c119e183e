"""Drafts: steps of undo that outlive the server, and two pages that change the same text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from longfat.common.decoding import decode
from longfat.studio.drafts import (
    MAX_CLOSED,
    MAX_STEPS,
    ChangeDraftRequest,
    Draft,
    Drafts,
    DraftStep,
)
from tests.studio.conftest import SOCKET

ID = "0123456789abcdef"


def change(drafts: Drafts, *steps: Any, base: int | None = None, **fields: Any) -> Draft:
    sent = {"page": "a", "base": base, "steps": list(steps), "fields": fields}
    draft, _ = drafts.change(ID, decode(ChangeDraftRequest, sent, where="a change"))
    return draft


def test_undo_outlives_the_server(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / "drafts")
    change(drafts, {"set": "one", "step": False}, name="mine")
    change(drafts, {"set": "two", "step": True}, {"set": "two!", "step": False})
    (draft,) = Drafts(tmp_path / "drafts").all()
    assert (draft.name, draft.text, draft.undo) == ("mine", "two!", ["one"])
    again = Drafts(tmp_path / "drafts")
    assert change(again, {"undo": True}).text == "one"
    (draft,) = Drafts(tmp_path / "drafts").all()
    assert (draft.text, draft.redo) == ("one", ["two!"])
    assert change(again, {"redo": True}).text == "two!"
    (file,) = (tmp_path / "drafts").glob("*.json")
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_two_pages_did_is_all_in_the_history() -> None:
    drafts = Drafts(None)
    first = change(drafts, {"set": "start", "step": False})
    change(drafts, {"set": "of a", "step": True}, base=first.revision)
    request = ChangeDraftRequest(page="b", base=first.revision, steps=(DraftStep(set="of b"),))
    draft, others = drafts.change(ID, request)
    assert others
    assert draft.text == "of b"
    assert draft.undo == ["start", "of a"]


def test_undo_and_closed_drafts_are_bounded() -> None:
    drafts = Drafts(None)
    steps = [{"set": str(number), "step": True} for number in range(MAX_STEPS + 50)]
    assert len(change(drafts, *steps).undo) == MAX_STEPS
    for number in range(MAX_CLOSED + 5):
        drafts.change(f"closed-{number:03}", ChangeDraftRequest(page="a", closed=True))
    assert len(drafts.all()) == MAX_CLOSED + 1


def test_a_damaged_draft_is_left_alone_and_the_others_are_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "drafts"
    change(Drafts(folder), {"set": "one", "step": False})
    for name, text in (("bad", "{"), ("other", '{"format": 99}'), ("list", "[]")):
        (folder / f"{name}.json").write_text(text)
    (draft,) = Drafts(folder).all()
    assert draft.text == "one"
    assert (folder / "bad.json").exists()
    assert "cannot be read" in caplog.text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": ["x"]}, "steps[0]: found the text 'x', expected an object"),
        ({"steps": [{}]}, "steps[0]: a step is one of set, undo and redo"),
        ({"steps": [{"undo": True, "redo": True}]}, "steps[0]: a step is one of"),
        ({"steps": [{"set": 1}]}, "steps[0].set: found 1, expected a text"),
        ({"steps": [{"undo": True}] * 1001}, "steps: found 1001 entries, expected at most 1000"),
        ({"fields": {"text": "x"}}, "fields.text: unknown field"),
        ({"fields": {"name": None}}, "fields.name: found null, expected a text"),
        ({"fields": {"imported": {"source": 1}}}, "fields.imported.at_s: is missing"),
        ({"base": -1}, "base: found -1, expected 0 to"),
    ],
)
def test_invalid_changes_are_refused(
    client: TestClient, change: dict[str, Any], message: str
) -> None:
    answer = client.put(f"/api/drafts/{ID}", json={"page": "a", **change})
    assert answer.status_code == 400
    assert f"the request: {message}" in answer.json()["error"]
    assert client.get("/api/drafts").json()["drafts"] == []


def test_invalid_ids_are_refused(client: TestClient) -> None:
    answer = client.put("/api/drafts/short", json={"page": "a"})
    assert answer.status_code == 400
    assert "not the id of a draft" in answer.json()["error"]


def test_pages_hear_of_each_other(client: TestClient) -> None:
    with client.websocket_connect("/ws/drafts", headers=SOCKET) as socket:
        hello = json.loads(socket.receive_text())
        assert hello["event"] == "hello"
        body = {"page": "b", "base": None, "steps": [{"set": "x"}], "fields": {"name": "n"}}
        answer = client.put(f"/api/drafts/{ID}", json=body)
        assert answer.json() == {"revision": 1, "draft": None}
        event = json.loads(socket.receive_text())
        assert (event["page"], event["draft"]["text"]) == ("b", "x")
        client.delete(f"/api/drafts/{ID}?page=b")
        assert json.loads(socket.receive_text())["event"] == "forgotten"
    found = client.get("/api/drafts").json()
    assert found["drafts"] == []
    assert found["instance"] == hello["instance"]


def test_a_page_of_another_workspace_gets_nothing_and_writes_nothing(client: TestClient) -> None:
    headers = {"X-Longfat-Workspace": "another"}
    assert client.get("/api/drafts", headers=headers).status_code == 421
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect("/ws/drafts?workspace=another", headers=SOCKET),
    ):
        pass
    body = {"page": "b", "base": None, "steps": [{"set": "x"}], "fields": {"name": "n"}}
    answer = client.put(f"/api/drafts/{ID}", json=body, headers=headers)
    assert answer.status_code == 421
    assert "another workspace" in answer.json()["error"]
    assert client.get("/api/drafts").json()["drafts"] == []


def test_names_of_new_networks_are_given_here(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path)
    text = "title: Network {number}\n"
    first = drafts.begin(page="a", text=text, is_first=True)
    assert (first.name, first.text, first.saved) == ("network-1", "title: Network 1\n", first.text)
    # Another page that opens in the same moment gets the same one.
    assert drafts.begin(page="b", text=text, is_first=True) == first
    assert drafts.begin(page="b", text=text, is_first=False).name == "network-2"
    assert [one.name for one in Drafts(tmp_path).all()] == ["network-1", "network-2"]
