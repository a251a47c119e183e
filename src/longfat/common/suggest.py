"""Names in messages: the nearest known name, and lists that stay short."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_LISTED = 40
_MAX_COMPARED = 10


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the nearest known name, or nothing.

    Of equally near ones it is the first: for lab8, lab08 and not lab18.
    """
    known = list(known)
    close = difflib.get_close_matches(name[:80], known, n=_MAX_COMPARED)
    if not close:
        return ""
    # `get_close_matches` puts the last in the alphabet first.
    matcher = difflib.SequenceMatcher(b=name[:80])

    def nearness(one: str) -> float:
        matcher.set_seq1(one)
        return matcher.ratio()

    best = max(sorted(close, key=known.index), key=nearness)
    return f"; did you mean {best!r}?"


def listed(names: Iterable[str]) -> str:
    """Return names as a message lists them, or `nothing`; of very many, the first."""
    names = list(names)
    more = len(names) - _MAX_LISTED
    shown = ", ".join(names[:_MAX_LISTED])
    return f"{shown}, and {more:,} more" if more > 0 else shown or "nothing"
