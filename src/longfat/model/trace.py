"""Traces: what a link could send, and when, as it was recorded.

Two forms are read:

* **mahimahi's** packet delivery traces: a whole number of milliseconds a line, each the moment
  at which 1,504 bytes can leave; a packet counts as long as its IP packet and 4 bytes more (what
  mahimahi's device puts before it). The trace ends, and restarts, at its last moment.
* a **table** over time, as CSV with a line of names or as Parquet: `time`, and one or more of
  `rate`, `delay` and `loss`, each name with its unit, such as `time_s` or `rate_mbps`. Each row
  holds until the next one's time, and the last as long as the one before it.

What becomes of them is done by a queueing discipline of longfat's kernels (`trace`, in
kernel/patches); `Trace.text` is what it reads. Sources: mahimahi's mm-link(1) and its
src/packet/link_queue.cc, for the meaning of a trace.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from longfat.common.extras import lazy
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError

if TYPE_CHECKING:
    from pyarrow import parquet
else:
    parquet = lazy("pyarrow.parquet")

OPPORTUNITY_BYTES = 1504
"""What leaves at each moment of one of mahimahi's traces, in bytes."""

MAX_ROWS = 1_000_000
"""How many moments or rows a trace may have."""

_MS = 10**6
_S = 10**9
# A day: a trace is played in virtual time, and nothing that long was ever recorded by the ms.
_MAX_NS = 86_400 * _S
# A packet of IPv4 and mahimahi's 4 bytes, of a frame with its header of 14.
_EXTRA_BYTES = 4 - 14
# 80 Gbit/s: the kernel computes in 10^-9 bytes with 64 bits, and takes less than twice that.
_MAX_BYTES_PER_S = 10**10
_PARQUET = b"PAR1"

_UNITS: Mapping[str, Mapping[str, float]] = {
    "time": {"s": _S, "ms": _MS, "us": 10**3},
    "rate": {"bps": 1 / 8, "kbps": 1e3 / 8, "mbps": 1e6 / 8, "gbps": 1e9 / 8},
    "delay": {"s": _S, "ms": _MS, "us": 10**3},
    "loss": {"": 2**32, "percent": 2**32 / 100},
}
"""What a column's unit is in the kernel's: nanoseconds, bytes per second, shares of 2^32."""

# Times may count from 1970; a rate that is too large is as good as any.
_MAX: Mapping[str, float] = {"time": 2.0**62, "rate": 2.0**62, "delay": 60.0 * _S, "loss": 2.0**32}


class Row(NamedTuple):
    """A moment of a trace.

    Attributes:
        at_ns: when, in nanoseconds from the trace's begin.
        value: the bytes that can leave then, or from then on the bytes per second.
        delay_ns: how long what leaves then travels.
        loss: the share of packets that are lost, of 2^32.
    """

    at_ns: int
    value: int
    delay_ns: int = 0
    loss: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace.

    Attributes:
        is_rates: its rows are rates, which hold until the next row, and not opportunities.
        rows: its rows in the order of their times.
        end_ns: when it restarts.
        first_ns: the time of the first row in its file, which is 0 here.
    """

    is_rates: bool
    rows: tuple[Row, ...]
    end_ns: int
    first_ns: int = 0

    def text(self, *, repeats: bool) -> str:
        """Return it as the kernel reads it.

        Args:
            repeats: it restarts when it has ended.
        """
        kind, extra = ("rates", 0) if self.is_rates else ("opportunities", _EXTRA_BYTES)
        head = f"{kind} {'repeat' if repeats else 'once'} {extra} {self.end_ns}\n"
        return head + "".join("{} {} {} {}\n".format(*row) for row in self.rows)


def parse_trace(data: bytes) -> Trace:
    """Read a trace in either form.

    Args:
        data: the file's content.

    Raises:
        InputError: it is not valid; the message says where and why.
    """
    if data.startswith(_PARQUET):
        return _table(_parquet_rows(data), "row")
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError:
        raise InputError(
            "a trace is mahimahi's (milliseconds, one a line), CSV, or Parquet; this is neither "
            "text in ASCII nor Parquet"
        ) from None
    first = text.lstrip()[:1]
    if not first:
        raise InputError("this trace is empty")
    return _opportunities(text) if first in "-.0123456789" else _table(_csv_rows(text), "line")


def _opportunities(text: str) -> Trace:
    rows: list[Row] = []
    last_ms = 0
    for number, line in enumerate(text.splitlines(), start=1):
        word = line.strip()
        if not word:
            continue
        if not word.isdecimal() or len(word) > 12:
            raise InputError(
                f"line {number} of this trace holds {word[:40]!r}, where a whole number of "
                "milliseconds is needed (mahimahi's form; CSV begins with a line of names)"
            )
        at_ms = int(word)
        if at_ms < last_ms:
            raise InputError(
                f"line {number} of this trace goes back in time, from {last_ms} to {at_ms} ms"
            )
        last_ms = at_ms
        # Those of one moment are one opportunity with the bytes of all.
        if rows and rows[-1].at_ns == at_ms * _MS:
            rows[-1] = rows[-1]._replace(value=rows[-1].value + OPPORTUNITY_BYTES)
        else:
            rows.append(Row(at_ms * _MS, OPPORTUNITY_BYTES))
        _check_length(number, rows)
    if last_ms == 0:
        raise InputError("this trace ends at 0 ms: its last line is its duration")
    return Trace(is_rates=False, rows=tuple(rows), end_ns=last_ms * _MS)


def _check_length(number: int, rows: Sequence[Row]) -> None:
    if number > MAX_ROWS:
        raise InputError(f"this trace has more than {MAX_ROWS} rows")
    if rows[-1].at_ns > _MAX_NS:
        raise InputError(f"row {number} of this trace is later than a day: what unit is its time?")


def _csv_rows(text: str) -> Iterator[Sequence[str]]:
    try:
        yield from csv.reader(io.StringIO(text), strict=True)
    except csv.Error as error:
        raise InputError(f"this trace is no CSV: {error}") from None


def _parquet_rows(data: bytes) -> Iterator[Sequence[object]]:
    try:
        table = parquet.read_table(io.BytesIO(data))
        columns = [column.to_pylist() for column in table.columns]
    except Exception as error:
        raise InputError(f"this trace is no Parquet that can be read: {error}") from None
    yield table.column_names
    yield from zip(*columns, strict=True)


def _table(lines: Iterable[Sequence[object]], what: str) -> Trace:
    numbered = enumerate(lines, start=1)
    columns = _columns([str(name).strip() for name in next(numbered)[1]])
    rows: list[Row] = []
    first_ns = 0
    for number, words in numbered:
        if not words:
            continue
        if len(words) != len(columns):
            raise InputError(
                f"{what} {number} of this trace has {len(words)} values, and {len(columns)} "
                "are needed"
            )
        found = {
            name: read(word, f"{what} {number} of this trace")
            for (name, read), word in zip(columns, words, strict=True)
        }
        if not rows:
            first_ns = found["time"]
        at_ns = found["time"] - first_ns
        if rows and at_ns <= rows[-1].at_ns:
            raise InputError(f"{what} {number} of this trace is not later than the one before")
        rows.append(
            Row(
                at_ns,
                min(found.get("rate", _MAX_BYTES_PER_S), _MAX_BYTES_PER_S),
                found.get("delay", 0),
                # The kernel draws a number below 2^32 and compares.
                min(found.get("loss", 0), 2**32 - 1),
            )
        )
        _check_length(number, rows)
    if not rows:
        raise InputError("this trace has names and no rows")
    last_ns = rows[-1].at_ns - rows[-2].at_ns if len(rows) > 1 else _S
    return Trace(
        is_rates=True, rows=tuple(rows), end_ns=rows[-1].at_ns + last_ns, first_ns=first_ns
    )


_Reader = Callable[[object, str], int]


def _columns(names: Sequence[str]) -> list[tuple[str, _Reader]]:
    known = {
        f"{quantity}_{unit}".rstrip("_"): (quantity, factor)
        for quantity, units in _UNITS.items()
        for unit, factor in units.items()
    }
    found: list[tuple[str, _Reader]] = []
    for name in names:
        if name not in known:
            raise InputError(
                f"a trace has no column {name!r}{nearest(name, list(known))} (there are: "
                f"{listed(known)})"
            )
        quantity, factor = known[name]
        if quantity in dict(found):
            raise InputError(f"this trace has two columns of {quantity}")
        found.append((quantity, _reader(quantity, factor)))
    if "time" not in dict(found):
        raise InputError("this trace has no column of times, such as time_s")
    if len(found) == 1:
        raise InputError("this trace has no column of rates, delays or losses, such as rate_mbps")
    return found


def _reader(quantity: str, factor: float) -> _Reader:
    maximum = _MAX[quantity]

    def read(word: object, where: str) -> int:
        try:
            value = float(word) if isinstance(word, (int, float, str)) else math.nan
        except (ValueError, OverflowError):
            value = math.nan
        if not math.isfinite(value):
            raise InputError(f"{where} has {str(word)[:40]!r} as its {quantity}: no number")
        scaled = value * factor
        if not 0 <= scaled <= maximum:
            raise InputError(f"{where} has the {quantity} {word}, which cannot be")
        return round(scaled)

    return read
