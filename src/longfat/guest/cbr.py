"""Datagrams at a constant rate: one end of them, as a program of its own.

    cbr.py receive ADDRESS PORT COUNT
    cbr.py send ADDRESS PORT COUNT INTERVAL_NS SIZE TRAFFIC_CLASS [NAME]
    cbr.py serve ADDRESS PORT COUNT INTERVAL_NS SIZE TRAFFIC_CLASS [NAME]
    cbr.py fetch ADDRESS PORT COUNT INTERVAL_NS

With a NAME the times between datagrams are random: exponentially distributed with the interval as
their mean (a Poisson process), and dependent on LONGFAT_SEED in the environment and the name.

Each datagram has its number, from 0, and the time at which it was sent, by the clock that all
hosts of a machine share. After the last one the sender sends a few that say that it was the last;
the receiver waits until all have come, or none for two seconds after that, or somebody ends it by
SIGTERM, and prints what came: number, sending and arrival of each in the order of arrival.

In the reverse direction the server sends (`serve`), to the address that the first request came
from, so that it works through NAT. The client (`fetch`) repeats its request each second until a
datagram has come. It ends when all have come, or none for two seconds after the last was sent; if
none ever comes, ten seconds after the last would have been sent.

A datagram costs the sender three system calls (sleep, clock, send) and the receiver two (receive,
clock), of `fetch` three (poll, too). Both reports are JSON on standard output; times are in
nanoseconds since boot.

Source of the calls: clock_nanosleep(2), udp(7), ip(7), ipv6(7), socket(7).
"""

import os
import sys

# As for `main`: nothing else of longfat is there in a machine.
sys.path.insert(0, os.path.abspath(f"{__file__}/../../.."))
# `socket` brings others in.
import _socket
import signal
import struct
import time
from collections.abc import Iterator

from longfat.guest import system
from longfat.guest.sizes import Draws

_HEADER = struct.Struct("<qq")
_LAST, _REQUEST = -1, -2
_LAST_COUNT, _LAST_GAP_NS = 3, 10_000_000
_SILENCE_S = 2
_REQUEST_EVERY_S, _GIVE_UP_S = 1, 10
_BUFFER_BYTES = 8 << 20
_MAX_VALUE = 65535
_IPV6_TCLASS = 67


class _EndError(Exception):
    """Somebody ends us."""


def main(words: list[str]) -> None:
    """Do what the command line says; `words` are those after the program's name."""
    try:
        target, count = (words[1], int(words[2])), int(words[3])
        socket = _new_socket(target[0])
        if words[0] == "receive":
            print(_receive(socket, target, count))
        elif words[0] == "fetch":
            print(_fetch(socket, target, count, int(words[4])))
        else:
            every_ns, size, traffic_class = map(int, words[4:7])
            times_ns = _times_ns(every_ns, name=words[7] if len(words) > 7 else None)
            _set_traffic_class(socket, traffic_class)
            if words[0] == "send":
                socket.connect(target)
                print(_send(socket, count, times_ns, size))
            else:
                print(_serve(socket, target, count, times_ns, size))
    except OSError as error:
        sys.exit(f"{' '.join(words[:3])}: {error.strerror}")


def _new_socket(address: str) -> _socket.socket:
    family = _socket.AF_INET6 if ":" in address else _socket.AF_INET
    return _socket.socket(family, _socket.SOCK_DGRAM)


def _set_traffic_class(socket: _socket.socket, traffic_class: int) -> None:
    if traffic_class and socket.family == _socket.AF_INET6:
        socket.setsockopt(_socket.IPPROTO_IPV6, _IPV6_TCLASS, traffic_class)
    elif traffic_class:
        socket.setsockopt(_socket.IPPROTO_IP, _socket.IP_TOS, traffic_class)


def _times_ns(every_ns: int, *, name: str | None) -> Iterator[int]:
    """Return when each datagram is sent, from 0 for the first on, without an end.

    Args:
        every_ns: the time between two of them, or its mean.
        name: what random times depend on beside the seed; None for equal times.
    """
    time_ns = 0.0
    draws = name and Draws(f"{os.environ.get('LONGFAT_SEED', '1')} {name} times")
    while True:
        yield round(time_ns)
        time_ns += draws.exponential(every_ns) if draws else every_ns


def _send(socket: _socket.socket, count: int, times_ns: Iterator[int], size: int) -> str:
    """Send to the connected address; SIGTERM ends it early if `_serve` caught it."""
    fill = bytes(size - _HEADER.size)
    start_ns = time.monotonic_ns()
    sent = refused = 0
    try:
        for number, time_ns in zip(range(count), times_ns):  # noqa: B905 (times have no end)
            if number:
                system.sleep_until(start_ns + time_ns)
            refused += not _sent(socket, _HEADER.pack(number, time.monotonic_ns()) + fill)
            sent += 1
        end_ns = start_ns + next(times_ns)
        for number in range(_LAST_COUNT):
            system.sleep_until(end_ns + number * _LAST_GAP_NS)
            _sent(socket, _HEADER.pack(_LAST, 0))
    except _EndError:
        pass
    return (
        f'{{"program": "longfat cbr", "end": "sender", "start_ns": {start_ns}, "sent": {sent}, '
        f'"refused": {refused}}}'
    )


def _sent(socket: _socket.socket, data: bytes) -> bool:
    """Send a datagram; return whether the kernel took it."""
    try:
        socket.send(data)
    except ConnectionRefusedError:
        # An ICMP message about an earlier one: nobody listens now. It took the call's place.
        try:
            socket.send(data)
        except OSError:
            return False
    except OSError:
        return False  # no route, or a full queue: a datagram that is lost
    return True


def _serve(
    socket: _socket.socket,
    address: tuple[str, int],
    count: int,
    times_ns: Iterator[int],
    size: int,
) -> str:
    """Wait for a request, then send to its source."""
    signal.signal(signal.SIGTERM, _end)
    socket.bind(address)
    try:
        while True:
            data, source = socket.recvfrom(_MAX_VALUE)
            if len(data) >= _HEADER.size and _HEADER.unpack_from(data)[0] == _REQUEST:
                break
    except _EndError:
        return '{"program": "longfat cbr", "end": "sender", "start_ns": 0, "sent": 0, "refused": 0}'
    socket.connect(source)
    report = _send(socket, count, times_ns, size)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return report


def _end(*_: object) -> None:
    raise _EndError


def _receive(socket: _socket.socket, address: tuple[str, int], count: int) -> str:
    # What comes while we are about to look is not to be lost.
    socket.setsockopt(_socket.SOL_SOCKET, _socket.SO_RCVBUF, _BUFFER_BYTES)
    socket.bind(address)
    rows: list[tuple[int, int, int]] = []
    missing = set(range(count))
    signal.signal(signal.SIGTERM, _end)
    try:
        while missing:
            data = socket.recv(_MAX_VALUE)
            number, sent_ns = _HEADER.unpack_from(data)
            if number == _LAST:
                socket.settimeout(_SILENCE_S)
                continue
            rows.append((number, sent_ns, time.monotonic_ns()))
            missing.discard(number)
    except (_EndError, TimeoutError):
        pass
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return _report(rows)


def _fetch(socket: _socket.socket, target: tuple[str, int], count: int, every_ns: int) -> str:
    """Request the datagrams, and receive them."""
    socket.setsockopt(_socket.SOL_SOCKET, _socket.SO_RCVBUF, _BUFFER_BYTES)
    socket.connect(target)
    rows: list[tuple[int, int, int]] = []
    missing = set(range(count))
    now_ns = time.monotonic_ns()
    end_ns = now_ns + count * every_ns + _GIVE_UP_S * 10**9
    request_ns = now_ns
    while missing:
        if not rows and now_ns >= request_ns:
            _sent(socket, _HEADER.pack(_REQUEST, 0))
            request_ns += _REQUEST_EVERY_S * 10**9
        until_ns = end_ns if rows else min(end_ns, request_ns)
        socket.settimeout(max(until_ns - now_ns, 1) / 1e9)
        try:
            number, sent_ns = _HEADER.unpack_from(socket.recv(_MAX_VALUE))
            now_ns = time.monotonic_ns()
        except TimeoutError:
            now_ns = time.monotonic_ns()
            if now_ns >= end_ns:
                break
            continue
        except ConnectionRefusedError:
            now_ns = time.monotonic_ns()  # the server is not there yet, or no more
            continue
        if number != _LAST:
            rows.append((number, sent_ns, now_ns))
            missing.discard(number)
            last_ns = sent_ns + (count - number) * every_ns
            end_ns = max(now_ns, last_ns) + _SILENCE_S * 10**9
    return _report(rows)


def _report(rows: list[tuple[int, int, int]]) -> str:
    text = ",\n".join(f"[{number}, {sent}, {arrived}]" for number, sent, arrived in rows)
    return f'{{"program": "longfat cbr", "end": "receiver", "datagrams": [{text}]}}'


if __name__ == "__main__":
    main(sys.argv[1:])
