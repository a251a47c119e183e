"""Large digits, three rows high, which are readable from a distance."""

from __future__ import annotations

HEIGHT = 3

_SHAPES = {
    "0": ("█▀█", "█ █", "▀▀▀"),
    "1": ("▀█ ", " █ ", "▀▀▀"),
    "2": ("▀▀█", "█▀▀", "▀▀▀"),
    "3": ("▀▀█", " ▀█", "▀▀▀"),
    "4": ("█ █", "▀▀█", "  ▀"),
    "5": ("█▀▀", "▀▀█", "▀▀▀"),
    "6": ("█▀▀", "█▀█", "▀▀▀"),
    "7": ("▀▀█", "  █", "  ▀"),
    "8": ("█▀█", "█▀█", "▀▀▀"),
    "9": ("█▀█", "▀▀█", "▀▀▀"),
    ".": (" ", " ", "▀"),
    "-": ("   ", "▀▀▀", "   "),
}


def large(number: str, *, unit: str = "") -> tuple[str, ...]:
    """Return a number in large digits, as rows of equal width.

    Args:
        number: digits, a point, a hyphen.
        unit: the unit, in small letters after the number.
    """
    rows = [" ".join(_SHAPES[sign][row] for sign in number) for row in range(HEIGHT)]
    ending = f" {unit}" if unit else ""
    return (*(row + " " * len(ending) for row in rows[:-1]), rows[-1] + ending)
