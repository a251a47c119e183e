"""Print advice on a terminal: headings, facts, and lines that can be copied.

Lines to paste are never wrapped and on lines of their own, with their arithmetic as a
comment above them, so that a whole block can be pasted into a shell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from longfat.analysis.advice.limits import Limit
from longfat.analysis.advice.recommendation import STUDY
from longfat.model.network import ROOT_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import Console

    from longfat.analysis.advice.diagnosis import Diagnosis
    from longfat.analysis.advice.recommendation import Line

_GAP = 2

_COLOURS = {
    Limit.BOTTLENECK: "green",
    Limit.RECEIVE_WINDOW: "yellow",
    Limit.SEND_BUFFER: "yellow",
    Limit.LOSS: "red",
    Limit.MODEL: "magenta",
    Limit.START_UP: "cyan",
    Limit.APPLICATION: "blue",
    Limit.UNKNOWN: "dim",
}

_BAR = 24


def show(console: Console, draw: Callable[[Console], None]) -> None:
    """Draw to a console, without the spaces at the ends of lines if it is not a terminal.

    Args:
        console: where to draw.
        draw: what to draw, to the console that it is given.
    """
    if console.is_terminal:
        draw(console)
        return
    with console.capture() as captured:
        draw(console)
    for line in captured.get().splitlines():
        console.out(line.rstrip(), highlight=False)


def heading(console: Console, title: str, beside: str = "") -> None:
    """Draw a title, after an empty line."""
    console.print()
    console.print(Text.assemble((title, "bold"), (f"  {beside}" if beside else "", "dim")))


def pairs(console: Console, rows: Iterable[tuple[str, str]]) -> None:
    """Draw labels and their values in two columns."""
    table = Table.grid(padding=(0, _GAP, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for label, value in rows:
        table.add_row(Text(label), Text(value))
    console.print(table)


def paste(console: Console, node: str, lines: Sequence[Line]) -> None:
    """Draw lines to paste at one node; its name may be empty if it is printed elsewhere."""
    where = {
        ROOT_NAMESPACE: "at root, the shell of the switches",
        STUDY: "in the study, in the flow's fields",
    }
    if node:
        console.print(Text(f"# {where.get(node, f'at {node}')}", style="dim"), soft_wrap=True)
    last_reason = ""
    for line in lines:
        if line.why != last_reason:
            for part in Text(line.why).wrap(console, max(20, console.width - 2)):
                console.print(Text(f"# {part.plain.rstrip()}", style="dim"))
        last_reason = line.why
        console.print(Text(line.text, style="bold"), soft_wrap=True)


def by_node(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """Return lines by the node that they belong to, in the order of their first lines."""
    nodes: dict[str, list[Line]] = {}
    for line in lines:
        nodes.setdefault(line.node, []).append(line)
    return nodes


def draw_diagnosis(console: Console, found: Diagnosis) -> None:
    """Draw what limited a flow."""
    console.print(Text.assemble((found.flow, "bold"), (f"  {found.title}", "dim")), soft_wrap=True)
    console.print(Text(found.verdict))
    if found.spans:
        heading(console, "Second by second", "what ruled, and its share of that time")
        console.print(_spans(found))
        heading(console, "Over all", f"{found.duration_s:.1f} s of data")
        console.print(_shares(found))
    heading(console, "Evidence")
    pairs(console, ((fact.label, fact.text) for fact in found.facts))
    heading(console, "What would help")
    console.print(Text(found.recommendation.words))
    for node, lines in by_node(found.recommendation.lines).items():
        console.print()
        paste(console, node, lines)
    if found.notes:
        console.print()
        for note in found.notes:
            console.print(Text(note, style="dim"))


def _spans(found: Diagnosis) -> Table:
    table = Table.grid(padding=(0, _GAP, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for span in found.spans:
        table.add_row(
            Text(f"{span.start_s:.0f}-{span.end_s:.0f} s"),
            Text(str(span.limit), style=_COLOURS[span.limit]),
            Text(f"{span.share * 100:.0f} %"),
        )
    return table


def _shares(found: Diagnosis) -> Table:
    table = Table.grid(padding=(0, _GAP, 0, 0))
    table.add_column(no_wrap=True)
    for _ in range(2):
        table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    for limit, seconds in found.seconds.items():
        share = seconds / found.duration_s
        if seconds < 0.005:
            continue
        table.add_row(
            Text(str(limit)),
            Text(f"{seconds:.2f} s"),
            Text(f"{share * 100:.1f} %"),
            Text("█" * round(share * _BAR), style=_COLOURS[limit]),
        )
    return table
