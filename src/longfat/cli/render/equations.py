"""Worked equations as text: the arithmetic of a path, as `longfat bdp` prints it.

A line reads `label  terms = number unit remark`. The terms of all sections end
at one column and the numbers of a section are aligned, within 80 columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.arithmetic import MB, Arithmetic, WindowLimit
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.theory import bdp, socket_buffers

if TYPE_CHECKING:
    from collections.abc import Iterator

_LABEL = 18
_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Equation:
    """One line of the arithmetic.

    Attributes:
        label: what it gives.
        terms: the left-hand side, with its numbers.
        result: the number and its unit, such as `62,500,000 B`.
        remark: what it means, or nothing.
    """

    label: str
    terms: str
    result: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Some lines under one title.

    Attributes:
        title: the title.
        lines: equations, and verbatim texts.
    """

    title: str
    lines: tuple[Equation | str, ...]


def section_lines(found: tuple[Section, ...]) -> Iterator[tuple[str, bool]]:
    """Lay sections out as lines of text.

    Args:
        found: the sections.

    Yields:
        Each line, and whether it is a title.
    """
    terms_end = max(_terms_width(section) for section in found)
    for index, section in enumerate(found):
        if index:
            yield "", False
        yield section.title, True
        own_end = _terms_width(section)
        number_width = max(len(line.result.partition(" ")[0]) for line in _equations(section))
        # If long numbers need the room, a section loses its alignment, bit by bit.
        for layout in (
            _Layout(terms_end, number_width),
            _Layout(own_end, number_width),
            _Layout(own_end, 0),
            _Layout(own_end, 0, remarks=False),
        ):
            lines = [layout.line(line) for line in section.lines]
            if all(len(line) <= _WIDTH for line in lines):
                break
        for line in lines:
            yield line, False


@dataclass(frozen=True, slots=True)
class _Layout:
    terms_width: int
    number_width: int
    remarks: bool = True

    def line(self, line: Equation | str) -> str:
        if isinstance(line, str):
            return f"  {line}"
        number, _, unit = line.result.partition(" ")
        start = f"  {line.label:<{_LABEL}}{line.terms:>{self.terms_width}}"
        remark = line.remark if self.remarks else ""
        return f"{start} = {number:>{self.number_width}} {unit} {remark}".rstrip()


def _equations(section: Section) -> list[Equation]:
    return [line for line in section.lines if isinstance(line, Equation)]


def _terms_width(section: Section) -> int:
    return max(len(line.terms) for line in _equations(section))


def sections(path: Arithmetic) -> tuple[Section, ...]:
    """Write down the arithmetic of a path.

    Args:
        path: the numbers.

    Returns:
        The sections, in the order of the calculation.
    """
    makers = (_product, _megabyte, _field, _sockets, _stock, _router, _loss)
    return tuple(section for make in makers if (section := make(path)) is not None)


def _product(path: Arithmetic) -> Section:
    bits, size = f"{_number(path.bdp_bits)} bit", _bytes(path.bdp_bytes)
    lines = [
        Equation("rate x RTT", f"{_rate(path)} x {_rtt(path)}", bits),
        Equation("in bytes", f"{bits} / 8", size),
    ]
    if path.bdp_bytes >= MB / 100:
        lines.append(Equation("in MB", f"{size} / 1024^2", f"{_number(path.bdp_bytes / MB)} MB"))
    packets = f"{_number(path.packets_in_flight)} packets"
    lines.append(Equation("in packets", f"{size} / {_bytes(path.packet_bytes)}", packets))
    return Section("Bandwidth-delay product: what the path holds", tuple(lines))


def _megabyte(path: Arithmetic) -> Section:
    time = format_quantity(path.mb_time_s, Unit.SECONDS)
    ratio = path.mb_rtt_fraction
    share = _percent(ratio) if ratio < 10 else f"{_number(ratio)} RTTs"
    return Section(
        "1 MB: transmission time against the RTT",
        (
            Equation("in bits", "1024^2 B x 8", "8,388,608 bit"),
            Equation("time to send it", f"8,388,608 bit / {_rate(path)}", time),
            Equation("against the RTT", f"{time} / {_rtt(path)}", share),
        ),
    )


def _field(path: Arithmetic) -> Section:
    field, shift, size = bdp.MAX_FIELD, path.window_shift, _bytes(path.bdp_bytes)
    unscaled = format_quantity(path.unscaled_bps, Unit.BPS)
    lines: list[Equation | str] = [
        Equation(
            "without scaling",
            f"{field:,} B x 8 / {_rtt(path)}",
            unscaled,
            _share(path.unscaled_bps, path),
        )
    ]
    if not shift:
        lines.append(f"The field itself can hold {size}: no scaling is needed.")
    elif path.connections == 1:
        lines.append(_shifted(shift - 1, "(too little)"))
        lines.append(_shifted(shift, "(enough)"))
    else:
        lines.append(_shifted(shift, "(too little)"))
        lines.append(f"The path takes the windows of {path.connections:,} connections.")
    return Section("TCP's window: a field of 16 bits, and a shift of 0 to 14", tuple(lines))


def _shifted(shift: int, remark: str) -> Equation:
    size = _bytes(bdp.MAX_FIELD << shift)
    return Equation(f"shift of {shift}", f"{bdp.MAX_FIELD:,} B x 2^{shift}", size, remark)


def _sockets(path: Arithmetic) -> Section:
    window, needed = _bytes(path.window_bytes), path.buffer_bytes
    lines: list[Equation | str] = []
    if path.half_rule:
        lines.append(f"Linux {path.kernel} offers half of a receive buffer as window.")
    else:
        lines.append(
            f"Linux {path.kernel} offers as window what is not overhead in a receive buffer,"
        )
        lines.append("measured on the packets that come; it begins with about half.")
        lines.append(Equation("at the very least", f"1 x {window}", window))
    lines.append(Equation("buffer needed", f"2 x {window}", _bytes(needed)))
    receive, send = (limit.buffer_bytes for limit in path.limits[:2])
    commands = []
    if needed > receive:
        commands.append(f"  sysctl -w net.ipv4.tcp_rmem='4096 131072 {needed}'")
    if needed > send:
        commands.append(f"  sysctl -w net.ipv4.tcp_wmem='4096 16384 {needed}'")
    if commands:
        lines += ["To set it, on both hosts:", *commands]
    else:
        lines.append("Linux gives that much by itself: there is nothing to set.")
    each = f", each of {path.connections:,} connections" if path.connections > 1 else ""
    return Section(f"Socket buffers that fill the path{each}", tuple(lines))


def _stock(path: Arithmetic) -> Section:
    lines: list[Equation | str] = [
        Equation(
            limit.name,
            f"{_window(path, limit)} x 8 / {_turn(path, limit)}",
            format_quantity(limit.window_bps, Unit.BPS),
            _share(limit.window_bps, path),
        )
        for limit in path.limits
    ]
    send = path.limits[1]
    write = socket_buffers.IPERF3_WRITE_BYTES
    leaves = format_quantity(send.turn_s - path.rtt_s, Unit.SECONDS)
    lines += [
        "A full send buffer is refilled when a third of it is free. iperf3 writes",
        f"{_bytes(write)} then, which take {leaves} to leave, beside the RTT:",
        f"{send.window_bytes // write} such writes are in flight of {send.buffer_bytes // MB} MB. "
        "A program that fills the buffer whole",
        f"has {_bytes(send.least_window_bytes)} in flight.",
    ]
    return Section("What Linux's own largest buffers let through, and 16 MB", tuple(lines))


def _window(path: Arithmetic, limit: WindowLimit) -> str:
    if limit.is_send:
        return _bytes(limit.window_bytes)
    share = limit.window_bytes / limit.buffer_bytes
    size = _bytes(limit.buffer_bytes)
    return f"{size} / 2" if path.half_rule else f"{size} x {share:.3g}"


def _turn(path: Arithmetic, limit: WindowLimit) -> str:
    """Return the time of one window: the RTT, and of a send buffer that of one write, too."""
    return format_quantity(limit.turn_s, Unit.SECONDS) if limit.is_send else _rtt(path)


def _router(path: Arithmetic) -> Section:
    whole, part = path.router_buffer_bytes, path.router_buffer_flows_bytes
    lines = [Equation("C x RTT", f"{_rate(path)} x {_rtt(path)} / 8", _bytes(whole), _short(whole))]
    if path.flows is not None and part is not None:
        terms = f"{_bytes(whole)} / sqrt({path.flows:,})"
        lines.append(Equation("C x RTT / sqrt(N)", terms, _bytes(part), _short(part)))
    return Section("The router's buffer", tuple(lines))


def _loss(path: Arithmetic) -> Section | None:
    loss, stream_bps, bearable = path.loss_fraction, path.mathis_bps, path.mathis_loss_fraction
    if loss is None or stream_bps is None or bearable is None:
        return None
    root = format_quantity(path.rtt_s * loss**0.5, Unit.SECONDS)
    stream = format_quantity(stream_bps, Unit.BPS)
    segment = f"{path.mss_bytes * 8:,} bit"
    lines = [
        Equation("RTT x sqrt(loss)", f"{_rtt(path)} x sqrt({loss:.6g})", root),
        Equation("one Reno stream", f"{segment} / {root}", stream, _share(stream_bps, path)),
        Equation(
            "to fill the path", f"{_rate(path)} / {stream}", f"{path.mathis_streams:,} streams"
        ),
    ]
    if bearable < loss:
        terms = f"({_number(path.bdp_bits)} / {path.mss_bytes * 8:,})^2"
        lines.append(Equation("or one loss in", terms, f"{1 / bearable:.3g} packets"))
    return Section(f"A loss of {_percent(loss)}: MSS / (RTT x sqrt(loss))", tuple(lines))


def _share(window_bps: float, path: Arithmetic) -> str:
    return (
        "(enough)" if window_bps >= path.rate_bps else f"({_percent(window_bps / path.rate_bps)})"
    )


def _short(size_bytes: float) -> str:
    return f"({format_quantity(size_bytes, Unit.BYTES)})" if size_bytes >= 1024 else ""


def _rate(path: Arithmetic) -> str:
    return _exact(path.rate_bps, 1, 1000, ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"))


def _rtt(path: Arithmetic) -> str:
    return _exact(path.rtt_s, 1e-9, 1000, ("ns", "µs", "ms", "s"))


def _exact(value: float, smallest: float, base: int, names: tuple[str, ...]) -> str:
    """Write an input as its user did: `10 Gbit/s`, with six digits where it has them."""
    size, index = value / smallest, 0
    while float(f"{size:.6g}") >= base and index + 1 < len(names):
        size, index = size / base, index + 1
    return f"{float(f'{size:.6g}'):,.10g} {names[index]}"


def _bytes(size: float) -> str:
    return f"{_number(size)} B"


def _number(value: float) -> str:
    if value >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _percent(fraction: float) -> str:
    return format_quantity(fraction, Unit.FRACTION)
