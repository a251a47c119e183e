"""The page of fidelity: the published figures beside ours as Markdown tables.

It is made from runs alone, has no dates and no paths, and so is the same bytes
for the same runs.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from longfat import __version__
from longfat.execution.runs import format_tools
from longfat.model.units import format_quantity
from longfat.output.report.fidelity import (
    NOT_KNOWN,
    Agreement,
    FigureFidelity,
    StudyFidelity,
    side_by_side,
)
from longfat.output.report.values import BAND, MISSING, band_text
from longfat.study.timing import format_testbed

if TYPE_CHECKING:
    from collections.abc import Container, Sequence


def fidelity_markdown(studies: Sequence[StudyFidelity]) -> str:
    """Return the page: how it was made, and a section for each study.

    It has no dates and no paths: the same runs give the same bytes anywhere.

    Args:
        studies: the studies with their runs, in the order to show them.
    """
    all_runs = [run for one in studies for runs in one.verdict.runs.values() for run in runs]
    kernels = sorted({run.kernel["release"] for run in all_runs})
    tools = format_tools(all_runs)
    lines = [
        "# Fidelity: what was published beside what longfat measures",
        "",
        "Made by these commands; do not edit it by hand:",
        "",
        "```sh",
        *(line for one in studies for line in _run_commands(one)),
        f"longfat fidelity {' '.join(_folder(one) for one in studies)} --out docs/fidelity.md",
        "```",
        "",
        f"longfat {__version__}, Linux {', '.join(kernels)}. Tools: {'; '.join(tools)}.",
        "",
        f"*Ours* is the median over the seeds, *{BAND}* the band of their runs in the median's "
        "unit, *ratio* ours / published. A figure is *within 15 %* of the published one, or the "
        "published one lies *inside the band*, or a note explains what differs; what is neither "
        "is marked **off**. MB are 1,048,576 bytes.",
    ]
    for main, *others in side_by_side(studies):
        lines += _section(main)
        if others:
            lines += _settings(main, others)
    return "\n".join(lines) + "\n"


def _folder(one: StudyFidelity) -> str:
    """Return the folder of a study's runs, one below it if they are not of its own setting."""
    name, setting = one.verdict.study.name, re.sub(r"[^A-Za-z0-9.]+", "-", one.setting.name)
    return f"runs/{setting}/{name}" if setting else f"runs/{name}"


def _run_commands(one: StudyFidelity) -> list[str]:
    """Return the commands that gave the runs of a study: one for each group of options."""
    verdict = one.verdict
    cases = verdict.study.cases
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, runs in verdict.runs.items():
        planned, case = cases[name], runs[0].case
        options: list[str] = []
        if len(runs) != planned.seeds:
            options += ["--seeds", str(len(runs))]
        if case.seed != planned.case.seed:
            options += ["--seed", str(case.seed)]
        groups.setdefault(tuple(options), []).append(name)
    place: list[str] = []
    if one.setting.kernel is not None:
        place += ["--kernel", one.setting.kernel]
    if one.setting.testbed is not None:
        place += ["--testbed", shlex.quote(format_testbed(one.setting.testbed))]
    if one.setting.name:
        place += ["--out", _folder(one)]
    lines = []
    for shared, names in groups.items():
        chosen = [word for name in names for word in ("--case", name)]
        words = [*(chosen if len(names) < len(cases) else ()), *shared, *place]
        lines.append(" ".join(("longfat", "run", verdict.study.name, *words)))
    return lines


def _section(one: StudyFidelity) -> list[str]:
    study = one.verdict.study
    source = study.published.source if study.published is not None else ""
    lines = ["", f"## {study.name}: {plain_markdown(study.title)}", ""]
    lines += [f"Published: {plain_markdown(source)}. {one.summary}.", ""]
    return lines + figure_tables(one)


def figure_tables(one: StudyFidelity) -> list[str]:
    """Return the tables of a study's figures, and the notes that explain some, as Markdown."""
    lines: list[str] = []
    notes: dict[str, int] = {}
    lines += _table([figure for figure in one.figures if not figure.other], notes)
    if others := [figure for figure in one.figures if figure.other]:
        lines += ["", "Other figures:", "", *_table(others, notes)]
    if notes:
        lines += ["", "Notes:", ""]
        lines += [f"{number}. {plain_markdown(text)}" for text, number in notes.items()]
    return lines


def _settings(main: StudyFidelity, others: Sequence[StudyFidelity]) -> list[str]:
    """Return a table of a study's figures on other kernels and testbeds, a column for each."""
    columns = [main, *others]
    heads = ["case", "metric", "published", "above", *(one.setting.name for one in others)]
    rows = []
    for figures in zip(*(one.figures for one in columns), strict=True):
        published = figures[0].comparison.figure
        values = [published.value, *(figure.comparison.measured for figure in figures)]
        shown = [
            MISSING if value is None else format_quantity(value, published.unit) for value in values
        ]
        rows.append([published.case, plain_markdown(published.title), *shown])
    lines = [
        "",
        f"### {main.verdict.study.name} on other kernels and testbeds",
        "",
        "On a testbed one computer runs all hosts and switches, and serves timers late or takes "
        "time for its work ([`testbed`](study-format.md#network)); elsewhere hosts are infinitely "
        "fast. Medians, where there are several seeds.",
        "",
    ]
    return lines + _markdown(heads, rows, numbers=range(2, len(heads)))


def _table(figures: Sequence[FigureFidelity], notes: dict[str, int]) -> list[str]:
    if not figures:
        return []
    with_band = any(f.comparison.inside_band is not None for f in figures)
    heads = ["case", "metric", "published", "ours", *([BAND] if with_band else [])]
    heads += ["seeds", "ratio", "verdict"]
    rows = [_row(figure, with_band=with_band, notes=notes) for figure in figures]
    return _markdown(heads, rows, numbers=range(2, len(heads) - 1))


def _markdown(
    heads: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Container[int]
) -> list[str]:
    """Return the lines of a table, of whose columns some hold numbers."""
    rules = ["---:" if index in numbers else "---" for index in range(len(heads))]
    return [f"| {' | '.join(cells)} |" for cells in (heads, rules, *rows)]


def _row(figure: FigureFidelity, *, with_band: bool, notes: dict[str, int]) -> list[str]:
    published, spread = figure.comparison.figure, figure.comparison.spread
    ours, ratio = MISSING, MISSING
    if spread is not None:
        ours = format_quantity(spread.median, published.unit)
        ratio = "equal" if spread.median == published.value else MISSING
    if figure.comparison.ratio is not None:
        ratio = f"{figure.comparison.ratio:.2f}"
    cells = [
        published.case,
        plain_markdown(published.title),
        format_quantity(published.value, published.unit),
        ours,
        *([band_text(spread, published.unit)] if with_band else []),
        str(0 if spread is None else spread.count),
        ratio,
        _verdict(figure, notes),
    ]
    return [cell.replace("|", "\\|") for cell in cells]


def _verdict(figure: FigureFidelity, notes: dict[str, int]) -> str:
    words = figure.standing.value if figure.standing.good else f"**{figure.standing.value}**"
    text = figure.comparison.figure.explanation
    if text is None or figure.standing is Agreement.WITHIN:
        return words
    if figure.reason_is_unknown:
        words = NOT_KNOWN.lower()
    return f"{words}, note {notes.setdefault(text, len(notes) + 1)}"


def plain_markdown(text: str) -> str:
    """Return a study's words so that Markdown takes them for words."""
    return re.sub(r"([\\`*_\[\]#|])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))
