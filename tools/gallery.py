"""The gallery: each kind of figure once, with the study that made it.

The figures are those of the report, made from cached results; what is not cached is run.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from longfat.analysis.verdict import Verdict, evaluate
from longfat.execution import run_cases
from longfat.execution.cache import ResultCache
from longfat.output.drawing import network_picture, picture_bytes, words_of
from longfat.output.plot import draw_chart, figure_style, saved
from longfat.output.report.figures import figure_groups, visible_groups
from longfat.output.report.grid_charts import charts_of
from longfat.study import Study, read_study
from longfat.study.choose import choose_cases

_WIDTH_IN = 8.0
_NETWORK = "network"
_HEAD = """\
# Gallery

Each kind of figure that longfat draws, with the study that made it and the command to make it
again. Reports have them in a form that can be zoomed; [`longfat plot`](plots.md) draws those over
time of any run, and [figures of a grid](study-format.md#figures) stand in the study.
"""
_WITHOUT = """
(This site was built without results; `make docs RESULTS=yes` runs the studies and draws the
figures.)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A figure of the gallery.

    Attributes:
        title: its heading.
        words: what it shows.
        study: the folder of its study, from the top of the repository.
        figure: which figure it is: `network`, the anchor of a group of the report's, such as
            `traffic`, or the title of a figure of the study's own.
        cases: the cases that are drawn, or patterns; all, if empty.
        kernel: the kernel that they are run on; the study's own, if empty.
    """

    title: str
    words: str
    study: str
    figure: str
    cases: tuple[str, ...] = ()
    kernel: str = ""

    @property
    def name(self) -> str:
        """What its file is called."""
        return re.sub(r"\W+", "-", self.title.lower()).strip("-")

    @property
    def command(self) -> str:
        """The command that makes it."""
        cases = "".join(f" --case '{case}'" for case in self.cases)
        kernel = f" --kernel {self.kernel}" if self.kernel else ""
        return f"longfat run {self.study}{cases}{kernel}"


ENTRIES = (
    Entry(
        title="A network",
        words="Hosts, switches, and what their links do; interfaces that set-up lines name stand "
        "out. A drawing needs no run.",
        study="labs/lab20",
        figure=_NETWORK,
    ),
    Entry(
        title="Traffic over time",
        words="Throughput, round-trip time, congestion window, queue and retransmissions of all "
        "cases over each other.",
        study="labs/lab16",
        figure="traffic",
        cases=("drop-tail", "red"),
    ),
    Entry(
        title="Queue against congestion window",
        words="The phase plot of a flow: what a window costs in queue, with time as colour.",
        study="labs/lab16",
        figure="phase",
        cases=("red",),
    ),
    Entry(
        title="Each ping",
        words="The round-trip time of each request at its time, lost ones as crosses.",
        study="labs/lab16",
        figure="pings",
        cases=("drop-tail", "red"),
    ),
    Entry(
        title="Completion times of requests",
        words="How long responses take, by their size.",
        study="examples/short-flows",
        figure="completion",
    ),
    Entry(
        title="Distributions",
        words="How often a round-trip time is at most so much, beside what theory says.",
        study="labs/lab03",
        figure="The RTTs that a jitter makes",
    ),
    Entry(
        title="A metric over a parameter",
        words="Lines over one parameter of a grid, a facet for another, with curves of formulas.",
        study="studies/loss",
        figure="Goodput over loss",
        cases=("reno-17_3ms-*", "cubic-17_3ms-*", "bbr-17_3ms-*"),
        kernel="7.2",
    ),
    Entry(
        title="A metric over two parameters",
        words="A heat map: the colour is the metric.",
        study="studies/loss",
        figure="Share of the rate",
        cases=("bbr-1ms-*", "bbr-17_3ms-*"),
        kernel="7.2",
    ),
    Entry(
        title="A metric against another",
        words="A point for each case: what a queue discipline gives and what it costs.",
        study="studies/aqm",
        figure="Delay against goodput",
        cases=("*-10mbit-20ms-flows1",),
        kernel="7.2",
    ),
)
"""All of them, each kind of figure once."""


def write_gallery(folder: Path, *, top: Path, runs: bool) -> None:
    """Write the page of the gallery, and its figures.

    Args:
        folder: the source of the site.
        top: the repository.
        runs: draw the figures that need results; else only those that need none.
    """
    images = folder / "gallery-figures"
    images.mkdir()
    parts = [_HEAD if runs else _HEAD + _WITHOUT]
    for entry in ENTRIES:
        study = read_study(top / entry.study)
        svg = figure_of(entry, study) if runs or entry.figure == _NETWORK else b""
        parts.append(f"\n## {entry.title}\n\n{entry.words}\n")
        if svg:
            (images / f"{entry.name}.svg").write_bytes(svg)
            parts.append(f"\n![{entry.title}: {entry.words}](gallery-figures/{entry.name}.svg)\n")
        parts.append(f"\n```sh\n{entry.command}\n```\n")
        text = (top / entry.study / "study.yaml").read_text(encoding="utf-8").rstrip("\n")
        parts.append(
            f"\n<details><summary>{entry.study}/study.yaml: {study.title}</summary>\n\n"
            f"```yaml\n{text}\n```\n\n</details>\n"
        )
    (folder / "gallery.md").write_text("".join(parts), encoding="utf-8")


def figure_of(entry: Entry, study: Study) -> bytes:
    """Return a figure as SVG; what its study has not been run for is run.

    Raises:
        LookupError: the study has no such figure.
        LongfatError: a case failed.
    """
    if entry.figure == _NETWORK:
        case = next(iter(study.cases.values())).case
        words = words_of(command.line for command in case.setup)
        return picture_bytes(network_picture(case.network, shaped=words), "svg")
    chosen = choose_cases(
        study, names=entry.cases, seed=None, seeds=None, kernel=entry.kernel or None
    )
    with tempfile.TemporaryDirectory(prefix="longfat-gallery-") as out:
        runs = run_cases(chosen, out=Path(out), study=study.name, cache=ResultCache())
        for name, svg in _figures(evaluate(study, runs)):
            if name == entry.figure:
                return svg
    raise LookupError(f"{entry.study} has no figure {entry.figure!r}")


def _figures(verdict: Verdict) -> Iterator[tuple[str, bytes]]:
    with figure_style():
        for group in visible_groups(figure_groups(verdict), zoomable=False):
            draw = group.figures[0].draw
            assert draw is not None
            yield group.anchor, saved(draw(_WIDTH_IN, ""), "svg")
        for chart in charts_of(verdict):
            yield chart.title, saved(draw_chart(chart, title="", width_in=_WIDTH_IN), "svg")
