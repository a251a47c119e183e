"""Parts that all pages of a report have: templates, captions, networks, the command to rerun."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from longfat.output.drawing import MAX_NODES, draw_network, words_of
from longfat.output.plot import ChartKind
from longfat.output.plot.charts import readable
from longfat.study import STUDY_FILE
from longfat.study.labs import all_labs

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.analysis.verdict import Verdict
    from longfat.model.network import Network
    from longfat.output.plot import Chart


def environment() -> Environment:
    """Return the templates' environment, which escapes all text of a study."""
    return Environment(
        loader=PackageLoader("longfat.output.report", package_path=""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


_KINDS = {
    ChartKind.LINES: "{y} over {x}",
    ChartKind.POINTS: "{y} against {x}",
    ChartKind.CDF: "the distribution of {x}",
    ChartKind.HEAT: "{c} over {x} and {y}",
    ChartKind.BARS: "bars of the cases",
    ChartKind.TIME: "{y} over time",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """The texts around a chart.

    Attributes:
        key: its name, unique in the page.
        title: its heading.
        words: what it shows, for screen readers.
        note: what a reader needs in order to interpret it.
        zoomable: whether the page has a zoomable form of it.
    """

    key: str
    title: str
    words: str
    note: str
    zoomable: bool


def chart_key(chart: Chart) -> str:
    """Return the name of a chart in a page; figures over time have names of their own."""
    return f"chart-{chart.name}"


def caption(chart: Chart) -> Caption:
    """Return the texts around a chart."""
    title = chart.title or chart.name
    colour = chart.colour.label if chart.colour is not None else "a metric"
    words = _KINDS[chart.kind].format(x=chart.x.label, y=chart.y.label, c=colour)
    by = f", by {chart.by}" if chart.by else ""
    parts = f", in {len(chart.facets)} parts" if len(chart.facets) > 1 else ""
    return Caption(
        key=chart_key(chart),
        title=title,
        words=f"{title}: {words}{by}{parts}.",
        note=readable(chart)[1],
        zoomable=chart.zoomable,
    )


def undrawn_figures(verdict: Verdict, charts: Sequence[Chart]) -> list[str]:
    """Return the titles of the study's figures that have nothing to show.

    Args:
        verdict: the study with its runs.
        charts: the charts that were made of its figures.
    """
    drawn = {chart.name for chart in charts}
    return [spec.title for spec in verdict.study.figures if spec.name not in drawn]


_MAX_NAMED = 40  # cases; of more, all of the study are run again


def rerun_line(verdict: Verdict) -> str:
    """Return the command that reproduces the runs."""
    study = verdict.study
    words = ["longfat", "run", _argument(study.file)]
    if len(verdict.runs) < len(study.cases) and len(verdict.runs) <= _MAX_NAMED:
        words += [word for name in verdict.runs for word in ("--case", name)]
    # Options of the command line that override those of the study.
    seeds = {
        run.seed
        for name, run in verdict.first_runs.items()
        if run.seed != study.cases[name].case.seed
    }
    if len(seeds) == 1:
        words += ["--seed", str(*seeds)]
    counts = {
        len(runs) for name, runs in verdict.runs.items() if len(runs) != study.cases[name].seeds
    }
    if len(counts) == 1:
        words += ["--seeds", str(*counts)]
    versions = {
        run.case.kernel
        for name, run in verdict.first_runs.items()
        if run.case.kernel != study.cases[name].case.kernel
    }
    if len(versions) == 1:
        words += ["--kernel", *versions]
    return shlex.join(words)


def _argument(file: Path) -> str:
    """Return what `longfat run` takes for a study: the name of a lab, which all readers have."""
    if file.name != STUDY_FILE:
        return str(file)
    folder = file.parent
    names = (lab.name for lab in all_labs() if lab.folder.resolve() == folder.resolve())
    return next(names, str(folder))


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnNetwork:
    """A network, and the cases that have it.

    Attributes:
        network: the network.
        cases: the cases' names.
        words: its size, as text.
        shaped: words of set-up lines, the interfaces that they name among them.
    """

    network: Network
    cases: tuple[str, ...]
    words: str
    shaped: frozenset[str]

    def svg(self, *, paper: bool) -> Markup | None:
        """Return its drawing; None where it would be too large."""
        if len(self.network.hosts) + len(self.network.switches) > MAX_NODES:
            return None
        return draw_network(self.network, shaped=self.shaped, with_style=paper)


def drawn_networks(verdict: Verdict) -> list[DrawnNetwork]:
    """Return the networks of the cases that were run, or of all where none was."""
    found: dict[Network, list[str]] = {}
    for name in verdict.runs or verdict.study.cases:
        found.setdefault(verdict.study.cases[name].case.network, []).append(name)
    drawn = []
    for network, cases in found.items():
        lines = [c.line for name in cases for c in verdict.study.cases[name].case.setup]
        drawn.append(
            DrawnNetwork(
                network=network,
                cases=tuple(cases),
                words=(
                    f"{len(network.hosts)} hosts, {len(network.switches)} switches, "
                    f"{len(network.links)} links; {network.packet_words}"
                ),
                shaped=words_of(lines),
            )
        )
    return drawn


def networks_html(networks: Sequence[DrawnNetwork], *, paper: bool) -> Markup:
    """Return the drawings of networks as a part of a page."""
    template = environment().get_template("network.html.j2")
    return Markup(template.render(networks=networks, paper=paper))
