"""Frames arrive as they were sent, however the bytes were cut, and junk is told."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.live.shell import connection as meeting
from longfat.live.shell.connection import (
    INPUT,
    OUTPUT,
    Wire,
    WireError,
    connect,
    fields_of,
    is_own,
    published,
    session_names,
    size_of,
)

Frames = list[tuple[bytes, bytes]]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([INPUT, OUTPUT]), st.binary(max_size=300)), max_size=5),
    st.integers(1, 40),
)
def test_frames_arrive_however_they_are_cut(frames: Frames, size: int) -> None:
    near, far = socket.socketpair()
    between, last = socket.socketpair()
    with near, far, between, last:
        sender, receiver = Wire(near), Wire(last)
        found: Frames = []
        for kind, payload in frames:
            sender.send(kind, payload)
            data = far.recv(1 << 16)
            for start in range(0, len(data), size):
                between.sendall(data[start : start + size])
                found += receiver.receive()
        assert found == frames
        assert receiver.receive() == []


def test_what_there_is_no_room_for_goes_later_and_whole() -> None:
    near, far = socket.socketpair()
    with near, far:
        sender, receiver = Wire(near), Wire(far)
        data = bytes(range(256)) * 20_000
        sender.send(OUTPUT, data)
        assert sender.unsent_bytes > 0
        found = b""
        while len(found) < len(data):
            found += b"".join(payload for _, payload in receiver.receive())
            sender.flush()
        assert found == data
        assert sender.unsent_bytes == 0
        near.close()
        with pytest.raises(WireError):
            receiver.receive()


@settings(max_examples=100, deadline=None)
@given(st.binary(min_size=1, max_size=200))
def test_junk_is_reported_or_waited_for(junk: bytes) -> None:
    near, far = socket.socketpair()
    with near, far:
        near.sendall(junk)
        try:
            for _, payload in Wire(far).receive():
                size_of(fields_of(payload))
        except WireError:
            pass


@pytest.mark.parametrize("payload", [b"", b"[]", b"{", b'"x"', b"\xff"])
def test_what_is_no_object_is_reported(payload: bytes) -> None:
    with pytest.raises(WireError):
        fields_of(payload)


def test_sizes_are_what_linux_can_hold() -> None:
    assert size_of({"rows": 24, "columns": 80}) == (24, 80)
    assert size_of({"rows": -5, "columns": 10**9}) == (1, 65535)
    with pytest.raises(WireError):
        size_of({"rows": "24", "columns": 80})


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
