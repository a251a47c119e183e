"""The page of fidelity: the published figures beside ours as Markdown tables.

It is made from runs alone, has no dates and no paths, and so is the same bytes
for the same runs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longfat import __version__
from longfat.execution.runs import format_tools
from longfat.model.units import format_quantity
from longfat.output.report.fidelity import Agreement, FigureFidelity, StudyFidelity
from longfat.output.report.values import BAND, MISSING, band_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.analysis.verdict import Verdict


def fidelity_markdown(studies: Sequence[StudyFidelity]) -> str:
    """Return the page: how it was made, and a section for each study.

    It has no dates and no paths: the same runs give the same bytes anywhere.

    Args:
        studies: the studies with their runs, in the order to show them.
    """
    names = [one.verdict.study.name for one in studies]
    all_runs = [run for one in studies for runs in one.verdict.runs.values() for run in runs]
    kernels = sorted({run.kernel["release"] for run in all_runs})
    tools = format_tools(all_runs)
    lines = [
        "# Fidelity: what was published beside what longfat measures",
        "",
        "Made by these commands; do not edit it by hand:",
        "",
        "```sh",
        *(_run_command(one.verdict) for one in studies),
        f"longfat fidelity {' '.join(f'runs/{name}' for name in names)} --out docs/fidelity.md",
        "```",
        "",
        f"longfat {__version__}, Linux {', '.join(kernels)}. Tools: {'; '.join(tools)}.",
        "",
        f"*Ours* is the median over the seeds, *{BAND}* the band of their runs in the median's "
        "unit, *ratio* ours / published. A figure is *within 15 %* of the published one, or the "
        "published one lies *inside the band*, or a note explains what differs; what is neither "
        "is marked **off**. MB are 1,048,576 bytes.",
    ]
    for one in studies:
        lines += _section(one)
    return "\n".join(lines) + "\n"


def _run_command(verdict: Verdict) -> str:
    """Return the command that gave the runs of a study."""
    cases = verdict.study.cases
    words = ["longfat", "run", verdict.study.name]
    if verdict.runs.keys() != cases.keys():
        words += [word for name in verdict.runs for word in ("--case", name)]
    counts = {len(runs) for runs in verdict.runs.values()}
    if any(len(runs) != cases[name].seeds for name, runs in verdict.runs.items()):
        words += ["--seeds", str(*counts)] if len(counts) == 1 else []
    firsts = {runs[0].seed for runs in verdict.runs.values()}
    if any(runs[0].seed != cases[name].case.seed for name, runs in verdict.runs.items()):
        words += ["--seed", str(*firsts)] if len(firsts) == 1 else []
    kernels = {run.case.kernel for runs in verdict.runs.values() for run in runs}
    if any(run.case.kernel != cases[name].case.kernel for name, run in verdict.first_runs.items()):
        words += ["--kernel", *kernels] if len(kernels) == 1 else []
    return " ".join(words)


def _section(one: StudyFidelity) -> list[str]:
    study = one.verdict.study
    source = study.published.source if study.published is not None else ""
    lines = ["", f"## {study.name}: {_plain(study.title)}", ""]
    lines += [f"Published: {_plain(source)}. {one.summary}.", ""]
    notes: dict[str, int] = {}
    lines += _table([figure for figure in one.figures if not figure.other], notes)
    if others := [figure for figure in one.figures if figure.other]:
        lines += ["", "Other figures:", "", *_table(others, notes)]
    if notes:
        lines += ["", "Notes:", ""]
        lines += [f"{number}. {_plain(text)}" for text, number in notes.items()]
    return lines


def _table(figures: Sequence[FigureFidelity], notes: dict[str, int]) -> list[str]:
    if not figures:
        return []
    with_band = any(f.comparison.inside_band is not None for f in figures)
    heads = ["case", "metric", "published", "ours", *([BAND] if with_band else [])]
    heads += ["seeds", "ratio", "verdict"]
    numbers = range(2, len(heads) - 1)
    rules = ["---:" if index in numbers else "---" for index in range(len(heads))]
    rows = [_row(figure, with_band=with_band, notes=notes) for figure in figures]
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
        _plain(published.title),
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
    return f"{words}, note {notes.setdefault(text, len(notes) + 1)}"


def _plain(text: str) -> str:
    """Return a study's words so that Markdown takes them for words."""
    return re.sub(r"([\\`*_\[\]#|])", r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))
