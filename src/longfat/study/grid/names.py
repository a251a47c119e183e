"""The names of a grid's cases: `cubic-0_5bdp-10ms-flows8`.

A name is made of the values that vary, so that it stays when other values are
added, and of letters that names of cases, folders and claims have. A point is
written `_`, a per cent sign `pct`; a plain number or a percentage is called after its
parameter.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from longfat.model.metric import Unit
from longfat.study.grid.values import Value
from longfat.study.published import OWN_FIELDS

LONGEST = 64
_DIGEST = 6

_ODD = re.compile(r"[^A-Za-z0-9_-]+")


def case_names(
    values: Mapping[str, Sequence[Value]],
    combinations: Iterable[tuple[int, ...]],
    *,
    only: str,
    quiet: Collection[str] = (),
) -> list[str]:
    """Return the names of cases, which all differ.

    Args:
        values: the values of each parameter.
        combinations: for each case, the place of each parameter's value.
        only: the name where nothing varies.
        quiet: the parameters whose values are left out.
    """
    named = [name for name, of_one in values.items() if len(of_one) > 1 and name not in quiet]
    labels = [
        [_label(name, value) for value in of_one] if name in named else None
        for name, of_one in values.items()
    ]
    first = named[0] if named else ""
    found = list(combinations)
    whole = [
        "-".join(label[i] for label, i in zip(labels, combination, strict=True) if label)
        for combination in found
    ]
    whole = [_led(name, first) if name else only for name in whole]
    counts = Counter(whole)
    return [
        name
        if counts[name] == 1 and len(name) <= LONGEST
        else _with_digest(name, _texts(values, combination))
        for name, combination in zip(whole, found, strict=True)
    ]


def _led(name: str, parameter: str) -> str:
    """Return a name that begins with a letter and is no word of the study file."""
    return name if name[0].isalpha() and name not in OWN_FIELDS else f"{parameter}{name}"


def _label(parameter: str, value: Value) -> str:
    text = value.text.replace(" ", "").replace("%", "pct").replace(".", "_").replace("µ", "u")
    label = _ODD.sub("-", text.replace("μ", "u")).strip("-") or "x"
    bare = value.unit in (Unit.COUNT, Unit.FRACTION) and not value.times
    return f"{parameter}{label}" if bare else label


def _texts(values: Mapping[str, Sequence[Value]], combination: tuple[int, ...]) -> str:
    return repr([v[i].text for v, i in zip(values.values(), combination, strict=True)])


def _with_digest(name: str, texts: str) -> str:
    digest = hashlib.sha256(texts.encode()).hexdigest()[:_DIGEST]
    return f"{name[: LONGEST - _DIGEST - 1].rstrip('-')}-{digest}"
