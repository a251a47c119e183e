"""A link's properties in a few words, for drawings and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from longfat.model.network.model import Link, LinkImpairments


def shape_words(shape: LinkImpairments) -> str:
    """Return what one direction of a link does to packets, such as `1 Gbit/s, 20 ms`.

    Returns:
        The words; empty for a direction that does nothing.
    """
    words = []
    if shape.rate_bps is not None:
        words.append(_short(shape.rate_bps, Unit.BPS))
    if shape.delay_s:
        jitter = f" ±{_short(shape.jitter_s, Unit.SECONDS)}" if shape.jitter_s else ""
        words.append(_short(shape.delay_s, Unit.SECONDS) + jitter)
    if shape.loss:
        words.append(f"{_short(shape.loss, Unit.FRACTION)} lost")
    for share, what in (
        (shape.duplicate, "duplicated"),
        (shape.corrupt, "corrupted"),
        (shape.reorder, "reordered"),
    ):
        if share:
            words.append(f"{_short(share, Unit.FRACTION)} {what}")
    if shape.qdisc is not None:
        words.append(shape.qdisc.partition(" ")[0])
    if shape.queue_bytes is not None:
        words.append(f"queue {_short(shape.queue_bytes, Unit.BYTES)}")
    return ", ".join(words)


def link_words(link: Link, *, there: str = "→", back: str = "←") -> tuple[str, ...]:
    """Return a link's properties, a line for each direction where they differ.

    Args:
        link: the link.
        there: the arrow from `a` to `b`.
        back: the arrow from `b` to `a`.

    Returns:
        The lines; none for a link without properties.
    """
    lines = []
    if link.a_to_b == link.b_to_a:
        lines.append(shape_words(link.a_to_b))
    else:
        for arrow, shape in ((there, link.a_to_b), (back, link.b_to_a)):
            words = shape_words(shape)
            lines.append(f"{arrow} {words}" if words else "")
    if link.mtu_bytes is not None:
        lines.append(f"MTU {link.mtu_bytes}")
    return tuple(line for line in lines if line)


def _short(value: float, unit: Unit) -> str:
    """Return a quantity without zeros that say nothing: `20 ms`, and not `20.0 ms`."""
    number, space, name = format_quantity(value, unit).partition(" ")
    if "." in number and "e" not in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number}{space}{name}"
