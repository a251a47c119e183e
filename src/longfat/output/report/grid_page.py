"""The page of a grid, or of any study of very many cases.

It has what is readable for hundreds of cases: the parameters, the claims, the figures,
and a table of all cases that is sorted and filtered in the page. What `longfat.output.report.page`
shows of each single case (its flows over time, its windows, its commands) stays in the runs.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from longfat import __version__
from longfat.execution.runs import format_tools
from longfat.output.plot import DARK, Chart
from longfat.output.report.case_table import MAX_PLAIN, CaseTable
from longfat.output.report.figures import visible_groups
from longfat.output.report.inline_svg import FigureStyles, colour_variable, inline_svg
from longfat.output.report.page_parts import (
    DrawnNetwork,
    caption,
    drawn_networks,
    environment,
    networks_html,
    rerun_line,
    undrawn_figures,
)
from longfat.output.report.text import page_text, place_network, unfold
from longfat.output.report.values import claim_rows, claims_summary, run_summary
from longfat.study.text import ENGLISH, language_of

if TYPE_CHECKING:
    from longfat.analysis.verdict import Verdict
    from longfat.output.report.embedded import Embedded
    from longfat.output.report.figures import FigureGroup

_MAX_VALUES_LENGTH = 160  # letters of a parameter's values
_PLAIN_COLUMNS = 8  # of a table on paper


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parameter:
    """A parameter of the grid, with its values in a line."""

    name: str
    values: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the values as text, abbreviated if there are very many."""
        text = ", ".join(self.values)
        if len(text) <= _MAX_VALUES_LENGTH:
            return text
        return f"{', '.join(self.values[:5])}, ... {self.values[-1]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kernel:
    """A kernel, and how many cases ran on it."""

    release: str
    digest: str
    cases: int


class GridPage:
    """The page of very many cases.

    Args:
        verdict: the study with its runs.
        table: all of its cases.
        charts: its figures.
        figure_groups: figures over time, of a grid of few cases.
        svgs: each figure by its name, as matplotlib saves it.
    """

    def __init__(
        self,
        verdict: Verdict,
        *,
        table: CaseTable,
        charts: Sequence[Chart],
        figure_groups: Sequence[FigureGroup],
        svgs: Mapping[str, str],
    ) -> None:
        self._verdict = verdict
        self._table = table
        self._charts = charts
        self._figure_groups = figure_groups
        self._svgs = svgs
        text = verdict.study.text
        title = verdict.study.title
        self._language = ENGLISH if text is None else text.language
        self._title = title if text is None else text.title(title)
        spoken = language_of(self._language)
        self._text = (
            None if text is None else page_text(text.markdown, title=self._title, language=spoken)
        )

    def for_screen(self, embedded: Embedded | None) -> str:
        """Return the page as a browser shows it.

        Args:
            embedded: what draws the zoomable charts, and builds the table; None for
                static figures and the first rows only.
        """
        text = Markup("") if self._text is None else self._text.html
        return self._render(paper=False, embedded=embedded, text=text, answers=())

    def for_paper(self) -> str:
        """Return the page as it is printed: the table has its first rows and columns."""
        text, answers = unfold(
            Markup("") if self._text is None else self._text.html,
            word=language_of(self._language).answer,
        )
        return self._render(paper=True, embedded=None, text=text, answers=answers)

    def _render(self, *, paper: bool, text: Markup, **more: Any) -> str:
        styles = None if paper else FigureStyles()
        figures = {
            name: inline_svg(svg, prefix=f"f{place}", styles=styles)
            for place, (name, svg) in enumerate(self._svgs.items())
        }
        table = self._table.narrowed(_PLAIN_COLUMNS) if paper else self._table
        drawing = networks_html(self._networks, paper=paper)
        values = {
            **self._values,
            **more,
            "paper": paper,
            "figures": figures,
            "figure_rules": "" if styles is None else styles.rules,
            "table": table,
            "drawing": drawing,
            "text": place_network(text, drawing),
            "figure_groups": visible_groups(
                self._figure_groups, zoomable=more["embedded"] is not None
            ),
        }
        values["sections"] = self._sections(values)
        return environment().get_template("grid.html.j2").render(values)

    @cached_property
    def _networks(self) -> list[DrawnNetwork]:
        # All cases of a grid have the same nodes; their links differ in numbers only.
        verdict = self._verdict
        if verdict.study.grid is None:
            return []
        first = next(iter(verdict.runs or verdict.study.cases))
        study = dataclasses.replace(verdict.study, cases={first: verdict.study.cases[first]})
        runs = {first: verdict.runs[first]} if verdict.runs else {}
        found = drawn_networks(dataclasses.replace(verdict, study=study, runs=runs))
        return [
            dataclasses.replace(one, words=f"{one.words}; the numbers are those of {first}")
            for one in found
        ]

    @cached_property
    def _values(self) -> dict[str, Any]:
        verdict = self._verdict
        study = verdict.study
        runs = [run for of_case in verdict.runs.values() for run in of_case]
        return {
            "version": __version__,
            "verdict": verdict,
            "study": study,
            "title": self._title,
            "language": self._language,
            "answer": language_of(self._language).answer,
            "summary": run_summary(verdict),
            "colours": DARK,
            "variable": colour_variable,
            "headings": () if self._text is None else self._text.headings,
            "parameters": _parameters(verdict),
            "combinations": _combinations(verdict),
            "claims": claim_rows(verdict),
            "claims_summary": claims_summary(verdict),
            "charts": [caption(chart) for chart in self._charts],
            "undrawn": undrawn_figures(verdict, self._charts),
            "table_notes": _table_notes(verdict, self._table),
            "kernels": _kernels(verdict),
            "digest": _digest(verdict),
            "tools": format_tools(runs),
            "rerun": rerun_line(verdict),
        }

    def _sections(self, values: Mapping[str, Any]) -> dict[str, str]:
        placed = self._text is not None and self._text.places_network
        found = {
            "figures": "Figures" if values["charts"] or values["undrawn"] else "",
            "parameters": "Parameters" if values["parameters"] else "",
            "network": "Network" if self._networks and not placed else "",
            "claims": "Claims" if values["claims"] else "",
            **{group.anchor: group.heading for group in values["figure_groups"]},
            "cases": "All cases",
            "runs": "What was run",
            "again": "How to reproduce the runs",
        }
        return {anchor: heading for anchor, heading in found.items() if heading}


def _parameters(verdict: Verdict) -> list[_Parameter]:
    grid = verdict.study.grid
    if grid is None:
        return []
    return [_Parameter(name=one.name, values=one.values) for one in grid.parameters]


def _combinations(verdict: Verdict) -> str:
    study = verdict.study
    if study.grid is None:
        return ""
    cases, run = len(study.cases), len(verdict.runs)
    words = f"{study.grid.product:,} combinations"
    if cases < study.grid.product:
        words += f", of which the study's conditions leave {cases:,}"
    if run < cases:
        words += f"; {run:,} of them were run"
    return f"{words}."


def _table_notes(verdict: Verdict, table: CaseTable) -> list[str]:
    notes = []
    if verdict.many_seeds:
        notes.append("Numbers are medians over the seeds.")
    notes.append("MB are 1,048,576 bytes.")
    if table.left_out:
        notes.append(f"{table.left_out:,} more metrics of each case are in the runs only.")
    if table.rows > MAX_PLAIN:
        notes.append("`longfat plot RUN` draws a single case over time.")
    return notes


def _kernels(verdict: Verdict) -> list[_Kernel]:
    runs = verdict.first_runs.values()
    count = Counter((run.kernel["release"], run.kernel["digest"][:12]) for run in runs)
    return [
        _Kernel(release=release, digest=digest, cases=cases)
        for (release, digest), cases in sorted(count.items())
    ]


def _digest(verdict: Verdict) -> str:
    """Return one digest over those of all runs, by the cases' names and seeds."""
    found = hashlib.sha256()
    for name, runs in sorted(verdict.runs.items()):
        for run in runs:
            found.update(f"{name}\0{run.seed}\0{run.digest}\n".encode())
    return found.hexdigest()
