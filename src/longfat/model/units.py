"""Quantities: as tc and iperf3 write them -> base units -> as people read them.

Inside longfat a number is always in the base unit that its name ends in: bit/s (`_bps`),
bytes, seconds (`_s`), or a fraction from 0 to 1. Only this module converts: `parse_...` for
input, `format_quantity` for output. It has no access to files; the reader of a file adds
the place to the message.

Sources:

* tc(8), "PARAMETERS": the rates `bit` to `tbit` (powers of 1000) and `kibit` to
  `tibit` (powers of 1024), the sizes `b`, `k`/`kb`, `m`/`mb`, `g`/`gb` (powers of
  1024), the times `s`, `ms`, `us`, `ns` and their long forms. Case makes no
  difference.
* iperf3(1), "[KMG]" and units.c: a rate such as `10G` counts in powers of 1000
  bits, a size in powers of 1024 bytes; results are printed as `Gbits/sec` and
  `MBytes`.

tc and iperf3 differ from each other, and from what many readers expect, in two
places. There a unit is demanded: tc reads `10mbps` as megabytes a second where
most people mean megabits, and a bare number as bit/s, bytes, microseconds or
per cent, depending on the option.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from longfat.errors import InputError
from longfat.model.metric import Unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_INTEGER = 2**63 - 1
"""The largest rate (bit/s) and size (bytes): the kernel's counters are 64 bits wide."""

MAX_S = 1e9
"""The longest time in seconds, some 31 years."""

# Two digits of exponent are enough for any quantity, and keep 1e999999999 from being computed.
_NUMBER = r"[0-9]{1,30}(?:\.[0-9]{0,30})?(?:[eE][+-]?[0-9]{1,2})?"
_QUANTITY = re.compile(rf"([+-]?)({_NUMBER}) *(\S*)")

_PREFIXES = "kmgt"
_RATES: dict[str, int] = {"bit": 1}
_SIZES: dict[str, int] = {"b": 1, "byte": 1, "bytes": 1}
for _power, _prefix in enumerate(_PREFIXES, start=1):
    _RATES |= {f"{_prefix}bit": 1000**_power, f"{_prefix}ibit": 1024**_power}
    _RATES |= {_prefix: 1000**_power}  # iperf3 -b 10G
    _names = (_prefix, f"{_prefix}b", f"{_prefix}ib", f"{_prefix}byte", f"{_prefix}bytes")
    _SIZES |= dict.fromkeys(_names, 1024**_power)
_TIMES: dict[str, Fraction] = {
    **dict.fromkeys(("min",), Fraction(60)),
    **dict.fromkeys(("s", "sec", "secs"), Fraction(1)),
    **dict.fromkeys(("ms", "msec", "msecs"), Fraction(1, 10**3)),
    **dict.fromkeys(("us", "usec", "usecs", "µs", "μs"), Fraction(1, 10**6)),
    **dict.fromkeys(("ns", "nsec", "nsecs"), Fraction(1, 10**9)),
}
_BYTE_RATES = re.compile(r"([kmgt]?)(i?)bps")
_PER_SECOND = re.compile(r"bits?/(s|sec)$")

_RATE_FORMS = "a number with bit, kbit, mbit, gbit or tbit, such as 10gbit"
_TIME_FORMS = "a number with s, ms, us, ns or min, such as 20ms"
_SIZE_FORMS = "a number of bytes, or one with KB (1,024 bytes), MB or GB, such as 25MB"
_FRACTION_FORMS = "a percentage from 0% to 100%, such as 0.01%"


def parse_rate_bps(text: str) -> int:
    """Read a rate, such as `10gbit`, `2.5 Gbit/s` or iperf3's `10G`.

    Args:
        text: the rate as tc or iperf3 writes it; `0` needs no unit.

    Returns:
        The rate in bit/s, rounded to a whole number.

    Raises:
        InputError: it is no rate, or its unit is read differently by different
            people (`mbps`).
    """
    number, unit = _split(text, what="a rate", forms=_RATE_FORMS)
    unit = _PER_SECOND.sub("bit", unit)
    if found := _BYTE_RATES.fullmatch(unit):
        bits = f"{found[1]}{found[2]}bit"
        raise InputError(
            f"{text!r}: tc reads {unit} as bytes per second and most people as bits; "
            f"write {bits} for bits per second, or 8 times as much {bits} for bytes"
        )
    if unit == "" and number == 0:
        return 0
    return _whole(number, _factor(text, unit, _RATES, what="a rate", forms=_RATE_FORMS), text)


def parse_size_bytes(text: str) -> int:
    """Read an amount of data, such as `25MB`, `64k` or `16777216`.

    Args:
        text: the size as tc or iperf3 writes it: bare numbers are bytes, and
            prefixes are powers of 1024, with or without an `i`.

    Returns:
        The size in bytes, rounded to a whole number.

    Raises:
        InputError: it is no size.
    """
    number, unit = _split(text, what="a size", forms=_SIZE_FORMS)
    return _whole(
        number, _factor(text, unit or "b", _SIZES, what="a size", forms=_SIZE_FORMS), text
    )


def parse_time_s(text: str, *, bare_seconds: bool = False) -> float:
    """Read a length of time, such as `20ms`, `90s` or `1.5min`.

    Args:
        text: the time; `0` needs no unit.
        bare_seconds: take a bare number as seconds, as ping and iperf3 do with
            their own options. tc takes it as microseconds, so elsewhere it is refused.

    Returns:
        The time in seconds.

    Raises:
        InputError: it is no time.
    """
    number, unit = _split(text, what="a time", forms=_TIME_FORMS)
    if unit == "" and (number == 0 or bare_seconds):
        unit = "s"
    value = float(number * _factor(text, unit, _TIMES, what="a time", forms=_TIME_FORMS))
    if value > MAX_S:
        raise InputError(f"{text!r} is too long: at most {MAX_S:.0f}s")
    return value


def parse_fraction(text: str) -> float:
    """Read a percentage, such as `0.01%`.

    Args:
        text: the percentage; `0` needs no sign.

    Returns:
        The fraction, from 0 to 1.

    Raises:
        InputError: it is no percentage. A bare number is none: tc takes `loss 1`
            as 1 %, others would as 100 %.
    """
    number, unit = _split(text, what="a percentage", forms=_FRACTION_FORMS)
    if unit != "%" and (unit or number):
        raise InputError(f"{text!r} is not a percentage: write {_FRACTION_FORMS}")
    if number > 100:
        raise InputError(f"{text!r} is more than all: write {_FRACTION_FORMS}")
    return float(number / 100)


def parse_count(text: str) -> float:
    """Read a plain number, such as `315`.

    Raises:
        InputError: it is no number, or has a unit.
    """
    forms = "a number without a unit, such as 315"
    number, unit = _split(text, what="a number", forms=forms)
    if unit:
        raise InputError(f"{text!r} is not a plain number: write {forms}")
    return float(number)


def parse_quantity(text: str, unit: Unit) -> float:
    """Read a quantity whose kind is known.

    Args:
        text: the quantity as written by a user or tool.
        unit: the kind.

    Returns:
        The value in the base unit.

    Raises:
        InputError: it is no quantity of that kind.
    """
    match unit:
        case Unit.BPS:
            return float(parse_rate_bps(text))
        case Unit.BYTES:
            return float(parse_size_bytes(text))
        case Unit.SECONDS:
            return parse_time_s(text)
        case Unit.FRACTION:
            return parse_fraction(text)
        case Unit.COUNT:
            return parse_count(text)


def quantity_pattern(unit: Unit) -> str:
    """Return the regular expression of quantities of a kind, for other readers of studies.

    It has no flags, since JSON Schema has none: units are in letters of any case. A unit may be
    missing, as of `0`.
    """
    match unit:
        case Unit.BPS:
            names = [_any_case(name) for name in _RATES]
            names += [
                f"{_any_case(name)}[sS]?/[sS](?:[eE][cC])?" for name in _RATES if "bit" in name
            ]
        case Unit.BYTES:
            names = [_any_case(name) for name in _SIZES]
        case Unit.SECONDS:
            names = [_any_case(name) for name in _TIMES]
        case Unit.FRACTION:
            return f"{_NUMBER} *%"
        case Unit.COUNT:
            return _NUMBER
    return f"{_NUMBER} *(?:{'|'.join(names)})?"


def _any_case(name: str) -> str:
    return "".join(f"[{c}{c.upper()}]" if c.isascii() else c for c in name)


class Literal(NamedTuple):
    """A number with its unit, which determines its kind.

    Attributes:
        value: the value in the base unit.
        unit: the kind.
    """

    value: float
    unit: Unit


def parse_literal(text: str) -> Literal:
    """Read a number whose unit determines its kind: `150ms`, `900mbit`, `25MB`, `1%`, `2.5`.

    Raises:
        InputError: there is no such unit, or it could be of two kinds: `10G` is
            a rate to `iperf3 -b` and a size to `iperf3 -w`.
    """
    _, unit = _split(text, what="a quantity", forms="a number with a unit")
    if unit == "":
        return Literal(parse_count(text), Unit.COUNT)
    if unit == "%":
        return Literal(float(_split(text, what="a percentage", forms="")[0] / 100), Unit.FRACTION)
    if unit in _PREFIXES:
        raise InputError(
            f"{text!r} could be a rate or a size: write {text}bit for bits per second, "
            f"or {text}B for bytes"
        )
    if unit in _TIMES:
        return Literal(parse_time_s(text), Unit.SECONDS)
    if unit in _SIZES:
        return Literal(float(parse_size_bytes(text)), Unit.BYTES)
    if unit in _RATES or _PER_SECOND.search(unit) or _BYTE_RATES.fullmatch(unit):
        return Literal(float(parse_rate_bps(text)), Unit.BPS)
    raise InputError(
        f"{text!r} has an unknown unit {unit!r}: rates have bit, kbit, mbit, gbit, tbit; "
        "sizes B, KB, MB, GB; times s, ms, us, ns, min; fractions %"
    )


def format_quantity(value: float, unit: Unit) -> str:
    """Write a value as people read it, with three significant digits.

    Args:
        value: the value in the base unit. A difference may be negative.
        unit: its kind.

    Returns:
        Text such as `3.28 Gbit/s`, `16.1 MB` (powers of 1024), `20.0 ms`,
        `0.01 %` or `315`. What is not finite is written as `nan` or `inf`.
    """
    if not math.isfinite(value):
        return str(value)
    sign, size = ("-", -value) if value < 0 else ("", value)
    match unit:
        case Unit.BPS | Unit.BYTES:
            text = _scaled(size, unit)
        case Unit.SECONDS:
            text = _scaled(size, unit) if size else "0 s"
        case Unit.FRACTION:
            text = f"{_plain(size * 100)} %"
        case Unit.COUNT:
            text = _plain(size)
    return sign + text


def format_alike(values: Sequence[float], unit: Unit) -> tuple[str, list[str]]:
    """Write values for a table in one unit, that of the largest, with as many decimals each.

    Args:
        values: the values in the base unit; not negative.
        unit: their kind, which has prefixes: rates, sizes or times.

    Returns:
        The unit, such as `Mbit/s`, and a text for each value. The largest has three significant
        digits.
    """
    scale, base, names = _PREFIXED[unit]
    largest = max(values, default=0.0)
    index = _prefix_index(largest * scale, base, len(names))
    shown = [value * scale / base**index for value in values]
    whole_digits = len(f"{max(shown, default=0.0):.0f}")
    return names[index], [f"{value:.{max(0, 3 - whole_digits)}f}" for value in shown]


def format_range(low: float, high: float, unit: Unit, *, like: float) -> str:
    """Write two values in the unit in which a third is written, without naming it.

    For a column beside the third: `3.28 Gbit/s`, and then `3.20-3.31`.

    Args:
        low: the lower value in the base unit; not negative.
        high: the higher value.
        unit: their kind.
        like: the value whose unit they take.

    Returns:
        The two with three significant digits each and a hyphen between them.
        Where `like` is 0, they take the unit of `high`, and it is named.
    """
    shown = like or high
    prefixed = _PREFIXED.get(unit)
    if prefixed is None:
        factor, name = (100.0, " %") if unit is Unit.FRACTION else (1.0, "")
        texts = [_plain(value * factor) for value in (low, high)]
    else:
        scale, base, names = prefixed
        index = _prefix_index(abs(shown) * scale, base, len(names))
        digits = _plain if index == 0 else _three_digits
        texts = [digits(value * scale / base**index) for value in (low, high)]
        name = f" {names[index]}"
    return "-".join(texts) + ("" if like or not high else name)


def _split(text: str, *, what: str, forms: str) -> tuple[Fraction, str]:
    found = _QUANTITY.fullmatch(text.strip())
    if found is None:
        raise InputError(f"{text!r} is not {what}: write {forms}")
    if found[1] == "-":
        raise InputError(f"{text!r} is negative: {what} cannot be less than 0")
    return Fraction(found[2]), found[3].lower()


def _factor(
    text: str, unit: str, units: Mapping[str, int | Fraction], *, what: str, forms: str
) -> Fraction:
    if unit == "":
        raise InputError(f"{text!r} has no unit: write {forms}")
    factor = units.get(unit)
    if factor is None:
        raise InputError(f"{text!r} is not {what}: write {forms}")
    return Fraction(factor)


def _whole(number: Fraction, factor: Fraction, text: str) -> int:
    value = round(number * factor)
    if value > MAX_INTEGER:
        raise InputError(f"{text!r} is too large: at most {MAX_INTEGER}")
    return value


# How a kind is written: the factor from its base unit, the step of its prefixes, their names.
_PREFIXED: dict[Unit, tuple[float, int, Sequence[str]]] = {
    Unit.BPS: (1, 1000, ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s")),
    Unit.BYTES: (1, 1024, ("B", "KB", "MB", "GB", "TB")),
    Unit.SECONDS: (1e9, 1000, ("ns", "µs", "ms", "s")),
}


def _scaled(size: float, unit: Unit) -> str:
    scale, base, names = _PREFIXED[unit]
    size *= scale
    index = _prefix_index(size, base, len(names))
    size /= base**index
    return f"{_plain(size) if index == 0 else _three_digits(size)} {names[index]}"


def _prefix_index(size: float, base: int, count: int) -> int:
    index = 0
    # What would be rounded up to the next prefix takes it: 999.9 kbit/s is 1.00 Mbit/s.
    while index + 1 < count and float(f"{size:.3g}" if base == 1000 else size + 0.5) >= base:
        size /= base
        index += 1
    return index


def _three_digits(size: float) -> str:
    if size == 0:
        return "0"
    return f"{size:.0f}" if size >= 99.95 else f"{size:#.3g}"


def _plain(size: float) -> str:
    if size >= 99.95 or size == int(size):
        return f"{size:.0f}"
    return f"{size:.3g}" if size >= 1e-4 else f"{size:.2e}"
