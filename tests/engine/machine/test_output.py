"""What a guest sends becomes files of the host's, and nothing else comes of it."""

from __future__ import annotations

import os
import random
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from longfat.engine.machine import Line, Quota, RunOutput
from longfat.engine.machine.host_channel import Frame
from longfat.errors import MachineError

NAMES = ("outcome.json", "raw/ping.txt", "raw/ping.txt.err")
HEAD = struct.Struct("<IcI")


@pytest.fixture
def line() -> Iterator[Line]:
    line = Line()
    yield line
    line.close()


def record(number: int, data: bytes) -> bytes:
    return HEAD.pack(len(data), b"f", number) + data


def far_ends(line: Line) -> tuple[socket.socket, socket.socket]:
    """Return the kernel's ends of the channel and of the clock's."""
    channel, clock = (socket.socket(fileno=os.dup(end)) for end in line.far_descriptors)
    line.close_far()
    return channel, clock


def taken(line: Line, output: RunOutput) -> None:
    """Take all that was sent."""
    line.drain()
    while (frame := line.take()) is not None:
        output.take(frame)


def test_records_become_files(line: Line, tmp_path: Path) -> None:
    channel, _ = far_ends(line)
    channel.sendall(record(1, b"a") + record(0, b"{}") + record(1, b"b") + record(2, b""))
    channel.close()
    with closing(RunOutput(tmp_path, NAMES)) as output:
        taken(line, output)
    assert (tmp_path / "raw/ping.txt").read_bytes() == b"ab"
    assert (tmp_path / "raw/ping.txt.err").read_bytes() == b""
    assert (tmp_path / "outcome.json").read_bytes() == b"{}"


@pytest.mark.parametrize(
    "frame",
    [Frame(b"f", 3, b"x"), Frame(b"f", 1 << 31, b""), Frame(b"a", 0, b"{}"), Frame(b"\0", 0, b"")],
)
def test_what_is_not_taken_ends_the_machine(frame: Frame, tmp_path: Path) -> None:
    with (
        closing(RunOutput(tmp_path, NAMES)) as output,
        pytest.raises(MachineError, match="tampered"),
    ):
        output.take(frame)


def test_what_arrives_is_counted(tmp_path: Path) -> None:
    with closing(RunOutput(tmp_path, NAMES, quota=Quota(disk=1 << 20))) as output:
        for _ in range(16):
            output.take(Frame(b"f", 1, bytes(1 << 16)))
        with pytest.raises(MachineError, match=r"has written .*, but its quota is 1\.0"):
            output.take(Frame(b"f", 2, b"x"))
    assert (tmp_path / "raw/ping.txt").stat().st_size == 1 << 20


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").touch()
    with closing(RunOutput(tmp_path, NAMES)) as output:
        (tmp_path / "outcome.json").symlink_to("victim")
        with pytest.raises(FileExistsError):
            output.take(Frame(b"f", 0, b"x"))
    assert (tmp_path / "victim").read_bytes() == b""


def test_a_part_of_a_clock_report_stops_nothing(line: Line) -> None:
    channel, clock = far_ends(line)
    clock.sendall(b"1234")
    started_s = time.monotonic()
    line.wait(0.2)
    channel.sendall(record(0, b"x"))
    line.wait(5)
    assert line.take() == Frame(b"f", 0, b"x")
    assert time.monotonic() - started_s < 3
    clock.sendall(b"5678")
    line.wait(0.1)
    assert clock.recv(8) == b"\xff" * 8


def test_a_clock_that_is_not_read_stops_nothing(line: Line) -> None:
    _, clock = far_ends(line)
    clock.setblocking(False)

    def report_for_ever() -> None:
        while True:
            clock.send(bytes(8))
            line.wait(0)

    with pytest.raises((EOFError, BlockingIOError)):
        report_for_ever()


def mutated(draws: random.Random) -> bytes:
    """Return a stream of records that is damaged somewhere."""
    pieces = []
    for _ in range(draws.randrange(1, 6)):
        data = draws.randbytes(draws.choice((0, 1, 9, 300, 5000)))
        pieces.append(record(draws.randrange(len(NAMES)), data))
    stream = bytearray(b"".join(pieces))
    for _ in range(draws.randrange(4)):
        place = draws.randrange(len(stream))
        match draws.randrange(4):
            case 0:
                stream[place] = draws.randrange(256)
            case 1:
                del stream[place : place + draws.randrange(1, 20)]
            case 2:
                stream[place:place] = draws.randbytes(draws.randrange(1, 20))
            case _:
                stream[place : place + 4] = struct.pack("<I", draws.getrandbits(32))
        if not stream:
            break
    return bytes(stream)


def check_streams(count: int, folder: Path, *, seed: int) -> None:
    """Send damaged streams; nothing but the files that may come comes of them."""
    draws = random.Random(seed)
    quota = Quota(disk=10_000)
    (folder / "victim").touch()
    for number in range(count):
        run = folder / f"run{number}"
        run.mkdir()
        line = Line()
        channel, _ = far_ends(line)
        channel.sendall(mutated(draws))
        channel.close()
        try:
            with closing(RunOutput(run, NAMES, quota=quota)) as output:
                taken(line, output)
        except MachineError:
            pass
        finally:
            line.close()
        files = {str(path.relative_to(run)): path for path in run.rglob("*") if path.is_file()}
        assert files.keys() <= {*NAMES}
        assert sum(path.stat().st_size for path in files.values()) <= quota.disk
        for path in files.values():
            path.unlink()
        (run / "raw").rmdir()
        run.rmdir()
    assert os.listdir(folder) == ["victim"]


def test_damaged_streams_do_no_harm(tmp_path: Path) -> None:
    check_streams(2000, tmp_path, seed=1)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_very_many_damaged_streams_do_no_harm(tmp_path: Path) -> None:
    check_streams(100_000, tmp_path, seed=2)
