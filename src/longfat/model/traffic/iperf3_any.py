"""Any report of iperf3, of any network and version: what rows it has, and what is wrong with it.

The reports of a run are known to be complete, and anything missing is an internal error;
these are files of the user. So an aborted test gives the rows that it has, and errors in
files are reported in the user's terms.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.common.decoding import MAX_RAW_BYTES, describe, read_bytes
from longfat.errors import InputError
from longfat.model.traffic.iperf3 import streams_of
from longfat.model.traffic.iperf3_json import INTERVALS

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.model.traffic.bulk import Interval

_RIGHT = "expected what `iperf3 -J` prints"
_MAX_QUOTE_LENGTH = 40
_MAX_MESSAGE_LENGTH = 300  # of iperf3's own errors, which say what is wrong
_SEVERAL = (
    "several reports, one behind the other, as a server writes that serves several tests, or a "
    "shell by `>>`; put each into a file of its own"
)
_MAX_VALUE = 2.0**63


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyReport:
    """The rows of a report.

    Attributes:
        path: the file.
        version: iperf3's version, such as `iperf 3.12`; empty if not given.
        streams: the rows of each stream.
        broken: the error that ended the test; empty where it ended well.
        congestion: the sender's congestion control; empty if not given.
        started_s: when it started, in seconds since 1970; None if not given.
        total_bytes: the total sent, as reported; None if not given.
        receiver_bps: the throughput at the receiver, as reported; None likewise.
        connections: the ends of each stream: its own address and port, and the other end's.
        is_udp: it is of UDP.
        is_server: it was written by the server.
        target_bps: the rate that each stream keeps to (-b); None without one.
        pacing_bps: the largest rate of the sockets (--fq-rate); None without one.
        window_bytes: the socket buffer that was requested (-w); None without one.
        loss: the share of datagrams that were lost; None if not given.
        cpu: the share of a CPU that this end used; None if not given.
    """

    path: Path
    version: str
    streams: tuple[tuple[Interval, ...], ...]
    broken: str
    congestion: str = ""
    started_s: float | None = None
    total_bytes: float | None = None
    receiver_bps: float | None = None
    connections: tuple[tuple[tuple[str, int], tuple[str, int]], ...] = ()
    is_udp: bool = False
    is_server: bool = False
    target_bps: float | None = None
    pacing_bps: float | None = None
    window_bytes: float | None = None
    loss: float | None = None
    cpu: float | None = None


def read_any_report(path: Path) -> AnyReport:
    """Read what `iperf3 -J` (or `--json-stream`) wrote.

    Raises:
        InputError: there is no such file, it is no such report, or it has no rows.
    """
    data = _decoded(path, _text(path))
    if not isinstance(data, dict) or not {"start", "intervals", "end", "error"} & data.keys():
        raise InputError(f"{path}: JSON, but not iperf3's: {_shape(data)}; {_RIGHT}")
    error = data.get("error", "")
    broken = error if isinstance(error, str) else describe(error)
    intervals = data.get("intervals")
    if not intervals and broken:
        raise InputError(f"{path}: the test failed, and there is nothing to draw: {broken}")
    if not intervals:
        raise InputError(f"{path}: a report of iperf3 without any interval; {_RIGHT}")
    where = f"{path}: its intervals are not iperf3's"
    streams = streams_of(INTERVALS.decode(intervals, where=where, error=_wrong))
    if any(row.end_s < row.start_s for stream in streams for row in stream):
        raise _wrong(f"{where}: a row ends before its start")
    start = data.get("start")
    version = start.get("version", "") if isinstance(start, dict) else ""
    version = version if isinstance(version, str) else ""
    if not any(not row.omitted for stream in streams for row in stream):
        why = f"; {broken}" if broken else ""
        raise InputError(f"{path}: all its intervals are omitted ones (-O){why}")
    end = data.get("end")
    congestion = _found(end, "sender_tcp_congestion")
    return AnyReport(
        path=path,
        version=version,
        streams=streams,
        broken=broken,
        congestion=congestion if isinstance(congestion, str) else "",
        started_s=_number(_found(start, "timestamp", "timesecs")),
        total_bytes=_number(_found(end, "sum_sent", "bytes")),
        receiver_bps=_number(_found(end, "sum_received", "bits_per_second")),
        connections=_connections(_found(start, "connected")),
        is_udp=_found(start, "test_start", "protocol") == "UDP",
        is_server=_found(start, "accepted_connection") is not None,
        target_bps=_target(start) or None,
        pacing_bps=_number(_found(start, "test_start", "fqrate")) or None,
        window_bytes=_number(_found(start, "sock_bufsize")) or None,
        loss=_scaled(_number(_found(end, "sum", "lost_percent"))),
        cpu=_scaled(_number(_found(end, "cpu_utilization_percent", "host_total"))),
    )


def _target(start: Any) -> float | None:
    """Return the rate of `-b`; iperf3 before 3.12 reports none."""
    own = _number(_found(start, "target_bitrate"))
    return _number(_found(start, "test_start", "target_bitrate")) or own


def _scaled(percent: float | None) -> float | None:
    return None if percent is None else percent / 100


def _socket_end(entry: Any, side: str) -> tuple[str, int] | None:
    host, port = _found(entry, f"{side}_host"), _number(_found(entry, f"{side}_port"))
    return (host, int(port)) if isinstance(host, str) and port is not None else None


def _connections(connected: Any) -> tuple[tuple[tuple[str, int], tuple[str, int]], ...]:
    """Return the ends of streams, as far as they are what iperf3 writes."""
    ends = []
    for entry in connected if isinstance(connected, list) else ():
        own, other = (_socket_end(entry, side) for side in ("local", "remote"))
        if own is not None and other is not None:
            ends.append((own, other))
    return tuple(ends)


def _found(data: Any, *keys: str) -> Any:
    """Return the value in nested objects at keys; None if there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _number(value: Any) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if good and 0 <= value < _MAX_VALUE else None


def _wrong(message: str) -> InputError:
    return InputError(f"{message}; {_RIGHT}")


def _text(path: Path) -> str:
    try:
        content = read_bytes(path, most_bytes=MAX_RAW_BYTES)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; {_RIGHT}") from None
    except IsADirectoryError:
        raise InputError(f"{path}: a directory; {_RIGHT}, in a file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if not content.strip():
        raise InputError(f"{path}: an empty file; {_RIGHT}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise InputError(f"{path}: not text but binary data ({content[:8]!r}...); {_RIGHT}")
    return text.strip()


def _decoded(path: Path, text: str) -> Any:
    # What else was printed into the file, before the report or behind it, is passed over.
    begin = re.search(r"^\{", text, re.MULTILINE)
    text = text if begin is None else text[begin.start() :]
    decoder = json.JSONDecoder()
    try:
        data, end = decoder.raw_decode(text)
    except RecursionError:
        raise InputError(f"{path}: JSON nested too deep to be iperf3's; {_RIGHT}") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: {_not_json(text, error)}; {_RIGHT}") from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"{path}: not iperf3's JSON: {error}; {_RIGHT}") from None
    if isinstance(data, dict) and "event" in data:
        return _from_stream(path, text)
    if re.search(r"^\{", text[end:], re.MULTILINE) or text[end:].lstrip().startswith("{"):
        raise InputError(f"{path}: {_SEVERAL}")
    return data


def _from_stream(path: Path, text: str) -> dict[str, Any]:
    """Put the events of `--json-stream` together as `-J` does."""
    found: dict[str, Any] = {"intervals": []}
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
            kind, data = event["event"], event["data"]
            if not isinstance(kind, str):
                raise TypeError(kind)
        except (ValueError, KeyError, TypeError, RecursionError):
            if number == len(lines):
                # Events are written one by one: those before are whole.
                found.setdefault("error", f"the file is cut off in line {number}")
                break
            raise InputError(
                f"{path}:{number}: not an event of iperf3's --json-stream: {_quote(line)}"
            ) from None
        if kind == "start" and "start" in found:
            raise InputError(f"{path}:{number}: {_SEVERAL}")
        if kind == "interval":
            found["intervals"].append(data)
        else:
            found[kind] = data
    return found


def _not_json(text: str, error: json.JSONDecodeError) -> str:
    if text.startswith(("Connecting to host", "-----", "Server listening", "iperf3:")):
        quoted = _quote(text, max_length=_MAX_MESSAGE_LENGTH)
        return f"iperf3's output for people, not JSON: {quoted}"
    if not text.startswith(("{", "[")):
        return f"not JSON: it starts with {_quote(text)}"
    # What is wrong of a text that was cut is at its end, or where its last word starts.
    rest = text[error.pos :]
    if re.fullmatch(r"\s*[\w.+-]*", rest) or (error.msg.startswith("Unt") and "\n" not in rest):
        return f"JSON that is cut off at its end, in line {text.count(chr(10)) + 1}"
    return f"broken JSON: {error.msg} in line {error.lineno}, column {error.colno}"


def _shape(data: Any) -> str:
    if isinstance(data, dict):
        keys = ", ".join(repr(key)[:_MAX_QUOTE_LENGTH] for key in list(data)[:5])
        return f"an object with {keys}" if keys else "an empty object"
    names = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(data), "a number")


def _quote(text: str, *, max_length: int = _MAX_QUOTE_LENGTH) -> str:
    line = text.strip().splitlines()[0]
    return repr(line if len(line) <= max_length else line[:max_length] + "...")
