"""The page: one self-contained HTML file, for a browser of any width, and for paper.

It is rendered from `page.html.j2`, with the style of `page.css`; both are
inlined into the file. Jinja2 escapes all text of a study; its Markdown is cleaned by
`longfat.output.report.text`. Static figures are inline SVG whose colours are turned
into variables, so that they follow the colour scheme; where scripts run,
zoomable charts replace them.

Paper gets the same in the same order. It can neither fold nor scroll: answers
are moved to the end, wide tables are broken into blocks, and long lists of iperf3's
rows are on the screen only.

Each flow has a sentence of its diagnosis: its limiting factor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from longfat import __version__
from longfat.analysis.advice.diagnosis import diagnose
from longfat.analysis.losses import losses
from longfat.errors import InputError, LongfatError
from longfat.execution.runs import format_tools
from longfat.execution.runs.run import COMMANDS, damage
from longfat.model.traffic import Iperf3
from longfat.output.plot import DARK
from longfat.output.report.inline_svg import FigureStyles, colour_variable, inline_svg
from longfat.output.report.iperf3_tables import COLUMNS, Iperf3Tables, iperf3_tables
from longfat.output.report.page_parts import (
    DrawnNetwork,
    caption,
    drawn_networks,
    environment,
    networks_html,
    rerun_line,
)
from longfat.output.report.text import page_text, place_network, unfold
from longfat.output.report.values import (
    MISSING,
    Grid,
    Row,
    claim_rows,
    claims_summary,
    comparison_columns,
    comparison_groups,
    metric_grid,
    number_ranges,
    run_summary,
)
from longfat.output.report.windows import flow_windows, window_grid, window_notes
from longfat.study.text import ENGLISH, language_of

if TYPE_CHECKING:
    from longfat.analysis.losses import Loss
    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.output.plot import Chart
    from longfat.output.report.embedded import Embedded
    from longfat.output.report.figures import FigureGroup

_MAX_ROWS = 12  # of an iperf3 test; more are folded
_MAX_LOSSES = 8  # rows of a case; `longfat losses` prints all
_MAX_OF_A_FILE = 2000  # characters of a file that commands.sh writes
_PAPER_COLUMNS = 6  # of a table with a column for each case
_HERE_DOCUMENT = re.compile(r"(<< '(?P<end>EOF_*)'\n)(.*?)((?<=\n)(?P=end)\n)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test:
    """An iperf3 flow of a case with its tables."""

    case: str
    flow: str
    ends: str
    tables: Iperf3Tables
    folded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Commands:
    """What a case did."""

    case: str
    digest: str
    script: str


class Page:
    """The page of a study with its runs.

    Args:
        verdict: the study with its runs.
        figure_groups: the figures over time, by what they show.
        charts: the figures that the study defines.
        svgs: each figure by its name, as matplotlib saves it.
    """

    def __init__(
        self,
        verdict: Verdict,
        *,
        figure_groups: Sequence[FigureGroup],
        svgs: Mapping[str, str],
        charts: Sequence[Chart] = (),
    ) -> None:
        self._verdict = verdict
        self._figure_groups = figure_groups
        self._charts = charts
        self._svgs = svgs
        text = verdict.study.text
        title = verdict.study.title
        self._language = ENGLISH if text is None else text.language
        self._title = title if text is None else text.title(title)
        spoken = language_of(self._language)
        self._text = (
            None if text is None else page_text(text.markdown, title=self._title, language=spoken)
        )

    @property
    def folded_tables(self) -> dict[str, Any]:
        """Return the tables that the page's script makes when they are unfolded, by their names."""
        tests: Sequence[_Test] = self._values["tests"]
        found: dict[str, Any] = {}
        for place, test in enumerate(tests):
            label = f"{test.case}, {test.flow}"
            if test.folded:
                blocks = [test.tables.rows]
                found[f"rows-{place}"] = _folded(f"iperf3 rows of {label}", blocks)
            if test.tables.streams:
                blocks = list(test.tables.streams)
                found[f"streams-{place}"] = _folded(
                    f"iperf3 rows of each stream of {label}", blocks
                )
        return found

    def for_screen(self, embedded: Embedded | None) -> str:
        """Return the page as a browser shows it.

        Args:
            embedded: what draws the zoomable charts; None for static
                figures only.

        Raises:
            MachineError: a report of iperf3 cannot be read.
        """
        styles = FigureStyles()
        figures = {
            name: inline_svg(svg, prefix=f"f{place}", styles=styles)
            for place, (name, svg) in enumerate(self._svgs.items())
        }
        return self._render(
            paper=False,
            embedded=embedded,
            figures=figures,
            figure_rules=styles.rules,
            text=Markup("") if self._text is None else self._text.html,
            answers=(),
        )

    def for_paper(self) -> str:
        """Return the page as it is printed.

        Raises:
            MachineError: a report of iperf3 cannot be read.
        """
        html, answers = unfold(
            Markup("") if self._text is None else self._text.html,
            word=language_of(self._language).answer,
        )
        return self._render(
            paper=True,
            embedded=None,
            figure_rules="",
            figures={
                name: inline_svg(svg, prefix=f"f{place}", styles=None)
                for place, (name, svg) in enumerate(self._svgs.items())
            },
            text=html,
            answers=answers,
        )

    def _render(self, *, text: Markup, paper: bool, **more: Any) -> str:
        drawing = networks_html(self._networks, paper=paper)
        values = {**self._values, **more, "paper": paper, "drawing": drawing}
        values["text"] = place_network(text, drawing)
        for name in ("metrics", "windows"):
            grid: Grid | None = values[name]
            values[name] = () if grid is None else _blocks(grid) if paper else (grid,)
        return environment().get_template("page.html.j2").render(values)

    @cached_property
    def _networks(self) -> list[DrawnNetwork]:
        return drawn_networks(self._verdict)

    @cached_property
    def _values(self) -> dict[str, Any]:
        verdict = self._verdict
        study = verdict.study
        windows, omissions = flow_windows(verdict)
        runs = verdict.first_runs
        values: dict[str, Any] = {
            "version": __version__,
            "verdict": verdict,
            "runs": verdict.runs,
            "study": study,
            "title": self._title,
            "language": self._language,
            "answer": language_of(self._language).answer,
            "summary": run_summary(verdict),
            "colours": DARK,
            "variable": colour_variable,
            "number_ranges": number_ranges,
            "headings": () if self._text is None else self._text.headings,
            "network_placed": self._text is not None and self._text.places_network,
            "networks": self._networks,
            "tools": format_tools(runs.values()),
            "titled": any(study.cases[name].title != name for name in verdict.runs),
            "groups": comparison_groups(verdict),
            "columns": comparison_columns(verdict),
            "metrics": metric_grid(verdict),
            "claims": claim_rows(verdict),
            "claims_summary": claims_summary(verdict),
            "charts": [caption(chart) for chart in self._charts],
            "figure_groups": self._figure_groups,
            "limiting_factors": limiting_factor(verdict),
            "losses": lost_packets(verdict),
            "windows": window_grid(windows) if windows else None,
            "window_notes": window_notes(windows, omissions),
            "iperf3_columns": COLUMNS,
            "tests": _tests(verdict),
            "commands": _commands(verdict),
            "rerun": rerun_line(verdict),
        }
        return values | {"sections": _sections(values)}


def _sections(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the non-empty sections of the results, by anchor."""
    found = {
        "network": "" if values["network_placed"] else "Network",
        "runs": "What was run",
        "published": "Published and measured" if values["groups"] else "",
        "measured": "Measured" if values["metrics"] is not None else "",
        "claims": "Claims" if values["claims"] else "",
        "figures": "Figures" if values["charts"] else "",
        **{group.anchor: group.heading for group in values["figure_groups"]},
        "limiting-factors": "What limited each flow" if values["limiting_factors"] else "",
        "losses": "Where packets were lost" if values["losses"] else "",
        "windows": (
            "Window arithmetic" if values["windows"] is not None or values["window_notes"] else ""
        ),
        "iperf3": "iperf3, as it prints" if values["tests"] else "",
        "commands": "The commands",
        "again": "How to reproduce the runs",
    }
    return {anchor: heading for anchor, heading in found.items() if heading}


def _blocks(grid: Grid) -> tuple[Grid, ...]:
    """Break a table into blocks of columns that fit on paper."""
    each = max(1, _PAPER_COLUMNS // grid.together) * grid.together
    blocks = []
    for start in range(0, len(grid.columns), each):
        part = slice(start, start + each)
        rows = [replace(row, cells=row.cells[part]) for row in grid.rows]
        filled = tuple(row for row in rows if any(cell != MISSING for cell in row.cells))
        blocks.append(replace(grid, columns=grid.columns[part], rows=filled))
    return tuple(blocks)


def _tests(verdict: Verdict) -> list[_Test]:
    return [
        _Test(
            case=name,
            flow=flow.name,
            ends=f"{flow.source} to {flow.target}" + (", reversed" if flow.reverse else ""),
            tables=tables,
            folded=len(tables.rows) > _MAX_ROWS,
        )
        for name, run in verdict.first_runs.items()
        for flow in run.measured_case.flows
        if isinstance(flow, Iperf3)
        for tables in (iperf3_tables(flow.report(run.checked_raw)),)
    ]


def _folded(label: str, blocks: Sequence[Sequence[Row]]) -> dict[str, Any]:
    return {
        "label": label,
        "columns": ["ID", *COLUMNS],
        "blocks": [[[row.label, *row.cells] for row in rows] for rows in blocks],
    }


def _commands(verdict: Verdict) -> list[_Commands]:
    return [
        _Commands(case=name, digest=run.digest, script=_script(run))
        for name, run in verdict.first_runs.items()
    ]


def _script(run: Run) -> str:
    if COMMANDS not in run.files:
        return ""
    if problem := damage(run, only=COMMANDS):
        raise InputError(f"{run.folder}: damaged: {problem}")
    text = (run.folder / COMMANDS).read_text(encoding="utf-8", errors="replace")
    return _HERE_DOCUMENT.sub(_shortened, text)


def _shortened(found: re.Match[str]) -> str:
    """Return a here-document, which contains a file of the case, truncated if it is large."""
    start, _, body, end = found.groups()
    more = len(body) - _MAX_OF_A_FILE
    if more <= 0:
        return found[0]
    return f"{start}{body[:_MAX_OF_A_FILE]}\n[{more:,} more characters in commands.sh]\n{end}"


@dataclass(frozen=True, slots=True)
class LimitingFactor:
    """The limiting factor of a flow.

    Attributes:
        case: the case's name.
        flow: the flow's name.
        title: who sends to whom, and how; empty where nothing could be determined.
        sentence: what limited it, or why that cannot be determined.
        help: what would help.
        lines: the lines to type for it, each with the host.
    """

    case: str
    flow: str
    title: str
    sentence: str
    help: str = ""
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LostPackets:
    """Where a case's run lost packets.

    Attributes:
        case: the case.
        losses: the losses with the most packets.
        more: how many others are left out.
    """

    case: str
    losses: tuple[Loss, ...]
    more: int


def limiting_factor(verdict: Verdict) -> tuple[LimitingFactor, ...]:
    """Return a row for each flow of bulk traffic, of each case's run with the first seed."""
    return tuple(
        _row(verdict, case, flow.name)
        for case, run in verdict.first_runs.items()
        for flow in run.case.bulk_flows
    )


def lost_packets(verdict: Verdict) -> tuple[LostPackets, ...]:
    """Return where each case's run with the first seed lost packets, the most first."""
    rows = []
    for case, run in verdict.first_runs.items():
        if run.drops is None:
            continue
        lost = [loss for loss in losses(run) if loss.cause.is_loss]
        if lost:
            more = len(lost) - _MAX_LOSSES
            rows.append(LostPackets(case, tuple(lost[:_MAX_LOSSES]), max(0, more)))
    return tuple(rows)


def _row(verdict: Verdict, case: str, flow: str) -> LimitingFactor:
    try:
        (found,) = diagnose(verdict.first_runs[case], flow)
    except LongfatError as error:
        # One flow that moved no data must not prevent the report.
        return LimitingFactor(case, flow, "", f"This cannot be determined: {error}")
    return LimitingFactor(
        case,
        flow,
        found.title,
        found.verdict,
        found.recommendation.words,
        tuple(f"{line.node}$ {line.text}" for line in found.recommendation.lines),
    )
