"""Sessions of browsers: how long they last, how many there are, and what of them is stored."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from longfat.errors import HostError
from longfat.studio.app import make_app
from longfat.studio.browser_sessions import MAX_SESSIONS, BrowserSessions, Lifetime
from longfat.studio.credentials import ONLY_USER, Tokens
from longfat.studio.state import PrivateFile
from tests.studio.conftest import HOST, ORIGIN, PORT, TOKEN, keys_of_tests

OWNERS = ("alice", "bob")


@pytest.fixture
def file(tmp_path: Path) -> PrivateFile:
    return PrivateFile(path=tmp_path / "sessions.json")


def test_a_value_opens_what_its_owner_has(file: PrivateFile) -> None:
    sessions = BrowserSessions(file)
    alice, bob = (sessions.begin(owner) for owner in OWNERS)
    assert sessions.owner_of(alice) == "alice"
    assert sessions.find(alice, owner="alice") is not None
    assert sessions.find(alice, owner="bob") is None
    assert sessions.find(bob, owner="bob") is not None
    for wrong in ("", "x", alice[:-1], alice + "x", alice.swapcase(), "\ud800", "\u00e9"):
        assert sessions.find(wrong, owner="alice") is None
        assert sessions.owner_of(wrong) is None


def test_what_is_stored_opens_nothing(file: PrivateFile) -> None:
    sessions = BrowserSessions(file)
    value = sessions.begin("alice")
    text = file.path.read_text()
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert value not in text
    for stored in json.loads(text):
        for one in stored.values():
            assert sessions.find(str(one), owner="alice") is None


def test_sessions_go_on_after_a_restart_and_ended_ones_do_not(file: PrivateFile) -> None:
    sessions = BrowserSessions(file)
    kept, logged_out, of_bob = (sessions.begin(one) for one in ("alice", "alice", "bob"))
    ended = sessions.find(logged_out, owner="alice")
    assert ended is not None
    sessions.end(ended)
    again = BrowserSessions(file, owners=["alice"])
    assert again.find(kept, owner="alice") is not None
    assert again.find(logged_out, owner="alice") is None
    assert again.find(of_bob, owner="bob") is None
    # Nor does it come back with an owner who does.
    assert BrowserSessions(file, owners=OWNERS).find(of_bob, owner="bob") is None


@pytest.mark.parametrize(
    "text",
    ["", "[", "null", "{}", "[[]]", '[{"id": 1}]', "[" * 5000, '[{"begun_s": NaN}]', "\ud800"],
)
def test_a_damaged_file_holds_no_sessions(file: PrivateFile, text: str) -> None:
    value = BrowserSessions(file).begin("alice")
    file.path.write_text(text, errors="surrogatepass")
    sessions = BrowserSessions(file, owners=OWNERS)
    assert sessions.find(value, owner="alice") is None
    value = sessions.begin("alice")
    assert BrowserSessions(file, owners=OWNERS).find(value, owner="alice") is not None


def test_a_file_that_others_could_write_holds_no_sessions(file: PrivateFile) -> None:
    value = BrowserSessions(file).begin("alice")
    file.path.chmod(0o620)
    assert BrowserSessions(file, owners=OWNERS).find(value, owner="alice") is None


def test_who_logs_in_often_ends_the_session_that_was_not_used_longest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock_s = 1e9
    monkeypatch.setattr(time, "time", lambda: clock_s)
    sessions = BrowserSessions()
    of_bob = sessions.begin("bob")
    values = []
    for _ in range(MAX_SESSIONS):
        clock_s += 1
        values.append(sessions.begin("alice"))
    clock_s += 1
    assert sessions.find(values[0], owner="alice") is not None  # its page is open
    for _ in range(3):
        clock_s += 1
        values.append(sessions.begin("alice"))
    opens = [sessions.find(value, owner="alice") is not None for value in values]
    assert opens == [True, *[False] * 3, *[True] * (MAX_SESSIONS - 1)]
    assert sessions.find(of_bob, owner="bob") is not None


DAY_S = 86400.0


@pytest.mark.parametrize(
    ("uses_s", "lasts"),
    [
        ([6.9 * DAY_S], True),
        ([7.1 * DAY_S], False),
        ([6 * DAY_S] * 4, True),
        ([6 * DAY_S] * 5, False),  # the absolute lifetime
        ([6.5 * DAY_S, 6.9 * DAY_S], True),
        ([-3600.0], True),  # the clock was set right
        ([-8 * DAY_S], False),
    ],
)
def test_a_session_ends_when_it_is_old_or_was_not_used(
    monkeypatch: pytest.MonkeyPatch, file: PrivateFile, uses_s: list[float], lasts: bool
) -> None:
    clock_s = 1e9
    monkeypatch.setattr(time, "time", lambda: clock_s)
    sessions = BrowserSessions(file)
    value = sessions.begin("alice")
    is_open = True
    for use_s in uses_s:
        sessions = BrowserSessions(file, owners=OWNERS)  # the server is started again
        clock_s += use_s
        is_open = sessions.find(value, owner="alice") is not None
    assert is_open == lasts


def test_an_expired_session_opens_nothing_and_its_websocket_is_closed(
    workspace: Path, static: Path
) -> None:
    lifetime = Lifetime(idle_s=1.0, absolute_s=2.5)
    keys = keys_of_tests(sessions=BrowserSessions(lifetime=lifetime))
    app = make_app(workspace=workspace, keys=keys, static=static)
    with TestClient(app, base_url=ORIGIN) as client:
        assert client.get("/", params={"token": TOKEN}).status_code == 200
        began_s = time.monotonic()
        value = client.cookies[f"longfat-studio-{PORT}"]
        headers = {"Cookie": f"longfat-studio-{PORT}={value}", "Origin": ORIGIN, "Host": HOST}
        with client.websocket_connect("/ws/drafts", headers=headers) as socket:
            assert socket.receive_json()["event"] == "hello"
            time.sleep(1.6)  # an open WebSocket is a use
            assert client.get("/api/state").status_code == 200
            with pytest.raises(WebSocketDisconnect) as ended:
                socket.receive_json()
            assert ended.value.code == 1008
        assert 2.0 < time.monotonic() - began_s < 5.0
        assert client.get("/api/state").status_code == 403
        with (
            pytest.raises(WebSocketDisconnect),
            client.websocket_connect("/ws/drafts", headers=headers),
        ):
            pass


def test_a_new_link_ends_what_the_old_one_opened_and_nothing_else() -> None:
    async def ended() -> list[bool]:
        sessions = BrowserSessions()
        begun = [
            sessions.find(sessions.begin(owner), owner=owner) for owner in ("alice", "alice", "bob")
        ]
        with (
            sessions.connected("alice", begun[0]) as first,
            sessions.connected("alice", begun[1]) as second,
            sessions.connected("alice", None) as by_token,
            sessions.connected("bob", begun[2]) as of_bob,
            sessions.connected("bob", None) as bobs_token,
        ):
            sessions.end_all("alice")
            return [one.ended.is_set() for one in (first, second, by_token, of_bob, bobs_token)]

    assert asyncio.run(ended()) == [True, True, True, False, False]


def test_an_end_that_cannot_be_stored_is_reported_and_is_an_end(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    file = PrivateFile(path=folder / "sessions.json")
    sessions = BrowserSessions(file)
    value = sessions.begin("alice")
    session = sessions.find(value, owner="alice")
    assert session is not None
    file.path.unlink()
    folder.rmdir()
    with pytest.raises(HostError, match="cannot be written"):
        sessions.end(session)
    assert sessions.find(value, owner="alice") is None


def test_a_new_token_replaces_the_old_one() -> None:
    stored: list[dict[str, str]] = []
    tokens = Tokens({"alice": "a" * 43, "bob": "b" * 43}, store=lambda now: stored.append({**now}))
    new = tokens.renew("alice")
    assert tokens.owner_of("a" * 43) is None
    assert not tokens.fits("alice", "a" * 43)
    assert tokens.owner_of(new) == "alice"
    assert tokens.fits("alice", new)
    assert not tokens.fits("bob", new)
    assert tokens.token_of("bob") == "b" * 43
    assert stored == [{"alice": new, "bob": "b" * 43}]


def test_a_new_token_that_cannot_be_stored_leaves_the_old_one() -> None:
    def fail(_: object) -> None:
        raise HostError("full")

    tokens = Tokens({ONLY_USER: TOKEN}, store=fail)
    with pytest.raises(HostError):
        tokens.renew(ONLY_USER)
    assert tokens.fits(ONLY_USER, TOKEN)
    assert tokens.owner_of(TOKEN) == ONLY_USER
