"""Rules about the words of one command of tc: units, and options that tc refuses.

They need no network, so they hold for a line that is typed in a shell, too. Sources: tc(8),
"PARAMETERS"; tc-netem(8), tc-red(8); q_netem.c, q_red.c and tc_red.c of iproute2. What tc and
kernels do with each is in tests/belief/test_lint.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from longfat.model.lint.tc_command import OPTIONS, TcCommand
from longfat.model.lint.tc_numbers import (
    rate_word,
    split_number,
    tc_rate_bps,
    tc_share,
    tc_size_bytes,
    tc_time_s,
)
from longfat.model.metric import Unit
from longfat.model.network.shape import FRAME_BYTES
from longfat.model.units import format_quantity

_MAX_BARE_US = 1000
"""Microseconds without a unit from which on they are hardly meant as milliseconds."""

_PACKET_LIMITS = frozenset(("netem", "pfifo", "pfifo_head_drop"))
"""Kinds whose limit counts packets, and may have a unit of sizes all the same."""

_SIZE_SUFFIXES = frozenset(("m", "g", "k", "mb", "gb", "kb", "bit/s", "kbit/s", "mbit/s", "gbit/s"))


def unit_warnings(tc: TcCommand) -> Iterator[str]:
    """Find what tc reads otherwise than people, or refuses.

    Args:
        tc: the command.

    Yields:
        What tc makes of the words, and what was probably meant.
    """
    if tc.verb not in {"add", "change", "replace"}:
        return
    if tc.refused:
        yield tc.refused
        return
    table = OPTIONS.get(tc.table, {})
    for name, values in tc.options:
        kinds = next((kinds for key, kinds in table.items() if key == name), ())
        for position, (value, kind) in enumerate(zip(values, kinds, strict=False)):
            typed = " ".join((name, *values[: position + 1]))
            text = _value_warning(tc, typed, value, kind)
            if text:
                yield text
    match tc.table:
        case "netem":
            yield from _netem_refusals(tc)
        case "tbf":
            yield from _tbf_refusals(tc)
        case "red":
            yield from _red_refusals(tc)


def _value_warning(tc: TcCommand, typed: str, value: str, kind: str) -> str:
    """Return what tc makes of a value other than what was meant; "" if nothing is known of it."""
    split = split_number(value)
    if split is None:
        return ""
    number, unit = split
    meant = typed.rpartition(" ")[0]
    match kind:
        case "rate":
            return _rate_warning(typed, meant, value, number, unit)
        case "time":
            return _time_warning(typed, value, number, unit)
        case "share":
            return _share_warning(typed, meant, value, number, unit)
        case "size" if tc_size_bytes(value) is None:
            return f"`{typed}`: tc has no unit of size {unit!r}, and refuses it: write b, kb or mb"
        case "count" if unit and tc.kind in _PACKET_LIMITS and tc_size_bytes(value):
            return _count_warning(tc.kind, typed, value)
    return ""


def _time_warning(typed: str, value: str, number: float, unit: str) -> str:
    if unit == "" and 0 < number < _MAX_BARE_US:
        return (
            f"`{typed}`: tc reads a time without a unit as microseconds: write"
            f" `{typed}ms` for {number:g} ms, or `{typed}us`"
        )
    if tc_time_s(value) is None:
        return f"`{typed}`: tc has no unit of time {unit!r}, and refuses it: write s, ms or us"
    return ""


def _share_warning(typed: str, meant: str, value: str, number: float, unit: str) -> str:
    if unit == "" and 0 < number < 1:
        return (
            f"`{typed}`: tc reads a number without a unit as per cent, {number:g} %: write"
            f" `{typed}%`, or `{meant} {number * 100:g}%` for a share of {number:g}"
        )
    if tc_share(value) is None or number > 100:
        return f"`{typed}`: is no percentage to tc, which refuses it: write such as `{meant} 1%`"
    return ""


def _count_warning(kind: str, typed: str, value: str) -> str:
    packets = int(tc_size_bytes(value) or 0)
    what = f"`limit {packets}`" if kind == "netem" else f"`bfifo limit {value}` for bytes"
    return (
        f"`{kind} {typed}`: counts packets, and tc makes {packets:,} packets of it: write a number"
        f" of packets, or {what}"
    )


def _rate_warning(typed: str, meant: str, value: str, number: float, unit: str) -> str:
    rate_bps = tc_rate_bps(value)
    if rate_bps is None:
        if unit in _SIZE_SUFFIXES:
            prefix = unit[0] if unit[0] in "kmgt" else ""
            return (
                f"`{typed}`: tc has no unit of rate {unit!r}, and refuses it: write"
                f" `{meant} {number:g}{prefix}bit`"
            )
        return ""
    if unit.endswith("bps"):
        bits = unit.removesuffix("bps") + "bit"
        return (
            f"`{typed}`: tc reads {unit} as bytes per second, so this is"
            f" {format_quantity(rate_bps, Unit.BPS)}: write `{meant} {number:g}{bits}`, or"
            f" `{meant} {rate_word(rate_bps)}` if that is meant"
        )
    frame_s = FRAME_BYTES * 8 / rate_bps if rate_bps else 0.0
    if unit == "" and frame_s > 1:
        return (
            f"`{typed}`: tc reads a rate without a unit as bit/s, and a full frame takes"
            f" {frame_s:.0f} s: write `{meant} {number:g}mbit` for Mbit/s, or"
            f" `{meant} {number:g}bit`"
        )
    return ""


def _netem_refusals(tc: TcCommand) -> Iterator[str]:
    """Find what q_netem.c refuses: options that need others."""
    if not tc.is_complete:
        return
    delay = next((values for key, values in tc.options if key == "delay"), ())
    if tc.has("reorder") and not delay:
        yield "`netem reorder`: tc refuses it without a delay: write such as `delay 10ms` before it"
    if tc.has("gap") and not tc.has("reorder"):
        yield (
            "`netem gap`: tc refuses it without `reorder`: write such as `reorder 100% gap 5`,"
            " which sends every fifth packet at once"
        )
    if tc.has("distribution") and len(delay) < 2:
        yield (
            "`netem distribution`: tc refuses it without a delay and a jitter: write such as"
            " `delay 20ms 5ms distribution normal`"
        )


def _tbf_refusals(tc: TcCommand) -> Iterator[str]:
    if not tc.is_complete:
        return
    if not tc.has("burst"):
        yield "`tbf`: tc refuses it without `burst`: write such as `burst 10kb`"
    if not tc.has("limit") and not tc.has("latency"):
        yield "`tbf`: tc refuses it without `limit` or `latency`: write such as `latency 50ms`"
    if tc.has("limit") and tc.has("latency"):
        yield "`tbf`: tc refuses `limit` and `latency` together: leave one of them out"
    if tc.has("peakrate"):
        if not tc.has("mtu"):
            yield "`tbf peakrate`: tc refuses it without `mtu`: write `mtu 1514`"
        peak, rate = tc_rate_bps(tc.get("peakrate")), tc_rate_bps(tc.get("rate"))
        if peak is not None and rate is not None and peak <= rate:
            yield (
                f"`peakrate {tc.get('peakrate')}`: the kernel refuses a peak rate that is not above"
                f" the rate, {tc.get('rate')}"
            )


def _red_refusals(tc: TcCommand) -> Iterator[str]:
    """Find what tc_red.c refuses, and a probability that is none."""
    low, high = tc_size_bytes(tc.get("min")), tc_size_bytes(tc.get("max"))
    packet, limit = tc_size_bytes(tc.get("avpkt")), tc_size_bytes(tc.get("limit"))
    burst = split_number(tc.get("burst"))
    if low and high and low > high:
        yield (
            f"`red min {tc.get('min')} max {tc.get('max')}`: tc refuses a minimum above the maximum"
        )
    elif low and packet and burst and burst[1] == "" and burst[0] + 1 - low / packet < 1:
        right = int((2 * low + (high or 3 * low)) / (3 * packet)) + 1
        yield (
            f"`red burst {burst[0]:g}`: tc refuses a burst below min / avpkt, {low / packet:g}:"
            f" write `burst {right}`, (2 min + max) / (3 avpkt)"
        )
    if limit and high and limit < high:
        yield (
            f"`red limit {tc.get('limit')} max {tc.get('max')}`: the queue is full before its"
            " average can reach max, so it drops as a FIFO: write a limit of some times max"
        )
    probability = split_number(tc.get("probability"))
    if probability and probability[0] > 1:
        yield (
            f"`red probability {tc.get('probability')}`: is a share from 0 to 1 to tc: write"
            f" `probability {probability[0] / 100:g}` for {probability[0]:g} %"
        )
