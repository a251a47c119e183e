"""Print diagnoses and advice on tuning: headings, facts, and lines that can be copied.

Lines to paste are never wrapped and on lines of their own, with their arithmetic as a
comment above them, so that a whole block can be pasted into a shell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from longfat.analysis.advice.arithmetic import rate_text, time_text
from longfat.analysis.advice.check import DEFAULT, ENOUGH, TUNED
from longfat.analysis.advice.limits import Limit
from longfat.analysis.advice.recommendation import STUDY
from longfat.analysis.advice.remedied import AFTER, BEFORE
from longfat.cli.render.tables import (
    fit_table,
    grid_table,
    plain_table,
    print_heading,
    print_trimmed,
)
from longfat.model.metric import Unit
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.units import format_quantity
from longfat.output.report.values import MANY_FLOWS, MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from longfat.analysis.advice.check import Checked
    from longfat.analysis.advice.diagnosis import Diagnosis
    from longfat.analysis.advice.recommendation import Line, Recommendation
    from longfat.analysis.advice.remedied import Remedied
    from longfat.analysis.advice.tuning import Tuning

_COLOURS = {
    Limit.BOTTLENECK: "green",
    Limit.RECEIVE_WINDOW: "yellow",
    Limit.SEND_BUFFER: "yellow",
    Limit.LOSS: "red",
    Limit.TIMEOUT: "red",
    Limit.MODEL: "magenta",
    Limit.START_UP: "cyan",
    Limit.APPLICATION: "blue",
    Limit.UNKNOWN: "dim",
}

_BAR = 24

# A further cause of less than this share of the time is not printed.
_MIN_SHARE = 0.02


def _heading(console: Console, title: str, beside: str = "") -> None:
    print_heading(console, title, beside, style="dim")


def _pairs(console: Console, rows: Iterable[tuple[str, str]]) -> None:
    """Draw labels and their values in two columns."""
    table = grid_table("lw")
    for label, value in rows:
        table.add_row(Text(label), Text(value))
    console.print(table)


def _paste(console: Console, node: str, lines: Sequence[Line]) -> None:
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


def _by_node(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """Return lines by the node that they belong to, in the order of their first lines."""
    nodes: dict[str, list[Line]] = {}
    for line in lines:
        nodes.setdefault(line.node, []).append(line)
    return nodes


def print_diagnoses(diagnoses: Sequence[Diagnosis], *, console: Console) -> None:
    """Print what limited each flow, and what would help.

    Of many flows it is a table of all, and the details of the slowest one of each cause.

    Args:
        diagnoses: the diagnoses of the flows of a run.
        console: where to print.
    """

    def draw(console: Console) -> None:
        shown = diagnoses
        if len(diagnoses) >= MANY_FLOWS:
            ordered = sorted(diagnoses, key=_throughput_bps)
            _draw_overview(console, ordered)
            by_cause = {_cause(diagnosis): diagnosis for diagnosis in reversed(ordered)}
            shown = [one for one in ordered if one in by_cause.values()]
            console.print(
                Text("Below is the slowest of each cause; longfat diagnose RUN FLOW shows another.")
            )
            console.rule(style="dim")
        for index, diagnosis in enumerate(shown):
            if index:
                console.print()
                console.rule(style="dim")
            _draw_diagnosis(console, diagnosis)

    print_trimmed(draw, console=console)


_OVERVIEW = (
    ("throughput", "throughput"),
    ("RTT", "RTT of the flow, mean"),
    ("retransmissions", "retransmissions"),
)
"""The columns of the table of all flows, with the labels of the facts in them."""


def _draw_overview(console: Console, diagnoses: Sequence[Diagnosis]) -> None:
    """Draw a table with a row for each flow."""
    table = plain_table("flow")
    for head, _ in _OVERVIEW:
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("cause", overflow="fold")
    for diagnosis in diagnoses:
        facts = {fact.label: fact.text.partition("  (")[0] for fact in diagnosis.facts}
        cells = (Text(facts.get(label, MISSING)) for _, label in _OVERVIEW)
        table.add_row(Text(diagnosis.flow), *cells, Text(_cause(diagnosis)))
    fit_table(table, console, optional=("retransmissions", "RTT"))
    console.print(table)
    console.print()


def _cause(diagnosis: Diagnosis) -> str:
    if diagnosis.causes:
        return str(diagnosis.causes[0].cause)
    return MISSING if diagnosis.limit is None else str(diagnosis.limit)


def _throughput_bps(diagnosis: Diagnosis) -> float:
    return next((fact.value for fact in diagnosis.facts if fact.label == "throughput"), 0.0)


def _draw_diagnosis(console: Console, diagnosis: Diagnosis) -> None:
    console.print(
        Text.assemble((diagnosis.flow, "bold"), (f"  {diagnosis.title}", "dim")), soft_wrap=True
    )
    console.print(Text(diagnosis.verdict))
    if diagnosis.spans:
        _heading(console, "Second by second", "what ruled, and its share of that time")
        console.print(_spans(diagnosis))
        _heading(console, "Over all", f"{diagnosis.duration_s:.1f} s of data")
        console.print(_shares(diagnosis))
    _heading(console, "Evidence")
    _pairs(console, ((fact.label, fact.text) for fact in diagnosis.facts))
    _heading(console, "What would help")
    _draw_remedy(console, diagnosis.recommendation)
    for finding in diagnosis.causes[1:]:
        if finding.share < _MIN_SHARE:
            continue
        share = f"{finding.share * 100:.0f} % of the time"
        _heading(console, f"Also: {finding.cause}", share)
        console.print(Text(finding.sentence))
        _draw_remedy(console, finding.remedy)
    if diagnosis.notes:
        console.print()
        for note in diagnosis.notes:
            console.print(Text(note, style="dim"))


def _draw_remedy(console: Console, remedy: Recommendation) -> None:
    if remedy.words:
        console.print(Text(remedy.words))
    for node, lines in _by_node(remedy.lines).items():
        console.print()
        _paste(console, node, lines)
    for line in remedy.alternatives:
        console.print()
        console.print(Text("or", style="dim"))
        _paste(console, line.node, [line])


def _spans(diagnosis: Diagnosis) -> Table:
    table = grid_table("rlr")
    for span in diagnosis.spans:
        table.add_row(
            Text(f"{span.start_s:.0f}-{span.end_s:.0f} s"),
            Text(str(span.limit), style=_COLOURS[span.limit]),
            Text(f"{span.share * 100:.0f} %"),
        )
    return table


def _shares(diagnosis: Diagnosis) -> Table:
    table = grid_table("lrrl")
    for limit, seconds in diagnosis.seconds.items():
        share = seconds / diagnosis.duration_s
        if seconds < 0.005:
            continue
        table.add_row(
            Text(str(limit)),
            Text(f"{seconds:.2f} s"),
            Text(f"{share * 100:.1f} %"),
            Text("█" * round(share * _BAR), style=_COLOURS[limit]),
        )
    return table


_REMEDIED = (
    ("receiver_bps", "throughput", Unit.BPS),
    ("mean_rtt_s", "RTT, mean", Unit.SECONDS),
    ("retransmits", "retransmissions", Unit.COUNT),
    ("loss", "lost", Unit.FRACTION),
)


def print_remedied(checked: Remedied, *, console: Console) -> None:
    """Print a flow before and after its remedy.

    Args:
        checked: both.
        console: where to print.
    """
    _heading(console, "Checked", "the same case with the lines of the first remedy")
    table = plain_table()
    table.add_column("", no_wrap=True)
    for name in (BEFORE, AFTER):
        table.add_column(name, justify="right", overflow="fold")
    for metric, label, unit in _REMEDIED:
        values = [checked.metrics[name].get(metric) for name in (BEFORE, AFTER)]
        if any(value is not None for value in values):
            texts = ("-" if value is None else format_quantity(value, unit) for value in values)
            table.add_row(label, *map(Text, texts))
    causes = (
        str(diagnosis.causes[0].cause) if diagnosis.causes else "-"
        for diagnosis in (checked.before, checked.after)
    )
    table.add_row("first cause", *map(Text, causes))
    console.print(table)
    mark, style = ("helps", "green") if checked.good else ("DOES NOT HELP", "bold red")
    console.print(Text.assemble((mark, style), f"  {checked.after.verdict}"))


# Runs of this little difference are as good as each other.
_ALIKE = 0.02


def print_tuning(tuning: Tuning, *, console: Console, checked: Checked | None = None) -> None:
    """Print what to set for a path, and why.

    Args:
        tuning: the advice.
        console: where to print.
        checked: the runs that show what it is worth; `None` if there are none.
    """

    def draw(console: Console) -> None:
        _draw_tuning(console, tuning)
        if checked is not None:
            _draw_check(console, checked)

    print_trimmed(draw, console=console)


def _draw_tuning(console: Console, tuning: Tuning) -> None:
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
    _heading(console, "What the path needs")
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
    _pairs(console, rows)
    for node, lines in _by_node(tuning.lines).items():
        _heading(console, f"At {node}")
        _paste(console, "", lines)
    _heading(console, "Leave as they are")
    _pairs(console, tuning.keep)
    if tuning.notes:
        console.print()
        for note in tuning.notes:
            console.print(Text(note, style="dim"))


def _draw_check(console: Console, checked: Checked) -> None:
    _heading(console, "Checked in machines", "10 s of iperf3 after the start-up")
    table = plain_table()
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
