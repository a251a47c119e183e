"""The host's end of the line, against what a tampered guest could send."""

from __future__ import annotations

import os
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.engine.machine import Line, Pace
from longfat.errors import MachineError

HEAD = struct.Struct("<IcI")


def far_ends(line: Line) -> tuple[socket.socket, socket.socket]:
    near, clock = (socket.socket(fileno=os.dup(fd)) for fd in line.far_descriptors)
    return near, clock


@given(
    payloads=st.lists(st.binary(max_size=300), max_size=5),
    cut=st.integers(min_value=1, max_value=400),
)
def test_frames_survive_however_they_are_cut(payloads: list[bytes], cut: int) -> None:
    line = Line()
    near, clock = far_ends(line)
    data = b"".join(HEAD.pack(len(one), b"1", index) + one for index, one in enumerate(payloads))
    found = []
    for start in range(0, len(data), cut):
        near.sendall(data[start : start + cut])
        line.wait(1)
        while (frame := line.take()) is not None:
            found.append(frame)
    assert [frame.payload for frame in found] == payloads
    assert [frame.number for frame in found] == list(range(len(payloads)))
    line.close()
    near.close()
    clock.close()


@given(payload=st.binary(max_size=100))
def test_any_message_is_read_or_refused(payload: bytes) -> None:
    line = Line()
    near, clock = far_ends(line)
    near.sendall(HEAD.pack(len(payload), b"a", 1) + payload)
    line.wait(1)
    frame = line.take()
    assert frame is not None
    with pytest.raises(MachineError, match="an invalid message"):
        frame.message().number("now_ns")
    line.close()
    near.close()
    clock.close()


def test_a_payload_of_a_length_that_no_agent_sends_is_refused() -> None:
    line = Line()
    near, _ = far_ends(line)
    near.sendall(HEAD.pack(1 << 31, b"1", 1))
    line.wait(1)
    with pytest.raises(MachineError, match="an invalid message"):
        line.take()


def test_much_goes_out_while_nobody_reads() -> None:
    line = Line()
    near, _ = far_ends(line)
    data = bytes(3_000_000)
    line.send(b"d", 1, data)
    near.setblocking(False)
    got = b""
    while len(got) < HEAD.size + len(data):
        line.wait(0)
        try:
            got += near.recv(1 << 20)
        except BlockingIOError:
            continue
    assert got == HEAD.pack(len(data), b"d", 1) + data


def test_a_guest_without_a_pace_is_never_to_ask_again() -> None:
    line = Line()
    _, clock = far_ends(line)
    clock.sendall(struct.pack("=Q", 5_000_000_000))
    line.wait(0)
    assert struct.unpack("=Q", clock.recv(8)) == ((1 << 64) - 1,)


def test_a_guest_ahead_of_its_pace_waits() -> None:
    line = Line()
    _, clock = far_ends(line)
    clock.setblocking(False)
    line.set_pace(Pace(factor=0.01))
    for now_ns in (0, 20_000_000):  # 2 s of wall time apart
        clock.sendall(struct.pack("=Q", now_ns))
        line.wait(0)
    assert line.is_slowed
    assert struct.unpack("=Q", clock.recv(8)) == (100_000,)
    with pytest.raises(BlockingIOError):
        clock.recv(8)


def test_the_end_of_the_machine_is_noticed() -> None:
    line = Line()
    line.close_far()
    with pytest.raises(EOFError):
        line.wait(1)
