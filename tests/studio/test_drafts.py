"""Drafts: steps of undo that outlive the server, and two pages that change the same text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from longfat.errors import InputError
from longfat.studio.drafts import MAX_CLOSED, MAX_STEPS, Draft, Drafts
from tests.studio.conftest import SOCKET

ID = "0123456789abcdef"


def change(drafts: Drafts, *steps: Any, base: int | None = None, **fields: Any) -> Draft:
    draft, _ = drafts.change(ID, page="a", base=base, steps=steps, fields=fields, is_closed=None)
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
    draft, others = drafts.change(
        ID, page="b", base=first.revision, steps=[{"set": "of b", "step": True}], fields={},
        is_closed=None,
    )  # fmt: skip
    assert others
    assert draft.text == "of b"
    assert draft.undo == ["start", "of a"]


def test_undo_and_closed_drafts_are_bounded() -> None:
    drafts = Drafts(None)
    steps = [{"set": str(number), "step": True} for number in range(MAX_STEPS + 50)]
    assert len(change(drafts, *steps).undo) == MAX_STEPS
    for number in range(MAX_CLOSED + 5):
        drafts.change(f"closed-{number:03}", page="a", base=None, steps=[], fields={},
                      is_closed=True)  # fmt: skip
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
    "asked",
    [
        {"steps": ["x"]},
        {"steps": [{}]},
        {"steps": [{"set": 1}]},
        {"steps": [{"set": "\ud800"}]},
        {"fields": {"text": "x"}},
        {"fields": {"name": None}},
        {"fields": {"imported": {"source": 1}}},
        {"number": "../../x"},
    ],
)
def test_rubbish_is_refused(asked: dict[str, Any]) -> None:
    drafts = Drafts(None)
    given = {"number": ID, "steps": [], "fields": {}, **asked}
    with pytest.raises(InputError):
        drafts.change(given.pop("number"), page="a", base=None, is_closed=None, **given)
    assert drafts.all() == []


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
