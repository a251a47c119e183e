"""Print where packets were lost: a table, and what each cause means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from longfat.cli.render.tables import plain_table, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from longfat.analysis.losses import Loss


_NUMBERS = (0, 4, 5)


def print_losses(losses: Sequence[Loss], *, console: Console) -> None:
    """Print losses.

    Args:
        losses: the losses, in their order.
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
    console.print()
    causes = dict.fromkeys(loss.cause for loss in losses)
    for cause in causes:
        console.print(Text(f"{cause}: {cause.help}"))
