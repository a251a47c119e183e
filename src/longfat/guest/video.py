"""Adaptive video: a player that fetches segments over one connection, as a program of its own.

    video.py serve ADDRESS PORT
    video.py play ADDRESS PORT TIME_NS SEGMENT_NS BUFFER_NS buffer|throughput RATE...

The server is that of `longfat.guest.requests`. The player asks for one segment after the other, of
a size that its rate (of the RATEs, bit/s, from the lowest) and SEGMENT_NS give; when another one
would not fit into the buffer, it waits. Playing starts with the first whole segment. When the
buffer is empty it stalls, until another segment is whole. After TIME_NS all ends.

Which rate it asks for:

* `buffer`: as its buffer says. That is the algorithm BBA-0 of T.-Y. Huang and others, "A
  Buffer-Based Approach to Rate Adaptation", SIGCOMM 2014, section 4 and algorithm 1: below the
  reservoir the lowest rate, above the cushion the highest, and in between one that grows with the
  buffer; it changes when that passes the next higher or lower one. The reservoir is three eighths
  of the buffer, and the cushion ends at nine tenths (the paper: 90 s and 216 s of 240 s).
* `throughput`: the highest below nine tenths of the harmonic mean of the last five segments'
  throughput.

The player's report is JSON on standard output; times are in nanoseconds after its start. Of each
segment it has when it was asked for, when it was whole (-1 if it was not), and the number of its
rate; and the stalls with start and end.
"""

import os
import sys

# As for `main`: nothing else of longfat is there in a machine.
sys.path.insert(0, os.path.abspath(f"{__file__}/../../.."))
# `socket` brings others in.
import _socket
import contextlib
import mmap
import struct
import time

from longfat.guest import system
from longfat.guest.requests_server import END, HEADER, STAY, serve

_TAKE_BYTES = 64 << 20
_MSG_TRUNC, _MSG_WAITALL = 0x20, 0x100
_SO_RCVTIMEO = 20
_TIME = struct.Struct("=qq")
_RESERVOIR, _CUSHION_END = 3 / 8, 9 / 10
_LAST_SEGMENTS, _SAFETY = 5, 0.9


class Buffer:
    """What is left to be played, and when playing stalled.

    Args:
        segment_ns: how long a segment plays.

    Attributes:
        level_ns: how long what is in it plays.
        started_ns: when playing began; -1 if it has not.
        stalls: start and end of each stall.
    """

    def __init__(self, segment_ns: int) -> None:
        self._segment_ns = segment_ns
        self._now_ns = 0
        self.level_ns = 0
        self.started_ns = -1
        self._stalled_ns = -1
        self.stalls: list[tuple[int, int]] = []

    def play(self, now_ns: int) -> None:
        """Play until a time."""
        if self.started_ns >= 0 and self._stalled_ns < 0:
            self.level_ns -= now_ns - self._now_ns
            if self.level_ns < 0:
                self._stalled_ns = now_ns + self.level_ns
                self.level_ns = 0
        self._now_ns = now_ns

    def add(self, now_ns: int) -> None:
        """Take in a segment."""
        self.play(now_ns)
        self.level_ns += self._segment_ns
        if self.started_ns < 0:
            self.started_ns = now_ns
        if self._stalled_ns >= 0:
            self.stalls.append((self._stalled_ns, now_ns))
            self._stalled_ns = -1

    def end(self, now_ns: int) -> None:
        """Play until the end."""
        self.play(now_ns)
        if 0 <= self._stalled_ns < now_ns:
            self.stalls.append((self._stalled_ns, now_ns))


def by_buffer(rates: list[int], before: int, level_ns: int, most_ns: int) -> int:
    """Return the number of the next segment's rate, by BBA-0.

    Args:
        rates: the rates, from the lowest.
        before: the number of the last segment's.
        level_ns: what is in the buffer.
        most_ns: the buffer's size.
    """
    low_ns, high_ns = most_ns * _RESERVOIR, most_ns * _CUSHION_END
    if level_ns <= low_ns:
        return 0
    if level_ns >= high_ns:
        return len(rates) - 1
    allowed = rates[0] + (rates[-1] - rates[0]) * (level_ns - low_ns) / (high_ns - low_ns)
    if before + 1 < len(rates) and allowed >= rates[before + 1]:
        return max(n for n, rate in enumerate(rates) if rate <= allowed)
    if before > 0 and allowed <= rates[before - 1]:
        return min(n for n, rate in enumerate(rates) if rate >= allowed)
    return before


def by_throughput(rates: list[int], measured: list[float]) -> int:
    """Return the number of the next segment's rate: what the last ones' throughput allows.

    Args:
        rates: the rates, from the lowest.
        measured: the throughput of the last segments, in bit/s.
    """
    if not measured:
        return 0
    last = measured[-_LAST_SEGMENTS:]
    allowed = _SAFETY * len(last) / sum(1 / one for one in last)
    return max((n for n, rate in enumerate(rates) if rate <= allowed), default=0)


def main(words: list[str]) -> None:
    """Do what the command line says; `words` are those after the program's name."""
    try:
        if words[0] == "serve":
            serve(words[1], int(words[2]), congestion="")
        else:
            time_ns, segment_ns, most_ns, *rates = map(int, [*words[3:6], *words[7:]])
            print(
                _play(
                    (words[1], int(words[2])),
                    rates,
                    adaptation=words[6],
                    time_ns=time_ns,
                    segment_ns=segment_ns,
                    most_ns=most_ns,
                )
            )
    except OSError as error:
        sys.exit(f"{' '.join(words[:3])}: {error.strerror}")


def _play(
    server: tuple[str, int],
    rates: list[int],
    *,
    adaptation: str,
    time_ns: int,
    segment_ns: int,
    most_ns: int,
) -> str:
    start_ns = time.monotonic_ns()
    family = _socket.AF_INET6 if ":" in server[0] else _socket.AF_INET
    socket = _socket.socket(family, _socket.SOCK_STREAM)
    socket.connect(server)
    # It takes no memory: nothing is ever written to it.
    room = mmap.mmap(-1, _TAKE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    buffer = Buffer(segment_ns)
    segments: list[tuple[int, int, int]] = []
    measured: list[float] = []
    number = 0
    while (now_ns := time.monotonic_ns() - start_ns) < time_ns:
        buffer.play(now_ns)
        if (early_ns := buffer.level_ns + segment_ns - most_ns) > 0:
            system.sleep_until(start_ns + min(now_ns + early_ns, time_ns))
            continue
        if adaptation == "buffer":
            number = by_buffer(rates, number, buffer.level_ns, most_ns)
        else:
            number = by_throughput(rates, measured)
        size = max(1, rates[number] * segment_ns // 8_000_000_000)
        socket.send(HEADER.pack(size, HEADER.size, STAY))
        if not _take(socket, room, size, start_ns + time_ns):
            segments.append((now_ns, -1, number))
            break
        whole_ns = time.monotonic_ns() - start_ns
        segments.append((now_ns, whole_ns, number))
        measured.append(size * 8e9 / (whole_ns - now_ns))
        buffer.add(whole_ns)
    buffer.end(time_ns)
    with contextlib.suppress(OSError):
        socket.send(HEADER.pack(0, HEADER.size, END))
    rows = ",\n".join(f"[{asked}, {whole}, {rate}]" for asked, whole, rate in segments)
    stalls = ", ".join(f"[{begin}, {end}]" for begin, end in buffer.stalls)
    return (
        f'{{"program": "longfat video", "started_ns": {buffer.started_ns}, '
        f'"port": {socket.getsockname()[1]}, "server_port": {server[1]},\n'
        f'"stalls": [{stalls}],\n"segments": [{rows}]}}'
    )


def _take(socket: _socket.socket, room: mmap.mmap, size: int, end_ns: int) -> bool:
    """Receive a segment; return whether it was whole before the end."""
    while size:
        left_ns = end_ns - time.monotonic_ns()
        if left_ns < 1000:  # of less, the kernel would make no limit at all
            return False
        limit = _TIME.pack(left_ns // 10**9, left_ns % 10**9 // 1000)
        socket.setsockopt(_socket.SOL_SOCKET, _SO_RCVTIMEO, limit)
        try:
            flags = _MSG_TRUNC | _MSG_WAITALL
            count = socket.recv_into(room, min(size, _TAKE_BYTES), flags)
        except BlockingIOError:
            return False
        if not count:
            return False
        size -= count
    return True


if __name__ == "__main__":
    main(sys.argv[1:])
