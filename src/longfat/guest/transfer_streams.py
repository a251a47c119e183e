"""A transfer's streams: how their data is moved, and what is seen of it.

See `longfat.guest.transfer`. Source of the calls and of tcp_info: sendfile(2), recv(2), tcp(7)
and include/uapi/linux/tcp.h.
"""

from __future__ import annotations

# Not `socket`, `threading` and `json`; `transfer_ends` says why.
import _socket
import _thread
import itertools
import mmap
import os
import struct
import time

from longfat.guest.transfer_ends import (
    Options,
    TransferError,
    accept,
    connect,
    first_readable,
)
from longfat.guest.zeros import open_zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SHARE_BYTES = 128 << 10
_TAKE_BYTES = 64 << 20

_ENDLESS_S = float("inf")

_TCP_INFO, _TCP_CONGESTION = 11, 13
_MSG_TRUNC, _MSG_WAITALL = 0x20, 0x100

# Of struct tcp_info: snd_mss, pmtu, rtt, rttvar, snd_cwnd, total_retrans, bytes_acked and
# bytes_received.
_INFO = struct.Struct("=16xI40xI4xII4xI16xI16xQQ")

Json = dict[str, "Json"] | list["Json"] | str | int


def transfer(options: Options) -> Json:
    """Do one end's part, and return its report.

    Raises:
        OSError: the network or the kernel refused.
        TransferError: the other end did.
    """
    sends = options.sends
    connections = accept(options) if options.listens else connect(options)
    streams = [Stream(connection, sends=sends) for connection in connections]
    if options.listens and not sends:
        connections[0].send(b"\0")
    elif sends and not options.listens and not first_readable(connections).recv(1):
        raise TransferError("the other end closed the connection before it began")
    work = send_all if sends else receive_all
    return {
        "program": "longfat transfer",
        "end": "sender" if sends else "receiver",
        "sending_us" if sends else "receiving_us": work(streams, options),
        "streams": [stream.report() for stream in streams],
    }


def shares_of(size: int, *, most: int) -> Iterator[int]:
    """Return what is to be sent, in shares that the streams take as they come to it.

    Args:
        size: all of it, in bytes; without end, if 0.
        most: the largest share, in bytes.
    """
    if not size:
        return itertools.repeat(most)
    return itertools.chain(itertools.repeat(most, size // most), (size % most,))


def send_all(streams: list[Stream], options: Options) -> int:
    """Send on all streams; return how long, in microseconds."""
    file, most = open_zeros()
    # No stream is to end long after the others.
    is_shared = options.bytes and options.parallel > 1
    shares = shares_of(options.bytes, most=_SHARE_BYTES if is_shared else most)
    start_s = time.monotonic()
    workers = Workers([(stream.send, (file, shares)) for stream in streams])
    end_s = _ENDLESS_S if options.bytes else options.time_s
    took_us = observe(streams, workers, start_s=start_s, end_s=end_s, every_s=options.interval_s)
    for stream in streams:
        stream.shut()
    workers.wait()
    for stream in streams:
        stream.wait_received()
    return took_us


def receive_all(streams: list[Stream], options: Options) -> int:
    """Receive from all streams; return how long, in microseconds."""
    # It takes no memory: nothing is ever written to it.
    buffer = mmap.mmap(-1, _TAKE_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    start_s = time.monotonic()
    workers = Workers([(stream.receive, (buffer,)) for stream in streams])
    return observe(streams, workers, start_s=start_s, end_s=_ENDLESS_S, every_s=options.interval_s)


def observe(
    streams: list[Stream], workers: Workers, *, start_s: float, end_s: float, every_s: float
) -> int:
    """Look at the streams once in an interval and at the end; return when that was.

    Args:
        streams: the streams.
        workers: what moves their data.
        start_s: when they began, by the clock.
        end_s: after how much time to end, if the workers have not ended before.
        every_s: the interval.

    Returns:
        Microseconds since they began.
    """
    for number in itertools.count(1):
        due_s = min(round(number * every_s, 9), end_s)
        ended = workers.wait(max(0.0, start_s + due_s - time.monotonic()))
        now_us = round((time.monotonic() - start_s) * 1e6)
        for stream in streams:
            stream.look(now_us)
        if ended or due_s == end_s:
            return now_us
    raise AssertionError


class Stream:
    """A connection, and what this end of it sees.

    Args:
        connection: the connection.
        sends: this end sends.
    """

    def __init__(self, connection: _socket.socket, *, sends: bool) -> None:
        self._connection = connection
        self._sends = sends
        self._shut = self._ended = False
        self._moved_bytes = 0
        self._rows: list[Json] = []
        self._ports: dict[str, Json] = {
            "local_port": connection.getsockname()[1],
            "remote_port": connection.getpeername()[1],
        }
        # The kernel counts the connection's own SYN, too, and the byte that says to begin.
        *_, self._acked, self._received = self._info()

    def send(self, file: int, shares: Iterator[int]) -> None:
        """Send from a file, share by share, until there are no more or it is shut."""
        descriptor = self._connection.fileno()
        try:
            for share in shares:
                left = share
                while left:
                    sent = os.sendfile(descriptor, file, 0, left)
                    self._moved_bytes += sent
                    left -= sent
        except BrokenPipeError:
            if not self._shut:
                raise

    def shut(self) -> None:
        """Let nothing more be sent than what is on its way."""
        self._shut = True
        self._connection.shutdown(_socket.SHUT_WR)

    def receive(self, buffer: mmap.mmap) -> None:
        """Receive until the other end has sent all, and let it know."""
        flags = _MSG_WAITALL | _MSG_TRUNC
        while count := self._connection.recv_into(buffer, _TAKE_BYTES, flags):
            self._moved_bytes += count
        self._ended = True
        self._connection.shutdown(_socket.SHUT_WR)

    def wait_received(self) -> None:
        """Wait until the other end has received all."""
        self._connection.recv(1)

    def look(self, now_us: int) -> None:
        """Add a row: what the kernel knows of it now."""
        mss, pmtu, rtt_us, rttvar_us, cwnd, retransmits, acked, received = self._info()
        if self._sends:
            self._rows.append(
                {
                    "end_us": now_us,
                    "acked_bytes": acked - self._acked,
                    "retransmits": retransmits,
                    "cwnd_bytes": cwnd * mss,
                    "rtt_us": rtt_us,
                    "rttvar_us": rttvar_us,
                    "pmtu_bytes": pmtu,
                }
            )
        else:
            # Its end counts as a byte, too.
            count = received - self._received - self._ended
            self._rows.append({"end_us": now_us, "received_bytes": count})

    def report(self) -> Json:
        """Return what was seen, at its end."""
        if not self._sends:
            return {**self._ports, "received_bytes": self._moved_bytes, "rows": self._rows}
        name = self._connection.getsockopt(_socket.IPPROTO_TCP, _TCP_CONGESTION, 16)
        retransmits = self._info()[5]
        return {
            **self._ports,
            "congestion": name.rstrip(b"\0").decode(),
            "sent_bytes": self._moved_bytes,
            "retransmits": retransmits,
            "rows": self._rows,
        }

    def _info(self) -> tuple[int, ...]:
        return _INFO.unpack(self._connection.getsockopt(_socket.IPPROTO_TCP, _TCP_INFO, _INFO.size))


class Workers:
    """Threads that do one thing each.

    Args:
        jobs: functions with their arguments; at least one.
    """

    def __init__(self, jobs: list[tuple[Callable[..., None], tuple[object, ...]]]) -> None:
        self._errors: list[OSError] = []
        self._ends = itertools.count(1)
        self._last = len(jobs)
        self._all_ended = _thread.allocate_lock()
        self._all_ended.acquire()
        for function, arguments in jobs:
            _thread.start_new_thread(self._work, (function, arguments))

    def wait(self, seconds: float = -1) -> bool:
        """Wait until all have ended.

        Args:
            seconds: how long at most; without end, if negative.

        Returns:
            Whether they have.

        Raises:
            OSError: what one of them failed by.
        """
        if not self._all_ended.acquire(timeout=seconds):
            return False
        self._all_ended.release()
        if self._errors:
            raise self._errors[0]
        return True

    def _work(self, function: Callable[..., None], arguments: tuple[object, ...]) -> None:
        try:
            function(*arguments)
        except OSError as error:
            self._errors.append(error)
        # Threads may take turns anywhere but within such a call.
        if next(self._ends) == self._last:
            self._all_ended.release()


def as_json(value: Json) -> str:
    """Write plain values as JSON; all strings here are plain, too."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{name}": {as_json(one)}' for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",\n".join(map(as_json, value)) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
