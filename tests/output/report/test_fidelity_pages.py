"""The page of published experiments, from real runs of five seeds."""

from __future__ import annotations

import dataclasses

from longfat.output.report.fidelity import NOT_KNOWN, study_fidelity
from longfat.output.report.fidelity_pages import reproduced_markdown
from longfat.study import Study, read_study
from tests.paths import TESTS

SEEDED = TESTS / "data" / "runs" / "seeded"


def with_source(study: Study) -> Study:
    """Return the study with a full source, and with one of its two reasons not known."""
    published = study.published
    assert published is not None
    first, *_ = [figure for figure in published.figures if figure.explanation]
    figures = tuple(
        dataclasses.replace(figure, explanation=f"{NOT_KNOWN}.") if figure is first else figure
        for figure in published.figures
    )
    full = dataclasses.replace(
        published,
        figures=figures,
        authors="A. Author",
        year=1988,
        address="https://example.org/x",
        place="Table 1.",
    )
    return dataclasses.replace(study, published=full)


def test_the_page() -> None:
    study = with_source(read_study(SEEDED))
    assert study.published is not None
    found = study_fidelity(study, SEEDED)
    page = reproduced_markdown([found], known=["seeded", "ten-flows"])
    (row,) = [line for line in page.splitlines() if line.startswith("| [seeded](#seeded)")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1] == f"A. Author, {study.published.source}, 1988"
    assert cells[2:8] == ["8", "", "4", "1", "2 (1 not known)", "1"]
    assert page.count(" not known, note ") == 1
    assert "\nPublished: A. Author, " in page
    assert "<https://example.org/x>. Table 1." in page
    assert "\nNot run for this page: ten-flows.\n" in page
    assert "longfat reproduce --all --out docs/reproduced.md" in page
    assert "\nMeasured with longfat " in page
    assert "Not run for this page" not in reproduced_markdown([found], known=["seeded"])
    assert page.count("**off**") == 2  # in the legend, and of the figure that is off


def test_sections_of_experiments_that_were_not_run_are_kept() -> None:
    found = study_fidelity(with_source(read_study(SEEDED)), SEEDED)
    page = reproduced_markdown([found], known=["seeded"])
    known = ["earlier", "seeded", "later"]
    older = page.replace("seeded", "earlier").replace("0.44", "0.45")
    both = reproduced_markdown([found], known=known, older=older)
    assert [line for line in both.splitlines() if line.startswith("## ")] == [
        "## earlier",
        "## seeded",
    ]
    assert both.index("| [earlier](#earlier) |") < both.index("| [seeded](#seeded) |")
    assert both.count("0.45") == 1
    assert "\nNot run for this page: later.\n" in both
    assert reproduced_markdown([found], known=known, older=both) == both
    assert reproduced_markdown([], known=["earlier"], older=both) == older
    assert reproduced_markdown([found], known=["seeded"], older=both) == page
