"""Frames arrive as they were sent, however the bytes were cut, and junk is told."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.live.shell.connection import INPUT, OUTPUT, Wire, WireError, fields_of, size_of

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
def test_junk_is_told_or_waited_for(junk: bytes) -> None:
    near, far = socket.socketpair()
    with near, far:
        near.sendall(junk)
        try:
            for _, payload in Wire(far).receive():
                size_of(fields_of(payload))
        except WireError:
            pass


@pytest.mark.parametrize("payload", [b"", b"[]", b"{", b'"x"', b"\xff"])
def test_what_is_no_object_is_told(payload: bytes) -> None:
    with pytest.raises(WireError):
        fields_of(payload)


def test_sizes_are_what_linux_can_hold() -> None:
    assert size_of({"rows": 24, "columns": 80}) == (24, 80)
    assert size_of({"rows": -5, "columns": 10**9}) == (1, 65535)
    with pytest.raises(WireError):
        size_of({"rows": "24", "columns": 80})
