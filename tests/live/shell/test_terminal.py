"""A terminal in raw mode: what is shown, what is put back, and how one gets out."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import termios
from collections.abc import Iterator

import pytest

from longfat.live.shell.terminal import Terminal


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    near, far = pty.openpty()
    yield near, far
    os.close(near)
    os.close(far)


def said(near: int) -> bytes:
    data = b""
    while select.select([near], [], [], 0.05)[0]:
        data += os.read(near, 65536)
    return data


def test_modes_are_put_back_whatever_happens(ends: tuple[int, int]) -> None:
    near, far = ends
    before = termios.tcgetattr(far)
    with contextlib.suppress(KeyError), Terminal(reads=far, writes=far) as terminal:
        assert not termios.tcgetattr(far)[3] & (termios.ICANON | termios.ECHO | termios.ISIG)
        terminal.write(b"half a line")
        os.write(near, b"\x03")
        assert terminal.read() == b"\x03"
        raise KeyError
    assert termios.tcgetattr(far) == before
    assert os.get_blocking(far)
    assert said(near).endswith(b"\r\n")


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_screen_of_a_program_that_was_ended_is_left(ends: tuple[int, int], cut: int) -> None:
    near, far = ends
    shown = b"x\x1b[?1049l\x1b[?1049hy"
    with Terminal(reads=far, writes=far) as terminal:
        terminal.write(shown[:cut])
        terminal.write(shown[cut:])
    assert said(near).count(b"\x1b[?1049l") == 2


def test_a_screen_that_was_left_is_not_left_again(ends: tuple[int, int]) -> None:
    near, far = ends
    with Terminal(reads=far, writes=far) as terminal:
        terminal.write(b"\x1b[?1049hy\x1b[?1049l\r\n")
    assert said(near).count(b"\x1b[?1049l") == 1


def test_what_the_terminal_has_no_room_for_waits(ends: tuple[int, int]) -> None:
    near, far = ends
    data = b"0123456789" * 30_000
    with Terminal(reads=far, writes=far) as terminal:
        terminal.write(data)
        assert terminal.unsent_bytes > 0
        found = b""
        while len(found) < len(data):
            found += said(near)
            terminal.flush()
        assert found == data


def test_a_terminal_that_is_gone_is_reported(ends: tuple[int, int]) -> None:
    near, far = ends
    os.close(os.dup(near))
    with Terminal(reads=far, writes=far) as terminal:
        other = os.open(os.devnull, os.O_RDWR)
        os.dup2(other, near)  # the last descriptor of its other side
        os.close(other)
        assert terminal.read() == b""
        terminal.write(b"x")
        assert terminal.is_gone


@pytest.mark.parametrize(
    ("typed", "lets_out"),
    [
        ([b"\x1c\x1c\x1c"], True),
        ([b"\x1c", b"\x1c", b"\x1c"], True),
        ([b"abc\x1c\x1c", b"\x1c"], True),
        ([b"\x1c\x1c", b"x", b"\x1c"], False),
        ([b"\x1c\x1c\x1cx"], False),
        ([b"\x1c\x1c"], False),
    ],
)
def test_three_times_and_nothing_between_lets_out(typed: list[bytes], lets_out: bool) -> None:
    terminal = Terminal()
    assert [terminal.is_quit(keys) for keys in typed][-1] is lets_out
