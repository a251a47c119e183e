"""Print where and when packets were lost: tables, and what each cause means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from longfat.cli.render.tables import plain_table, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from longfat.analysis.loss_sections import DropSeries, LossSection
    from longfat.analysis.losses import Loss


_NUMBERS = (0, 4, 5)
_SECTION_NUMBERS = (0, 1, 3)
_BARS = " ▁▂▃▄▅▆▇█"


def print_losses(
    losses: Sequence[Loss],
    *,
    sections: Sequence[LossSection] = (),
    series: Sequence[DropSeries] = (),
    console: Console,
) -> None:
    """Print losses.

    Args:
        losses: the losses, in their order.
        sections: what was lost between events.
        series: the drops of queues over time.
        console: where to print.
    """
    if not losses:
        console.print("No packet was lost while the traffic played.")
        return
    table = plain_table("packets", "at", "cause", "flow", "from", "to")
    for column, head in enumerate(table.columns):
        head.justify = "right" if column in _NUMBERS else "left"
    for loss in losses:
        table.add_row(
            Text(f"{loss.packets:,}"),
            Text(loss.place),
            Text(loss.cause_text),
            Text(loss.way),
            Text(f"{max(loss.first_s, 0):.2f} s"),
            Text(f"{max(loss.last_s, 0):.2f} s"),
        )
    print_table(table, console=console)
    if sections:
        console.print()
        _print_sections(sections, console=console)
    if series:
        console.print()
        for each in series:
            _print_series(each, console=console)
    console.print()
    causes = dict.fromkeys(loss.cause for loss in losses)
    for cause in causes:
        console.print(Text(f"{cause}: {cause.help}"))


def _print_sections(sections: Sequence[LossSection], *, console: Console) -> None:
    """Print a row for each loss of a section; in its first row the event with which it began."""
    table = plain_table("from", "to", "since", "packets", "at", "cause", "flow")
    for column, header in enumerate(table.columns):
        header.justify = "right" if column in _SECTION_NUMBERS else "left"
    for section in sections:
        span = (
            f"{section.start_s:.2f} s",
            f"{section.end_s:.2f} s",
            section.event or "the traffic's start",
        )
        rows = [
            (f"{loss.packets:,}", loss.place, loss.cause_text, loss.way) for loss in section.losses
        ]
        for row in rows or [("0", "", "", "")]:
            table.add_row(*map(Text, (*span, *row)))
            span = ("", "", "")
    print_table(table, console=console)


def _print_series(series: DropSeries, *, console: Console) -> None:
    """Print the drops of a queue as a row of bars."""
    largest = max(series.packets)
    bars = "".join(
        _BARS[-(-count * (len(_BARS) - 1) // largest)] if count else "." for count in series.packets
    )
    console.print(
        Text(
            f"{series.interface}, drops of its queue in each {series.step_s:g} s, "
            f"{largest:,} at most:"
        )
    )
    console.print(Text(f"  {bars}"))
