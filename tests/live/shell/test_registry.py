"""Sessions are found by their names, by their own user only, and not when they are dead."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from longfat.live.shell import connection as meeting
from longfat.live.shell.connection import connect, is_own, published, session_names


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Longer than a socket's name may be.
    runtime = tmp_path / ("long-" * 30)
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    return runtime


def test_a_session_is_found_as_long_as_it_lives(folder: Path) -> None:
    assert session_names() == []
    with published("lab08") as (listener, name):
        assert name == "lab08"
        assert session_names() == ["lab08"]
        listener.accept()[0].close()  # whoever looked
        connection = connect("lab08")
        assert connection is not None
        with connection, listener.accept()[0] as other:
            assert is_own(other)
            connection.sendall(b"x")
            assert other.recv(1) == b"x"
        assert list(folder.iterdir()) == []
    assert session_names() == []
    assert connect("lab08") is None


def test_a_name_that_is_taken_gets_a_number() -> None:
    with published("lab08") as (_, first), published("lab08") as (_, second):
        assert (first, second) == ("lab08", "lab08-2")
        assert session_names() == ["lab08", "lab08-2"]


def test_sessions_of_another_place_are_not_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with published("lab08"):
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
        assert session_names() == []
        assert connect("lab08") is None


@pytest.mark.parametrize(
    ("wanted", "called"),
    [("a b/../c", "a-b-..-c"), ("\u00fc", "session"), ("x" * 99, "x" * 40), ("../..", "session")],
)
def test_any_name_gives_one_that_can_be_typed(wanted: str, called: str) -> None:
    with published(wanted) as (_, name):
        assert name == called
        assert session_names() == [called]


def test_another_users_session_is_none_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whoever binds a name first has it, whichever user it tells of.
    prefix = meeting._prefix()
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.bind(f"\0{prefix}lab08")
        stranger.listen()
        assert session_names() == ["lab08"]
        monkeypatch.setattr(meeting, "_prefix", lambda: prefix)
        uid = os.getuid()
        monkeypatch.setattr(os, "getuid", lambda: uid + 1)
        assert connect("lab08") is None
        assert session_names() == []
