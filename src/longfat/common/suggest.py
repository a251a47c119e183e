"""Names in messages: the nearest of those that are known, and lists that stay short."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_LISTED = 40


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` for the known name that is nearest, or nothing."""
    found = difflib.get_close_matches(name[:80], list(known), n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def listed(names: Iterable[str]) -> str:
    """Return names as a message lists them, or `nothing`; of very many, the first."""
    names = list(names)
    more = len(names) - _MOST_LISTED
    shown = ", ".join(names[:_MOST_LISTED])
    return f"{shown}, and {more:,} more" if more > 0 else shown or "nothing"
