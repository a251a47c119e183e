"""The page: one HTML file with everything in it, for a browser of any width, and for paper.

What stands in it comes from `page.html.j2`, its looks from `page.css`; both go
into the file. Jinja2 escapes whatever a study says; its text is cleaned by
`longfat.report.text`. Static figures are inline SVG whose colours are turned
into variables, so that they follow the colour scheme; where scripts run, charts
that can be zoomed take their places.

Paper gets the same in the same order. It can neither fold nor scroll: answers
go to the end, wide tables are broken into blocks, and long lists of iperf3's
rows are left to the screen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from longfat import __version__
from longfat.plot import DARK
from longfat.report.drawing import MOST_NODES, draw_network
from longfat.report.held_back import held_back
from longfat.report.iperf3_tables import COLUMNS, Iperf3Tables, iperf3_tables
from longfat.report.rerun import rerun_line
from longfat.report.text import page_text, place_network, unfold
from longfat.report.values import (
    MISSING,
    Grid,
    claim_rows,
    claims_summary,
    comparison_columns,
    comparison_groups,
    metric_grid,
    number_ranges,
    run_summary,
)
from longfat.report.windows import flow_windows, window_grid, window_notes
from longfat.runs import told_tools
from longfat.traffic import Iperf3

if TYPE_CHECKING:
    from longfat.network import Network
    from longfat.report.embedded import Embedded
    from longfat.report.exhibits import Gallery
    from longfat.runs import Run
    from longfat.verdict import Verdict

_MOST_ROWS = 12  # of an iperf3 test; more are folded away
# An outline's places in points of 1/72 inch: a hundredth of one is enough, and half as long.
_OUTLINE = re.compile(r' d="[^"]*"')
_DIGITS = re.compile(r"(\.\d\d)\d+")
_PAPER_COLUMNS = 6  # of a table with a column for each case


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """A network, and the cases that have it."""

    network: Network
    cases: tuple[str, ...]
    words: str
    shaped: frozenset[str]

    def svg(self, *, paper: bool) -> Markup | None:
        """Return its drawing; None where that would be too large."""
        if len(self.network.hosts) + len(self.network.switches) > MOST_NODES:
            return None
        return draw_network(self.network, shaped=self.shaped, with_style=paper)


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
        galleries: the figures by what they show.
        svgs: each figure by its name, as matplotlib saves it.
    """

    def __init__(
        self, verdict: Verdict, *, galleries: Sequence[Gallery], svgs: Mapping[str, str]
    ) -> None:
        self._verdict = verdict
        self._galleries = galleries
        self._svgs = svgs
        text = verdict.study.text
        self._text = None if text is None else page_text(text, title=verdict.study.title)

    def for_screen(self, embedded: Embedded | None) -> str:
        """Return the page as a browser shows it.

        Args:
            embedded: what draws the charts that can be zoomed; None for static
                figures only.

        Raises:
            MachineError: a report of iperf3 cannot be read.
        """
        figures = {name: _inline(svg, prefix=f"figure-{name}") for name, svg in self._svgs.items()}
        return self._render(
            paper=False,
            embedded=embedded,
            figures=figures,
            text=Markup("") if self._text is None else self._text.html,
            answers=(),
        )

    def for_paper(self) -> str:
        """Return the page as it is printed.

        Raises:
            MachineError: a report of iperf3 cannot be read.
        """
        html, answers = unfold(Markup("") if self._text is None else self._text.html)
        return self._render(
            paper=True,
            embedded=None,
            figures={
                name: _inline(svg, prefix=f"figure-{name}", dark=False)
                for name, svg in self._svgs.items()
            },
            text=html,
            answers=answers,
        )

    def _drawing(self, *, paper: bool) -> Markup:
        template = _environment().get_template("network.html.j2")
        return Markup(template.render(networks=self._networks, paper=paper))

    def _render(self, *, text: Markup, paper: bool, **more: Any) -> str:
        drawing = self._drawing(paper=paper)
        values = {**self._values, **more, "paper": paper, "drawing": drawing}
        values["text"] = place_network(text, drawing)
        for name in ("metrics", "windows"):
            grid: Grid | None = values[name]
            values[name] = () if grid is None else _blocks(grid) if paper else (grid,)
        return _environment().get_template("page.html.j2").render(values)

    @cached_property
    def _networks(self) -> list[_Drawn]:
        return _networks(self._verdict)

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
            "summary": run_summary(verdict),
            "colours": DARK,
            "variable": _variable,
            "number_ranges": number_ranges,
            "headings": () if self._text is None else self._text.headings,
            "network_placed": self._text is not None and self._text.places_network,
            "networks": self._networks,
            "tools": told_tools(runs.values()),
            "titled": any(study.cases[name].title != name for name in verdict.runs),
            "groups": comparison_groups(verdict),
            "columns": comparison_columns(verdict),
            "metrics": metric_grid(verdict),
            "claims": claim_rows(verdict),
            "claims_summary": claims_summary(verdict),
            "galleries": self._galleries,
            "held_back": held_back(verdict),
            "windows": window_grid(windows) if windows else None,
            "window_notes": window_notes(windows, omissions),
            "iperf3_columns": COLUMNS,
            "tests": _tests(verdict),
            "commands": _commands(verdict),
            "rerun": rerun_line(verdict),
        }
        return values | {"sections": _sections(values)}


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("longfat.report", package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _sections(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the sections of the results that there are, by anchor."""
    found = {
        "network": "" if values["network_placed"] else "Network",
        "runs": "What was run",
        "published": "Published and measured" if values["groups"] else "",
        "measured": "Measured" if values["metrics"] is not None else "",
        "claims": "Claims" if values["claims"] else "",
        **{gallery.anchor: gallery.heading for gallery in values["galleries"]},
        "held-back": "What held each flow back" if values["held_back"] else "",
        "windows": (
            "Window arithmetic" if values["windows"] is not None or values["window_notes"] else ""
        ),
        "iperf3": "iperf3, as it prints" if values["tests"] else "",
        "commands": "The commands",
        "again": "To run it again",
    }
    return {anchor: heading for anchor, heading in found.items() if heading}


def _blocks(grid: Grid) -> tuple[Grid, ...]:
    """Break a table into blocks of columns that fit on paper."""
    each = max(1, _PAPER_COLUMNS // grid.together) * grid.together
    blocks = []
    for start in range(0, len(grid.columns), each):
        part = slice(start, start + each)
        rows = [replace(row, cells=row.cells[part]) for row in grid.rows]
        told = tuple(row for row in rows if any(cell != MISSING for cell in row.cells))
        blocks.append(replace(grid, columns=grid.columns[part], rows=told))
    return tuple(blocks)


def _networks(verdict: Verdict) -> list[_Drawn]:
    found: dict[Network, list[str]] = {}
    for name in verdict.runs or verdict.study.cases:
        found.setdefault(verdict.study.cases[name].case.network, []).append(name)
    drawn = []
    for network, cases in found.items():
        lines = [c.line for name in cases for c in verdict.study.cases[name].case.setup]
        words = {word for line in lines for word in re.split(r"[^\w-]+", line)}
        drawn.append(
            _Drawn(
                network=network,
                cases=tuple(cases),
                words=(
                    f"{len(network.hosts)} hosts, {len(network.switches)} switches, "
                    f"{len(network.links)} links"
                ),
                shaped=frozenset(words),
            )
        )
    return drawn


def _tests(verdict: Verdict) -> list[_Test]:
    return [
        _Test(
            case=name,
            flow=flow.name,
            ends=f"{flow.source} to {flow.target}" + (", reversed" if flow.reverse else ""),
            tables=tables,
            folded=len(tables.rows) > _MOST_ROWS,
        )
        for name, run in verdict.first_runs.items()
        for flow in verdict.study.cases[name].case.flows
        if isinstance(flow, Iperf3)
        for tables in (iperf3_tables(flow.report(run.raw)),)
    ]


def _commands(verdict: Verdict) -> list[_Commands]:
    return [
        _Commands(case=name, digest=run.digest, script=_script(run))
        for name, run in verdict.first_runs.items()
    ]


def _script(run: Run) -> str:
    try:
        return (run.folder / "commands.sh").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _variable(colour: str) -> str:
    return f"--ink-{colour.removeprefix('#')}"


def _inline(svg: str, *, prefix: str, dark: bool = True) -> Markup:
    """Return an SVG file as an element of a page; what it shows is told around it.

    Args:
        svg: the file's text.
        prefix: what keeps its identifiers apart from other figures'.
        dark: whether it follows the colour scheme.
    """
    _, start, rest = svg.partition("<svg ")
    rest = re.sub(r'( id="| xlink:href="#|url\(#)', rf"\g<1>{prefix}-", rest)
    rest = _OUTLINE.sub(lambda found: _DIGITS.sub(r"\1", found[0]), rest)
    for colour in DARK if dark else ():
        rest = rest.replace(colour, f"var({_variable(colour)})")
    # All of it is matplotlib's own output, which escapes a study's names.
    return Markup(start) + Markup('aria-hidden="true" ') + Markup(rest)
