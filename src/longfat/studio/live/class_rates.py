"""The rates of classes (htb, hfsc), parsed from the `tc` commands that created them.

A dump of qdiscs, which the sampler takes, has no classes. So their rates are parsed from the
commands: set-up lines, and commands typed at terminals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from longfat.errors import InputError
from longfat.model.units import parse_rate_bps

CLASSFUL = ("htb", "hfsc")

_CLASS = re.compile(r"\bclass\s+(add|replace|change|del|delete)\s+dev\s+(\S+)\s+([^\n;|&'\"]*)")
_FRESH = re.compile(r"\bqdisc\s+(?:add|replace|del|delete)\s+dev\s+(\S+)\s+root\b")
# A class's maximum rate: htb's ceil, hfsc's upper limit; else its assured rate.
_MOST = (r"\bceil\s+(\S+)", r"\bul\s+(?:rate|m2)\s+(\S+)", r"\brate\s+(\S+)", r"\bm2\s+(\S+)")


@dataclass(frozen=True, slots=True)
class _Class:
    parent: str
    rate_bps: float


def class_rates_bps(script: str) -> dict[str, float]:
    """Return the total rate of the classes of interfaces, in bit/s, by interface.

    Args:
        script: the commands in order, one or several in each line.
    """
    known: dict[str, dict[str, _Class]] = {}
    for line in script.splitlines():
        for interface in _FRESH.findall(line):
            known.pop(interface, None)
        for verb, interface, words in _CLASS.findall(line):
            classes = known.setdefault(interface, {})
            name = re.search(r"\bclassid\s+(\S+)", words)
            if name is None:
                continue
            if verb in ("del", "delete"):
                classes.pop(name[1], None)
                continue
            parent = re.search(r"\bparent\s+(\S+)", words)
            rate = _rate_bps(words)
            if rate is not None:
                before = classes.get(name[1])
                above = parent[1] if parent else before.parent if before else "root"
                classes[name[1]] = _Class(above, rate)
    return {name: sum(_topmost(found)) for name, found in known.items() if found}


def _topmost(classes: dict[str, _Class]) -> Iterable[float]:
    """Return the rates of the topmost classes."""
    return (one.rate_bps for one in classes.values() if one.parent not in classes)


def _rate_bps(words: str) -> float | None:
    for pattern in _MOST:
        if found := re.search(pattern, words):
            try:
                return float(parse_rate_bps(found[1]))
            except InputError:
                return None
    return None
