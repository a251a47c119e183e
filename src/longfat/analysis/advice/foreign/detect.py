"""Distinguishes files by their content, and diagnoses several of one experiment together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from longfat.analysis.advice.foreign.capture import diagnose_capture
from longfat.analysis.advice.foreign.combine import combine
from longfat.analysis.advice.foreign.foreign_diagnosis import ConnectionKey, ForeignDiagnosis
from longfat.analysis.advice.foreign.iperf3 import diagnose_report
from longfat.analysis.advice.foreign.socket_text import read_sockets
from longfat.analysis.advice.foreign.sockets import diagnose_socket
from longfat.common.decoding import MAX_RAW_BYTES, open_regular, read_bytes
from longfat.errors import InputError
from longfat.model.traffic.iperf3_any import read_any_report

KINDS = (
    "a run directory of longfat, a report of `iperf3 -J` (or --json-stream), the output of `ss "
    "-tin` "
    "(better `ss -tinm`), or a capture (pcap, pcapng)"
)
"""What can be diagnosed."""

MAX_SOCKETS = 8
"""So many sockets of a file are diagnosed, those with the most data."""

_CAPTURES = (
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\xc3\xd4",
    b"\x4d\x3c\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x0a\x0d\x0d\x0a",
)
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"\xfd7": "xz",
    b"PK": "zip",
    b"BZ": "bzip2",
    b"\x28\xb5": "zstd",
}
# Sockets with less than both parts of the largest one's data are of control connections.
_MIN_PART, _MIN_BYTES = 1e-3, 1e6


def diagnose_files(paths: Sequence[Path]) -> tuple[ForeignDiagnosis, ...]:
    """Return what limited the flows in files; those about one connection are combined.

    Args:
        paths: the files, of any of the `KINDS` but a run.

    Raises:
        InputError: a file cannot be read, or is none of these.
    """
    return combine([one for path in paths for one in diagnose_file(path)])


def diagnose_file(path: Path) -> tuple[ForeignDiagnosis, ...]:
    """Return what limited the flows in one file; see `diagnose_files`."""
    head = _head(path)
    if head[:4] in _CAPTURES:
        return diagnose_capture(path)
    for magic, name in _COMPRESSED.items():
        if head.startswith(magic):
            raise InputError(f"{path}: a file compressed by {name}: unpack it first")
    text = _text(path)
    if text.lstrip().startswith("{"):
        return _diagnose_report(path)
    sockets = _diagnose_sockets(path, text)
    if sockets:
        return sockets
    if "\n{" in text:
        return _diagnose_report(path)
    raise InputError(f"{path}: {_why_not(text)}; what can be diagnosed: {KINDS}")


def _diagnose_report(path: Path) -> tuple[ForeignDiagnosis, ...]:
    try:
        return diagnose_report(read_any_report(path))
    except InputError as error:
        message = error.message.replace("there is nothing to draw", "it measured nothing")
        raise InputError(message) from None


def _head(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read(8)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file or run; what can be diagnosed: {KINDS}") from None
    except IsADirectoryError:
        raise InputError(
            f"{path}: a directory, but not of a run; what can be diagnosed: {KINDS}"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


def _text(path: Path) -> str:
    try:
        content = read_bytes(path, most_bytes=MAX_RAW_BYTES)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    if not content.strip():
        raise InputError(f"{path}: an empty file; what can be diagnosed: {KINDS}")
    if b"\0" in content:
        raise InputError(
            f"{path}: binary data ({content[:8]!r}...), but no capture; what can be diagnosed: "
            f"{KINDS}"
        )
    return content.decode("utf-8-sig", errors="replace")


def _why_not(text: str) -> str:
    start = text.lstrip()
    if start.startswith(("Connecting to host", "Server listening on", "Accepted connection")):
        return "iperf3's output for people: run it with -J"
    if "Client connecting to" in text or "TCP window size" in text:
        return "the output of iperf 2, which has no RTT: run iperf3 -J"
    if start.startswith(("State", "Netid", "Recv-Q")) and len(start.splitlines()) == 1:
        return "ss printed no connection: run it while the transfer runs"
    if start.startswith(("State", "Netid", "Recv-Q")) or "ESTAB" in text:
        return "the output of ss without what the kernel knows of each socket: run `ss -tinm`"
    if "bytes from" in text and "icmp_seq" in text:
        return "the output of ping, which measures no flow"
    line = start.splitlines()[0][:60] if start else ""
    return f"not known what this is (it starts with {line!r})"


def _diagnose_sockets(path: Path, text: str) -> tuple[ForeignDiagnosis, ...]:
    sockets = read_sockets(text)

    def moved(states: Sequence) -> float:  # type: ignore[type-arg]
        last = states[-1]
        names = ("bytes_acked", "bytes_sent", "bytes_received", "notsent")
        return float(sum(last.count(name) for name in names) + (last.send_queue_bytes or 0.0))

    order = sorted(sockets, key=moved, reverse=True)
    largest = moved(order[0]) if order else 0.0
    least = min(_MIN_PART * largest, _MIN_BYTES)
    chosen = [states for states in order if moved(states) >= least][:MAX_SOCKETS]
    found = []
    for states in chosen:
        diagnosis = diagnose_socket(states, files=(str(path),))
        ends = [_end(text) for text in (states[-1].local, states[-1].peer)]
        if all(end is not None for end in ends):
            key = ConnectionKey(end for end in ends if end is not None)
            diagnosis = replace(diagnosis, connections=(key,))
        found.append(diagnosis)
    left = len(sockets) - len(found)
    if left and found:
        note = f"{left} more socket{'s' if left > 1 else ''} with little data in {path}."
        found[-1] = replace(found[-1], notes=(*found[-1].notes, note))
    return tuple(found)


def _end(text: str) -> tuple[str, int] | None:
    """Return the address and port of an end as ss prints it; None if the port is a name."""
    address, _, port = text.rpartition(":")
    address = address.partition("%")[0].strip("[]").removeprefix("::ffff:")
    return (address, int(port)) if port.isdecimal() else None
