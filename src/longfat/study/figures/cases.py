"""The cases of a study without a grid, for its figures: their one parameter is `case`.

A figure names the cases that it shows, in their order, and what it calls them:

    cases: [drop-tail, red]
    cases: {drop-tail: drop tail, red: RED}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.model.parameter import ParameterValue
from longfat.study.claims.rows import Rows
from longfat.study.document import parse_document
from longfat.study.grid.axes import Axes, GridRow
from longfat.study.node import Node

if TYPE_CHECKING:
    from longfat.model.metric import Metric
    from longfat.study.model import Planned

CASE = "case"
"""The name of the parameter."""

_MAX_TITLE = 40  # characters; longer titles do not fit beside an axis


def case_rows(known: Mapping[str, Mapping[str, Metric]], labels: Mapping[str, str]) -> Rows:
    """Return cases as the rows of a grid of one parameter.

    Args:
        known: the metrics of each case of the study.
        labels: the cases, in their order, with what the figure calls each.
    """
    file = "cases"
    values = ", ".join(f'"{name}"' for name in labels)
    grid = Node(raw=parse_document(f"{CASE}: [{values}]".encode(), file=file), file=file)
    rows = {
        name: GridRow(
            combination=(place,),
            numbers={},
            texts={CASE: name},
            settings={CASE: ParameterValue(text=label)},
        )
        for place, (name, label) in enumerate(labels.items())
    }
    return Rows({name: known[name] for name in labels}, Axes({"grid": grid}), rows)


def read_cases(node: Node | None, cases: Mapping[str, Planned]) -> dict[str, str]:
    """Read which cases a figure shows.

    Args:
        node: the field `cases`; None for all cases.
        cases: the cases of the study.

    Returns:
        The cases with their labels: titles, if all are short and different, else names.

    Raises:
        InputError: there is no such case, or two have the same label.
    """
    if node is None:
        chosen, labels = list(cases), {}
    elif node.is_mapping:
        entries = node.items("cases with their labels (such as {red: RED})")
        labels = {key.text: value.line("a label") for key, value in entries}
        chosen = list(labels)
    else:
        labels = {}
        chosen = [item.line("a case") for item in node.sequence("a list of cases")]
    for name in chosen:
        if node is not None and name not in cases:
            raise node.error(
                f"there is no case {name!r}{nearest(name, cases)} (there are: {listed(cases)})"
            )
    if node is not None and (not chosen or len(set(chosen)) < len(chosen)):
        raise node.error("each case is here once, and there is at least one")
    titles = {name: cases[name].title for name in chosen}
    readable = len({*titles.values()}) == len(titles) and all(
        len(title) <= _MAX_TITLE for title in titles.values()
    )
    shown = {**(titles if readable else {name: name for name in chosen}), **labels}
    if node is not None and len({*shown.values()}) < len(shown):
        raise node.error("two cases have the same label")
    return shown
