"""What is different on paper: blocks of tables, and commands beside each other."""

from __future__ import annotations

import dataclasses

from markupsafe import Markup

from longfat.analysis.verdict import Verdict, evaluate
from longfat.output.report.page import Page
from longfat.output.report.paper import paper_blocks, side_by_side
from longfat.output.report.text import page_text
from longfat.output.report.values import MISSING, Grid, Row, metric_grid


def test_columns_that_do_not_fit_are_in_another_block() -> None:
    """A table that is wider than the page would be cut off at its edge."""
    label = "queue backlog in packets, 50th percentile, sum of 2 interfaces"
    heads = tuple(f"a-case-of-a-long-name-{number}" for number in range(6))
    blocks = paper_blocks(Grid(heads, (Row(label, ("1.00 Gbit/s",) * 6),)))
    assert [block.columns for block in blocks] == [heads[:2], heads[2:4], heads[4:]]
    assert all(block.rows[0].cells == ("1.00 Gbit/s",) * 2 for block in blocks)


def test_short_columns_fill_a_block() -> None:
    heads = tuple("abcdefgh")
    first, second = paper_blocks(Grid(heads, (Row("rate", ("1",) * 8),)))
    assert (first.columns, second.columns) == (heads[:6], heads[6:])


def test_columns_with_other_rows_are_in_a_block_of_their_own() -> None:
    rows = (
        Row("rate", ("1", MISSING, "2", MISSING)),
        Row("loss", (MISSING, "3 %", MISSING, "4 %")),
        Row("nothing", (MISSING,) * 4),
    )
    rates, losses = paper_blocks(Grid(("a", "b", "c", "d"), rows))
    assert (rates.columns, rates.rows) == (("a", "c"), (Row("rate", ("1", "2")),))
    assert (losses.columns, losses.rows) == (("b", "d"), (Row("loss", ("3 %", "4 %")),))


def test_a_median_and_its_band_stay_together() -> None:
    heads = tuple(f"{name}{band}" for name in "abcd" for band in ("", "-band"))
    blocks = paper_blocks(Grid(heads, (Row("rate", ("1", "1-2") * 4),), together=2))
    assert [len(block.columns) for block in blocks] == [6, 2]
    assert paper_blocks(Grid(("a",), (Row("rate", (MISSING,)),))) == ()


def test_short_commands_are_beside_each_other() -> None:
    text = "```sh h1\nping a\n```\n\n```sh h2\nping b\n```\n\n```sh root\n" + "x" * 60 + "\n```\n"
    html = side_by_side(page_text(text, title="").html)
    halves, _, rest = html.partition('<div class="typed">')
    assert halves.count('<div class="typed half">') == 2
    assert halves.startswith('<div class="halves">')
    assert "half" not in rest
    assert side_by_side(Markup("<p>x</p>")) == "<p>x</p>"


def test_one_short_command_has_nothing_beside_it() -> None:
    html = side_by_side(page_text("```sh h1\nping a < b\n```\n", title="").html)
    assert "halves" not in html
    assert "ping a &lt; b" in html


def test_compact_paper_has_the_metrics_of_claims(many: Verdict) -> None:
    names = [f"{name}{copy}" for name in many.runs for copy in range(3)]
    cases = {name: many.study.cases[name[:-1]] for name in names}
    claims = tuple(
        dataclasses.replace(claim, expression=f"{names[0]}.bulk.receiver > 0bit")
        for claim in many.study.claims[:1]
    )
    study = dataclasses.replace(many.study, cases=cases, claims=claims)
    verdict = evaluate(study, {name: many.runs[name[:-1]] for name in names})
    grid = metric_grid(verdict, claimed_only=True)
    assert grid is not None
    assert {row.label for row in grid.rows} == {"bulk receiver"}
    paper = Page(verdict, figure_groups=(), svgs={}).for_paper()
    assert "bulk receiver" in paper
    assert "bulk sender" not in paper


def test_without_such_claims_paper_has_all_metrics(many: Verdict) -> None:
    verdict = evaluate(dataclasses.replace(many.study, claims=()), many.runs)
    assert metric_grid(verdict, claimed_only=True) == metric_grid(verdict)
