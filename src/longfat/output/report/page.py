"""The page: one self-contained HTML file, for a browser of any width, and for paper.

It is rendered from `page.html.j2`, with the style of `page.css`; both are
inlined into the file. Jinja2 escapes all text of a study; its Markdown is cleaned by
`longfat.output.report.text`. Static figures are inline SVG whose colours are turned
into variables, so that they follow the colour scheme; where scripts run,
zoomable charts replace them.

Paper gets the same in the same order. It can neither fold nor scroll: answers
are moved to the end, wide tables are broken into blocks, and long lists of iperf3's
rows are on the screen only. Of more than a few cases, it leaves out what is of use for one of them
at a time: rows of iperf3, window arithmetic, commands, and what would help each flow.

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
from longfat.analysis.loss_sections import loss_sections
from longfat.analysis.losses import losses
from longfat.errors import InputError, LongfatError
from longfat.execution.runs import format_tools
from longfat.execution.runs.run import COMMANDS, damage
from longfat.model.traffic import Iperf3, Ping
from longfat.output.plot import DARK
from longfat.output.report.figures import visible_groups
from longfat.output.report.inline_svg import FigureStyles, colour_variable, inline_svg
from longfat.output.report.iperf3_tables import COLUMNS, Iperf3Tables, iperf3_tables
from longfat.output.report.page_parts import (
    DrawnNetwork,
    caption,
    drawn_networks,
    environment,
    networks_html,
    rerun_line,
    undrawn_figures,
)
from longfat.output.report.paper import paper_blocks, side_by_side
from longfat.output.report.text import page_text, place_network, unfold
from longfat.output.report.values import (
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
    from collections.abc import Iterator

    from longfat.analysis.loss_sections import LossSection
    from longfat.analysis.losses import Loss
    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.output.plot import Chart
    from longfat.output.report.embedded import Embedded
    from longfat.output.report.figures import FigureGroup

_MAX_ROWS = 12  # of an iperf3 test; more are folded
_MAX_FULL_CASES = 4  # on paper; of more, it is compact
_MAX_LOSSES = 8  # rows of a case; `longfat losses` prints all
_MAX_SECTIONS, _MAX_SECTION_LOSSES = 20, 3  # likewise
_MAX_OF_A_FILE = 2000  # characters of a file that commands.sh writes
_FEW_PINGS = 10  # of a flow; the figure of so few has no place on compact paper
_COMPACT_LOSSES = 2  # of a case on compact paper
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
        html = side_by_side(html)
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
        values["figure_groups"] = visible_groups(
            self._figure_groups, zoomable=more["embedded"] is not None
        )
        values["text"] = place_network(text, drawing)
        values["compact"] = paper and len(self._verdict.runs) > _MAX_FULL_CASES
        if values["compact"]:
            shown = _COMPACT_LOSSES
            values |= {"windows": None, "window_notes": (), "tests": (), "commands": ()}
            values["metrics"] = metric_grid(self._verdict, claimed_only=True)
            if not _has_many_pings(self._verdict):
                groups = values["figure_groups"]
                values["figure_groups"] = [group for group in groups if group.anchor != "pings"]
            values["losses"] = tuple(
                replace(one, losses=one.losses[:shown], more=one.more + len(one.losses[shown:]))
                for one in self._values["losses"]
            )
        for name in ("metrics", "windows"):
            grid: Grid | None = values[name]
            values[name] = () if grid is None else paper_blocks(grid) if paper else (grid,)
        values["sections"] = _sections(values)
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
        return {
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
            "explanations": _explanations(verdict),
            "metrics": metric_grid(verdict),
            "claims": claim_rows(verdict),
            "claims_summary": claims_summary(verdict),
            "charts": [caption(chart) for chart in self._charts],
            "undrawn": undrawn_figures(verdict, self._charts),
            "limiting_factors": limiting_factor(verdict),
            "losses": lost_packets(verdict),
            "windows": window_grid(windows) if windows else None,
            "window_notes": window_notes(windows, omissions),
            "iperf3_columns": COLUMNS,
            "tests": _tests(verdict),
            "commands": _commands(verdict),
            "rerun": rerun_line(verdict),
        }


def _has_many_pings(verdict: Verdict) -> bool:
    """Return whether a flow has more pings than the table of metrics describes."""
    return any(
        isinstance(flow, Ping) and flow.count > _FEW_PINGS
        for name in verdict.runs
        for flow in verdict.study.cases[name].case.flows
    )


def _sections(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the non-empty sections of the results, by anchor."""
    found = {
        "figures": "Figures" if values["charts"] or values["undrawn"] else "",
        "network": "" if values["network_placed"] else "Network",
        "runs": "What was run",
        "published": "Published and measured" if values["groups"] else "",
        "measured": "Measured" if values["metrics"] is not None else "",
        "claims": "Claims" if values["claims"] else "",
        **{group.anchor: group.heading for group in values["figure_groups"]},
        "limiting-factors": "What limited each flow" if values["limiting_factors"] else "",
        "losses": "Where packets were lost" if values["losses"] else "",
        "windows": ("Window arithmetic" if values["windows"] or values["window_notes"] else ""),
        "iperf3": "iperf3, as it prints" if values["tests"] else "",
        "commands": "The commands" if values["commands"] else "",
        "again": "How to reproduce the runs",
    }
    return {anchor: heading for anchor, heading in found.items() if heading}


def _explanations(verdict: Verdict) -> dict[str, list[str]]:
    """Return why published figures differ: by each explanation the figures of each case."""
    published = verdict.study.published
    explained: dict[str, dict[str, list[str]]] = {}
    for figure in () if published is None else published.figures:
        if figure.explanation and figure.case in verdict.runs:
            cases = explained.setdefault(figure.explanation, {})
            cases.setdefault(figure.case, []).append(figure.title)
    return {
        explanation: [f"{case}, {', '.join(titles)}" for case, titles in cases.items()]
        for explanation, cases in explained.items()
    }


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
        sections: of a run with events, the losses between them, the most packets first.
    """

    case: str
    losses: tuple[Loss, ...]
    more: int
    sections: tuple[LossSection, ...] = ()


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
            sections = tuple(_section_losses(run))
            rows.append(LostPackets(case, tuple(lost[:_MAX_LOSSES]), max(0, more), sections))
    return tuple(rows)


def _section_losses(run: Run) -> Iterator[LossSection]:
    """Yield the first sections of a run's losses in which packets were lost."""
    sections = loss_sections(run)
    for section in sections[:_MAX_SECTIONS]:
        lost = [loss for loss in section.losses if loss.cause.is_loss][:_MAX_SECTION_LOSSES]
        if lost:
            yield replace(section, losses=tuple(lost))


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
