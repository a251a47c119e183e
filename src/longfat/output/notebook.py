"""The notebook representations of longfat's objects: drawings of networks, figures of runs.

Jupyter calls `_repr_html_` or `_repr_svg_` of an object. Those objects are in lower layers than
the drawing code, so they call `longfat.shown_in_notebook`, which calls this module.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from longfat.model.metric import Unit
from longfat.model.probes.queue import the_queue
from longfat.model.probes.tcp import alive
from longfat.model.units import format_quantity
from longfat.output.drawing import MAX_NODES, draw_network
from longfat.output.plot import Line, Panel, draw_panels, figure_style, saved
from longfat.output.report.figures import figure_groups, visible_groups
from longfat.output.report.values import claim_rows, claims_summary, metric_grid, run_summary
from longfat.study.metrics import known_metrics

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from longfat.analysis.study_runs import StudyRuns
    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.model.network import Network
    from longfat.output.plot import Floats

_WIDTH_IN = 7.0
_TIME = "virtual time since boot (s)"
_MAX_CASES = 40
_MAX_METRICS = 60
_RIGHT = ' style="text-align:right"'
_MARKS: Mapping[str, str] = {"holds": "#166534", "FAILS": "#b91c1c"}
_GREY = "#666"


def network_svg(network: Network) -> str:
    """Return the drawing of a network; empty where it would be too large."""
    if not 0 < len(network.hosts) + len(network.switches) <= MAX_NODES:
        return ""
    return str(draw_network(network, with_style=True))


def study_html(runs: StudyRuns) -> str:
    """Return a description of a study: its network, its cases, and its number of claims."""
    study = runs.study
    networks = list(dict.fromkeys(plan.case.network for plan in study.cases.values()))
    drawing = network_svg(networks[0]) if len(networks) == 1 else ""
    rows = [
        [name, plan.title if plan.title != name else "", str(plan.seeds)]
        for name, plan in list(study.cases.items())[:_MAX_CASES]
    ]
    more = len(study.cases) - len(rows)
    words = f"{len(study.cases)} cases, {len(study.claims)} claims, runs in {runs.out}"
    rest = f"<p>... and {more} more</p>" if more > 0 else ""
    return (
        f"<h4>{escape(study.title)}</h4><p>{escape(words)}</p>{drawing}"
        f"{_table(['case', 'what it is', 'seeds'], rows, numbers={2})}{rest}"
    )


def verdict_html(verdict: Verdict) -> str:
    """Return the results of runs: the claims, what was measured, and the figures."""
    claims = [
        f'<tr><td style="color:{_MARKS.get(row.verdict, _GREY)}">{escape(row.verdict)}</td>'
        f'<td style="text-align:left">{escape(row.text)}<br><code>{escape(row.expression)}</code>'
        f"<br>{escape(_readings(row.readings))}</td></tr>"
        for row in claim_rows(verdict)
    ]
    grid = metric_grid(verdict)
    measured = ""
    if grid is not None:
        cells = [[row.label, *row.cells] for row in grid.rows]
        measured = _table(["metric", *grid.columns], cells, numbers=range(1, 1 + len(grid.columns)))
    return (
        f"<h4>{escape(verdict.study.title)}</h4>"
        f"<p>{escape(run_summary(verdict))}<br>{escape(claims_summary(verdict))}</p>"
        f"<table>{''.join(claims)}</table>{measured}{_figures(verdict)}"
    )


def run_html(run: Run) -> str:
    """Return what a run measured, with the network that it ran in."""
    known = known_metrics(run.case)
    rows = []
    for name, value in list(run.metrics.items())[:_MAX_METRICS]:
        if name in known:
            rows.append([name, format_quantity(value, known[name].unit)])
    head = f"{run.name}: Linux {run.kernel['release']}, seed {run.seed}, digest {run.digest[:12]}"
    return (
        f"<h4>{escape(head)}</h4>{network_svg(run.case.network)}"
        f"{_table(['metric', ''], rows, numbers={1})}"
    )


def series_svg(tables: Mapping[str, pa.Table], *, hosts: int) -> str:
    """Return a figure of a live probe's samples: queues, windows and round-trip times.

    Args:
        tables: the samples by their kind: `queue`, `tcp`.
        hosts: the number of hosts whose sockets were sampled.
    """
    panels = []
    if "tcp" in tables:
        sockets = _sockets(alive(tables["tcp"]), hosts=hosts)
        panels.append(_panel("cwnd", "Congestion window", sockets, "cwnd_bytes", Unit.BYTES))
        panels.append(_panel("rtt", "Smoothed RTT", sockets, "rtt_s", Unit.SECONDS))
    if "queue" in tables:
        rows = the_queue(tables["queue"])
        names = rows["interface"].cast("string").to_numpy(zero_copy_only=False)
        found = {str(name): rows.filter(names == name) for name in np.unique(names)}
        panels.append(_panel("queue", "Queue", found, "backlog_bytes", Unit.BYTES))
    drawn = [panel for panel in panels if panel is not None]
    if not drawn:
        return ""
    start_s = min(float(line.times_s.min()) for panel in drawn for line in panel.lines)
    end_s = max(float(line.times_s.max()) for panel in drawn for line in panel.lines)
    with figure_style():
        figure = draw_panels(drawn, time_label=_TIME, span_s=(start_s, end_s), width_in=_WIDTH_IN)
        return saved(figure, "svg").decode()


def _sockets(rows: pa.Table, *, hosts: int) -> dict[str, pa.Table]:
    """Return the rows of each socket that sent data."""
    names = [
        f"{host + ' ' if hosts > 1 else ''}port {local} to {remote}"
        for host, local, remote in zip(
            rows["host"].cast("string").to_pylist(),
            rows["local_port"].to_pylist(),
            rows["remote_port"].to_pylist(),
            strict=True,
        )
    ]
    of = np.array(names)
    found = {name: rows.filter(of == name) for name in dict.fromkeys(names)}
    return {name: one for name, one in found.items() if max(one["bytes_acked"].to_pylist()) > 1000}


def _panel(
    name: str, title: str, found: Mapping[str, pa.Table], column: str, unit: Unit
) -> Panel | None:
    lines = tuple(
        Line(
            label=label,
            times_s=_floats(rows, "time_s"),
            values=_floats(rows, column),
            unit=unit,
            style_index=style_index,
        )
        for style_index, (label, rows) in enumerate(found.items())
        if rows.num_rows
    )
    return Panel(name=name, title=title, lines=lines) if lines else None


def _floats(table: pa.Table, column: str) -> Floats:
    found: Floats = table[column].cast("float64").to_numpy()
    return found


def _image(figure: Figure) -> str:
    """Return a figure as an element of its own: identifiers of several would collide."""
    data = base64.b64encode(saved(figure, "svg")).decode("ascii")
    return f'<img src="data:image/svg+xml;base64,{data}" alt="">'


def _readings(readings: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name} = {text}" for name, text in readings)


def _figures(verdict: Verdict) -> str:
    parts = []
    for group in visible_groups(figure_groups(verdict), zoomable=False):
        parts.append(f"<h5>{escape(group.heading)}</h5>")
        for one in group.figures:
            assert one.draw is not None
            with figure_style():
                figure = one.draw(_WIDTH_IN, one.case)
                parts.append(_image(figure))
    return "".join(parts)


def _table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[int] = ()
) -> str:
    right = set(numbers)

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{_RIGHT if place in right else ''}>{escape(text)}</{tag}>"
            for place, text in enumerate(row)
        )

    lines = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><tr>{cells('th', head)}</tr>{lines}</table>"


VIEWS: Mapping[str, Callable[..., str]] = {
    "network": network_svg,
    "study": study_html,
    "verdict": verdict_html,
    "run": run_html,
    "series": series_svg,
}
"""The functions, by the name that `longfat.shown_in_notebook` is given."""
