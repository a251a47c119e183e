"""The results of a claim over many cases, in lines of text: how many, how much, and where not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from longfat.analysis.verdict import JudgedClaim
    from longfat.study.claims.aggregates import Example, Tally


def tally_lines(judged: JudgedClaim) -> list[tuple[str, bool]]:
    """Return the lines below a claim over many cases.

    Returns:
        Lines, and of each whether it is about a case in which the claim does not hold.
    """
    found: list[tuple[str, bool]] = []
    several = len(judged.tallies) > 1
    for tally in judged.tallies:
        found.append((_tally_text(tally, named=several), False))
        if judged.holds is False:
            found += [(_example(one), True) for one in tally.examples]
            more = _more(tally)
            if more > 0:
                found.append((f"and {more:,} more", True))
    return found


def _tally_text(tally: Tally, *, named: bool) -> str:
    before = f"{tally.text}: " if named else ""
    missing = f", {tally.missing:,} not run" if tally.missing else ""
    cases = f"{tally.count:,} case{'s' if tally.count != 1 else ''}"
    if tally.unit is Unit.FRACTION and tally.holding is not None and tally.value is not None:
        share = format_quantity(tally.value, Unit.FRACTION)
        return f"{before}{share}, {tally.holding:,} of {cases}{missing}"
    if tally.holding is not None:
        return f"{before}holds in {tally.holding:,} of {cases}{missing}"
    if tally.value is None:
        return f"{before}no value over {cases}{missing}"
    value = f"{tally.value:.3g}" if tally.unit is None else format_quantity(tally.value, tally.unit)
    return f"{before}{value}, over {cases}{missing}"


def _example(example: Example) -> str:
    readings = [
        f"{name.removeprefix(f'{example.case}.')} = "
        + ("nothing measured" if value is None else format_quantity(value, unit))
        for name, (value, unit) in example.readings.items()
    ]
    return f"{example.case}: {', '.join(readings)}" if readings else example.case


def _more(tally: Tally) -> int:
    if tally.holding is None or not tally.examples:
        return 0
    return tally.count - tally.holding - len(tally.examples)
