"""Datagrams at a constant rate: one end of them, as a program of its own.

    cbr.py receive ADDRESS PORT COUNT
    cbr.py send ADDRESS PORT COUNT INTERVAL_NS SIZE TRAFFIC_CLASS

Each datagram has its number, from 0, and the time at which it was sent, by the clock that all
hosts of a machine share. After the last one the sender sends a few that say that it was the last;
the receiver waits until all have come, or none for two seconds after that, or somebody ends it by
SIGTERM, and prints what came: number, sending and arrival of each in the order of arrival.

A datagram costs the sender three system calls (sleep, clock, send) and the receiver two (receive,
clock). Both reports are JSON on standard output; times are in nanoseconds since boot.

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

from longfat.guest import system

_HEADER = struct.Struct("<qq")
_LAST = -1
_LAST_COUNT, _LAST_GAP_NS = 3, 10_000_000
_SILENCE_S = 2
_BUFFER_BYTES = 8 << 20
_MAX_VALUE = 65535
_IPV6_TCLASS = 67


class _EndError(Exception):
    """Somebody ends us."""


def main(words: list[str]) -> None:
    """Do what the command line says; `words` are those after the program's name."""
    try:
        address, port, count = words[1], int(words[2]), int(words[3])
        if words[0] == "receive":
            print(_receive(address, port, count))
        else:
            every_ns, size, traffic_class = map(int, words[4:])
            print(_send((address, port), count, every_ns, size, traffic_class))
    except OSError as error:
        sys.exit(f"{' '.join(words[:3])}: {error.strerror}")


def _new_socket(address: str) -> _socket.socket:
    family = _socket.AF_INET6 if ":" in address else _socket.AF_INET
    return _socket.socket(family, _socket.SOCK_DGRAM)


def _send(target: tuple[str, int], count: int, every_ns: int, size: int, traffic_class: int) -> str:
    socket = _new_socket(target[0])
    if traffic_class and ":" in target[0]:
        socket.setsockopt(_socket.IPPROTO_IPV6, _IPV6_TCLASS, traffic_class)
    elif traffic_class:
        socket.setsockopt(_socket.IPPROTO_IP, _socket.IP_TOS, traffic_class)
    socket.connect(target)
    fill = bytes(size - _HEADER.size)
    start_ns = time.monotonic_ns()
    refused = 0
    for number in range(count):
        if number:
            system.sleep_until(start_ns + number * every_ns)
        refused += not _sent(socket, _HEADER.pack(number, time.monotonic_ns()) + fill)
    for number in range(_LAST_COUNT):
        system.sleep_until(start_ns + count * every_ns + number * _LAST_GAP_NS)
        _sent(socket, _HEADER.pack(_LAST, 0))
    return (
        f'{{"program": "longfat cbr", "end": "sender", "start_ns": {start_ns}, "sent": {count}, '
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


def _receive(address: str, port: int, count: int) -> str:
    socket = _new_socket(address)
    # What comes while we are about to look is not to be lost.
    socket.setsockopt(_socket.SOL_SOCKET, _socket.SO_RCVBUF, _BUFFER_BYTES)
    socket.bind((address, port))
    rows: list[tuple[int, int, int]] = []
    missing = set(range(count))

    def end(*_: object) -> None:
        raise _EndError

    signal.signal(signal.SIGTERM, end)
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
    text = ",\n".join(f"[{number}, {sent}, {arrived}]" for number, sent, arrived in rows)
    return f'{{"program": "longfat cbr", "end": "receiver", "datagrams": [{text}]}}'


if __name__ == "__main__":
    main(sys.argv[1:])
