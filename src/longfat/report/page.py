"""The page: one HTML file with everything in it, for a browser of any width.

The text comes from `page.html.j2`, its looks from `page.css`; both go into
the file. Jinja2 escapes whatever a study says. Figures are inline SVG whose
colours are turned into variables, so that they follow the colour scheme.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from longfat import __version__
from longfat.report.drawing import MOST_NODES, draw_network
from longfat.report.iperf3_tables import COLUMNS, Iperf3Tables, iperf3_tables
from longfat.report.style import DARK
from longfat.report.values import (
    claim_rows,
    claims_summary,
    comparison_groups,
    metric_grid,
    run_summary,
)
from longfat.report.windows import flow_windows, window_grid, window_notes
from longfat.study.read import STUDY_FILE
from longfat.traffic import Iperf3

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.network import Network
    from longfat.runs import Run
    from longfat.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedFigure:
    """A figure in the page.

    Attributes:
        heading: what stands above it.
        words: what it shows, to a person who cannot see it.
        wide_svg: the figure for a wide window, as matplotlib saves it.
        narrow_svg: the same for a narrow one.
    """

    heading: str
    words: str
    wide_svg: str
    narrow_svg: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """A network, and the cases that have it; the drawing is None where it would be too large."""

    cases: tuple[str, ...]
    words: str
    svg: Markup | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test:
    """An iperf3 flow of a case with its tables."""

    case: str
    flow: str
    ends: str
    tables: Iperf3Tables


@dataclass(frozen=True, slots=True, kw_only=True)
class _Commands:
    """What a case did."""

    case: str
    digest: str
    script: str


def render_page(verdict: Verdict, *, figures: Sequence[EmbeddedFigure]) -> str:
    """Return the page.

    Args:
        verdict: the study with its runs.
        figures: the figures to show.

    Raises:
        MachineError: a report of iperf3 cannot be read.
    """
    environment = Environment(
        loader=PackageLoader("longfat.report", package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    study = verdict.study
    windows, omissions = flow_windows(verdict)
    tools = {f"{name}: {text}" for run in verdict.runs.values() for name, text in run.tools.items()}
    return environment.get_template("page.html.j2").render(
        version=__version__,
        verdict=verdict,
        study=study,
        summary=run_summary(verdict),
        colours=DARK,
        variable=_variable,
        networks=_networks(verdict),
        tools=sorted(tools),
        titled=any(study.cases[name].title != name for name in verdict.runs),
        groups=comparison_groups(verdict),
        metrics=metric_grid(verdict),
        claims=claim_rows(verdict),
        claims_summary=claims_summary(verdict),
        figures=[
            (
                figure,
                _inline(figure.wide_svg, figure.words, prefix=f"wide{number}"),
                _inline(figure.narrow_svg, figure.words, prefix=f"narrow{number}"),
            )
            for number, figure in enumerate(figures)
        ],
        windows=window_grid(windows) if windows else None,
        window_notes=window_notes(windows, omissions),
        iperf3_columns=COLUMNS,
        tests=_tests(verdict),
        commands=_commands(verdict),
        rerun=rerun_line(verdict),
    )


def rerun_line(verdict: Verdict) -> str:
    """Return the command that gives the same runs again."""
    study = verdict.study
    file = study.file.parent if study.file.name == STUDY_FILE else study.file
    words = ["longfat", "run", str(file)]
    if len(verdict.runs) < len(study.cases):
        words += [word for name in verdict.runs for word in ("--case", name)]
    # What the command line put in place of the study's own.
    seeds = {
        run.seed for name, run in verdict.runs.items() if run.seed != _planned_seed(verdict, name)
    }
    if len(seeds) == 1:
        words += ["--seed", str(*seeds)]
    versions = {
        str(run.case["kernel"])
        for name, run in verdict.runs.items()
        if run.case["kernel"] != study.cases[name].case.kernel
    }
    if len(versions) == 1:
        words += ["--kernel", *versions]
    return shlex.join(words)


def _planned_seed(verdict: Verdict, name: str) -> int:
    return verdict.study.cases[name].case.seed


def _networks(verdict: Verdict) -> list[_Drawn]:
    found: dict[Network, list[str]] = {}
    for name in verdict.runs:
        found.setdefault(verdict.study.cases[name].case.network, []).append(name)
    drawn = []
    for network, cases in found.items():
        lines = [c.line for name in cases for c in verdict.study.cases[name].case.setup]
        words = {word for line in lines for word in re.split(r"[^\w-]+", line)}
        small = len(network.hosts) + len(network.switches) <= MOST_NODES
        drawn.append(
            _Drawn(
                cases=tuple(cases),
                words=(
                    f"{len(network.hosts)} hosts, {len(network.switches)} switches, "
                    f"{len(network.links)} links"
                ),
                svg=draw_network(network, shaped=words) if small else None,
            )
        )
    return drawn


def _tests(verdict: Verdict) -> list[_Test]:
    return [
        _Test(
            case=name,
            flow=flow.name,
            ends=f"{flow.source} to {flow.target}" + (", reversed" if flow.reverse else ""),
            tables=iperf3_tables(flow.report(run.raw)),
        )
        for name, run in verdict.runs.items()
        for flow in verdict.study.cases[name].case.flows
        if isinstance(flow, Iperf3)
    ]


def _commands(verdict: Verdict) -> list[_Commands]:
    return [
        _Commands(case=name, digest=run.digest, script=_script(run))
        for name, run in verdict.runs.items()
    ]


def _script(run: Run) -> str:
    try:
        return (run.folder / "commands.sh").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _variable(colour: str) -> str:
    return f"--ink-{colour.removeprefix('#')}"


def _inline(svg: str, words: str, *, prefix: str) -> Markup:
    """Return an SVG file as an element of a page.

    Args:
        svg: the file's text.
        words: what it shows, to a person who cannot see it.
        prefix: what keeps its identifiers apart from other figures'.
    """
    _, start, rest = svg.partition("<svg ")
    rest = re.sub(r'( id="| xlink:href="#|url\(#)', rf"\g<1>{prefix}-", rest)
    for colour in DARK:
        rest = rest.replace(colour, f"var({_variable(colour)})")
    label = Markup('role="img" aria-label="{}" ').format(words)
    # All of it is matplotlib's own output, which escapes a study's names.
    return Markup(start) + label + Markup(rest)
