"""The page of published experiments: each with its source, its figures beside ours and its claims.

Like the page of fidelity it is made from runs alone, has no dates and no paths, and so
is the same bytes for the same runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat import __version__
from longfat.execution.runs import format_tools
from longfat.output.report.fidelity import Agreement, StudyFidelity
from longfat.output.report.fidelity_page import figure_tables, plain_markdown
from longfat.output.report.values import BAND, claim_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

_HEADS = ("experiment", "published", "figures", *(one.value for one in Agreement), "claims")


def reproduced_markdown(studies: Sequence[StudyFidelity], *, others: Sequence[str]) -> str:
    """Return the page: a table of all experiments, and a section for each.

    Args:
        studies: the experiments with their runs, in the order to show them.
        others: the names of the experiments that were not run.
    """
    runs = [run for one in studies for of_case in one.verdict.runs.values() for run in of_case]
    kernels = sorted({run.kernel["release"] for run in runs})
    names = " ".join(one.verdict.study.name for one in studies) if others else "--all"
    virtual_s = sum(run.virtual_s for run in runs)
    lines = [
        "# Published experiments reproduced",
        "",
        "Made by this command; do not edit it by hand:",
        "",
        "```sh",
        f"longfat reproduce {names} --out docs/reproduced.md",
        "```",
        "",
        f"longfat {__version__}, Linux {', '.join(kernels)}; {len(runs)} runs, "
        f"{virtual_s:,.0f} s of virtual time. Tools: {'; '.join(format_tools(runs))}.",
        "",
        f"*Ours* is the median over the seeds, *{BAND}* the band of their runs in the median's "
        "unit, *ratio* ours / published. A figure is *within 15 %* of the published one, or the "
        "published one lies *inside the band*, or a note says why it differs, as far as that is "
        "known; what is neither is **off**. MB are 1,048,576 bytes.",
        "",
        f"| {' | '.join(_HEADS)} |",
        f"| --- | --- | {' | '.join('---:' for _ in _HEADS[2:])} |",
        *(_overview_row(one) for one in studies),
    ]
    if others:
        lines += ["", f"Not run for this page: {', '.join(others)}."]
    for one in studies:
        lines += _section(one)
    return "\n".join(lines) + "\n"


def _overview_row(one: StudyFidelity) -> str:
    study, claims = one.verdict.study, one.verdict.claims
    published = study.published
    assert published is not None
    holding = sum(judged.holds is True for judged in claims)
    cells = [
        f"[{study.name}](#{study.name})",
        plain_markdown(published.citation),
        str(len(one.figures)),
        *(_count(one, agreement) for agreement in Agreement),
        f"{holding} of {len(claims)}" if claims else "",
    ]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _count(one: StudyFidelity, agreement: Agreement) -> str:
    """Return how many figures stand so, and of how many explained ones the reason is not known."""
    count = one.counts[agreement]
    if agreement is not Agreement.EXPLAINED or not count:
        return str(count or "")
    unknown = sum(figure.reason_is_unknown for figure in one.figures)
    return f"{count} ({unknown} not known)" if unknown else str(count)


def _section(one: StudyFidelity) -> list[str]:
    study = one.verdict.study
    published = study.published
    assert published is not None
    link = f"[study and text](../studies/reproduced/{study.name})"
    lines = ["", f"## {study.name}", "", f"{plain_markdown(study.title)}. {link}.", ""]
    source = f"Published: {plain_markdown(published.citation)}."
    if published.address:
        source += f" <{published.address}>."
    if published.place:
        source += f" {plain_markdown(published.place)}"
    lines += [source, "", f"{one.summary}.", "", *figure_tables(one)]
    if rows := claim_rows(one.verdict):
        lines += ["", "Claims:", ""]
        lines += [f"- {row.verdict}: {plain_markdown(row.text)}" for row in rows]
    return lines
