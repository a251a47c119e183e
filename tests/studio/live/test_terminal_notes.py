"""What a terminal's shell tells besides what it shows: lines that were typed, and pings."""

from __future__ import annotations

import time
from typing import cast

import pytest

from longfat.engine.machine.machine import START_OF_TIME_S
from longfat.live.task import Task
from longfat.studio.live.terminals import MAX_SHOWN_BYTES, Terminal

NOTE = b"\x1b]7777;%d.250000    3  ping -c 2 -i 0.5 h2\r\n\a" % (START_OF_TIME_S + 7)
REPLY = b"64 bytes from h2 (10.0.0.2): icmp_seq=%d ttl=64 time=%s ms\r\n"


def terminal() -> Terminal:
    return Terminal(number=1, node="h1", task=cast("Task", None))


@pytest.mark.parametrize("size", [1, 3, 7, 1000])
def test_notes_are_taken_out_wherever_they_are_cut(size: int) -> None:
    one = terminal()
    said = b"h1 # \x1b[1mping\x1b[0m\r\n" + NOTE + b"PING h2\r\n"
    for start in range(0, len(said), size):
        one.show(said[start : start + size])
    assert bytes(one.shown) == said.replace(NOTE, b"")
    (note,) = one.notes
    assert (note.at_s, note.line, note.status) == (7.25, "ping -c 2 -i 0.5 h2", None)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_line_gets_its_exit_status(size: int) -> None:
    one = terminal()
    said = NOTE + b"PING h2\r\n" + b"\x1b]7777;=2\a" + b"h1 # "
    for start in range(0, len(said), size):
        one.show(said[start : start + size])
    assert bytes(one.shown) == b"PING h2\r\nh1 # "
    assert one.notes[0].status == 2


def test_a_pings_replies_are_at_their_own_times() -> None:
    one = terminal()
    one.show(NOTE + REPLY.replace(b"h2 (10.0.0.2)", b"10.0.0.2") % (1, b"20.0"))
    one.show(REPLY.replace(b"h2 (10.0.0.2)", b"10.0.0.2") % (3, b"10.0"))
    found = [(reply.address, reply.sequence, reply.rtt_s) for reply in one.replies]
    assert found == [("10.0.0.2", 1, 0.02), ("10.0.0.2", 3, 0.01)]
    assert [reply.time_s for reply in one.replies] == pytest.approx([7.27, 8.26])
    one.show(NOTE.replace(b"ping -c 2 -i 0.5 h2", b"cat replies"))
    one.show(REPLY % (4, b"10.0"))
    assert len(one.replies) == 2


@pytest.mark.parametrize(
    "flood",
    [
        b"\x1b",
        b"\x1b]7777;",
        b"\x1b]7777;1.1 1 x\a",
        b"bytes from x icmp_seq=1 ",
        b"64 bytes from x: icmp_seq=" + b"9" * 5000 + b" time=1 ms\n",
        b"64 bytes from x: icmp_seq=1 ttl=1 time=1.2.3 ms\n",
    ],
)
def test_who_floods_a_terminal_holds_nobody_up(flood: bytes) -> None:
    one = terminal()
    one.show(NOTE)
    start_s = time.monotonic()
    one.show(flood * (1_000_000 // len(flood)))
    assert time.monotonic() - start_s < 3
    assert len(one.shown) <= MAX_SHOWN_BYTES
    assert len(one.notes) <= 100
