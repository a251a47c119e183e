"""A server that many connect to, without a token: it goes on for others, and prints little."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from longfat.studio import connections
from longfat.studio.connections import Connections
from tests.studio.conftest import Studio

Start = Callable[[], Studio]


@pytest.fixture
def few_files() -> Iterator[None]:
    """What is started may open few files."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def connect(studio: Studio) -> socket.socket:
    host, port = studio.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def is_closed(connection: socket.socket, *, within_s: float) -> bool:
    connection.settimeout(within_s)
    try:
        return connection.recv(1000) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.usefixtures("few_files")
def test_idle_connections_do_not_stop_a_studio(start_studio: Start) -> None:
    studio = start_studio()
    idle = [connect(studio) for _ in range(500)]
    assert is_closed(idle[-1], within_s=5)  # of one address half of all
    end_s = time.monotonic() + 20
    while not is_closed(idle[0], within_s=1):
        assert time.monotonic() < end_s
    assert studio.http.get("/", timeout=60).status_code == 200
    for one in idle:
        one.close()
    studio.process.send_signal(signal.SIGTERM)
    studio.process.wait(20)
    said = studio.said()
    assert said == (
        "longfat studio: 127.0.0.1 has 256 connections, as many as an address may have: others "
        "are refused\n"
    )


def test_a_head_has_a_deadline_and_a_request_has_none(start_studio: Start) -> None:
    studio = start_studio()
    slow, kept = connect(studio), connect(studio)
    host = studio.url.removeprefix("http://")
    head = f"GET /api/state HTTP/1.1\r\nHost: {host}\r\n"
    whole = f"{head}Authorization: Bearer {studio.token}\r\n\r\n"
    began_s = time.monotonic()
    kept.sendall(whole.encode())
    assert kept.recv(12) == b"HTTP/1.1 200"
    slow.sendall(head.encode())
    while not is_closed(slow, within_s=1):
        assert time.monotonic() - began_s < 30
        with contextlib.suppress(ConnectionError):
            slow.sendall(b"X")
    took_s = time.monotonic() - began_s
    assert connections.HEAD_WITHIN_S - 2 < took_s < 25
    assert studio.http.get("/api/state").status_code == 200


def test_connections_are_limited_in_all_and_by_address(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = Connections(max_count=4)
    pairs = [socket.socketpair() for _ in range(4)]
    assert table.admit(pairs[0][0], "a")
    assert table.admit(pairs[1][0], "a")
    assert not table.admit(pairs[2][0], "a")
    assert table.admit(pairs[2][0], "b")
    assert table.admit(pairs[3][0], "b")
    assert not table.admit(socket.socket(), "c")
    pairs[0][0].close()
    last = socket.socket()
    assert table.admit(last, "c")
    assert capsys.readouterr().err == (
        "longfat studio: a has 2 connections, as many as an address may have: others are refused\n"
    )
    last.close()
    for pair in pairs:
        for one in pair:
            one.close()


PROGRAM = """
import asyncio, errno, os, socket, sys
import uvicorn
from longfat.studio import connections
class Listening(socket.socket):
    def accept(self):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
async def main():
    own = Listening()
    own.bind(("127.0.0.1", 0))
    own.listen()
    own.setblocking(False)
    other = socket.create_connection(own.getsockname())
    task = asyncio.ensure_future(connections.accept_all(
        own, uvicorn.Config("x"), connections.Connections(max_count=9), asyncio.Protocol))
    await asyncio.sleep(2)
    task.cancel()
asyncio.run(main())
"""


def test_a_process_without_files_says_so_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    reason = os.strerror(errno.EMFILE)
    assert done.stderr == (
        f"longfat studio: no connection can be accepted ({reason}): others are refused\n"
    )
