"""How advice on tuning, and its check, look on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from longfat.analysis.advice.check import DEFAULT, ENOUGH, TUNED
from longfat.analysis.advice.need import rate_text, time_text
from longfat.analysis.advice.screen import by_node, heading, pairs, paste
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from rich.console import Console

    from longfat.analysis.advice.check import Checked
    from longfat.analysis.advice.tuning import Tuning

# Runs of this little difference are as good as each other.
_ALIKE = 0.02


def draw_tuning(console: Console, tuning: Tuning) -> None:
    """Draw what to set, and why."""
    need = tuning.need
    path = need.path
    lost = f", {format_quantity(need.loss, Unit.FRACTION)} loss" if need.loss else ""
    flows = f", {need.flows:,} flows" if need.flows > 1 else ""
    console.print(
        Text.assemble(
            (f"{rate_text(path.rate_bps)}, {time_text(path.rtt_s)}{lost}{flows}", "bold"),
            (f"  {need.congestion}, Linux {path.kernel}", "dim"),
        )
    )
    heading(console, "What the path needs")
    rows = [
        ("BDP = rate x RTT", f"{path.bdp_bytes:,.0f} B"),
        ("largest socket buffer", f"{need.buffer_bytes:,} B"),
    ]
    if need.stream_why:
        rows.append(("one stream at that loss", need.stream_why))
    rows += [
        ("streams", f"{need.streams:,}"),
        ("payload to expect", f"{rate_text(need.expected_bps)}"),
    ]
    pairs(console, rows)
    for node, lines in by_node(tuning.lines).items():
        heading(console, f"At {node}")
        paste(console, "", lines)
    heading(console, "Leave as they are")
    pairs(console, tuning.keep)
    if tuning.notes:
        console.print()
        for note in tuning.notes:
            console.print(Text(note, style="dim"))


def draw_check(console: Console, checked: Checked) -> None:
    """Draw default and tuned side by side."""
    heading(console, "Checked in machines", "10 s of iperf3 after the start-up")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for name in (DEFAULT, TUNED):
        table.add_column(name, justify="right", overflow="fold")
    expected_bps = checked.tuning.need.expected_bps
    both = (DEFAULT, TUNED)
    table.add_row("goodput", *(Text(rate_text(checked.goodput_bps(name))) for name in both))
    table.add_row(
        "of what is expected",
        *(
            Text(format_quantity(checked.goodput_bps(name) / expected_bps, Unit.FRACTION))
            for name in both
        ),
    )
    for label, metric, unit in (
        ("RTT, mean", "mean_rtt_s", Unit.SECONDS),
        ("retransmissions", "retransmits", Unit.COUNT),
    ):
        values = (checked.metric(name, metric) for name in both)
        table.add_row(
            label,
            *(Text("-" if value is None else format_quantity(value, unit)) for value in values),
        )
    table.add_row("limited by", *(Text(str(checked.diagnoses[name].limit)) for name in both))
    console.print(table)
    mark, style = ("holds", "green") if checked.good else ("FAILS", "bold red")
    filled = f"{checked.filled * 100:.0f} % of what is expected"
    if checked.filled < ENOUGH:
        filled += f" ({ENOUGH * 100:.0f} % would be enough)"
    words = f"tuned gives {checked.gain:.3g} times as much as default, and {filled}"
    if abs(checked.gain - 1) < _ALIKE and checked.filled >= ENOUGH:
        words = f"the default fills the path already; tuned gives {filled}"
    console.print(Text.assemble((mark, style), f"  {words}"))
