"""What the comparison prints, at two widths, on made-up runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rich.console import Console

from longfat.analysis.compare import compare_sides, make_side
from longfat.cli.render.comparison import print_compared
from longfat.cli.render.comparison_text import change_text, p_text, some
from longfat.execution.runs import Run
from longfat.model.metric import Unit

Made = Callable[..., list[Run]]
RATE, COUNT = "bulk.receiver_bps", "bulk.retransmits"
LOW = [1.0e6, 2.0e6, 3.0e6, 4.0e6]
HIGH = [5.0e6, 6.0e6, 7.0e6, 8.0e6]


def printed(*sides: dict[str, list[Run]], width: int = 80, show_all: bool = False) -> str:
    console = Console(width=width, force_terminal=False)
    labels = ("6.1", "6.12", "6.6")
    made = [make_side(label, runs) for label, runs in zip(labels, sides, strict=False)]
    with console.capture() as captured:
        print_compared(compare_sides(made), console=console, show_all=show_all)
    text = captured.get()
    # What a person may want to copy is not broken: set-up lines and paths.
    broken = [line for line in text.splitlines() if not line.startswith(("  - ", "  + ", "/"))]
    assert max(map(len, broken)) <= width
    return text


def test_several_seeds(made: Made) -> None:
    case = {"kernel": "6.12"}
    a = {"lossy": made({RATE: LOW, COUNT: [3, 4, 5, 9]})}
    b = {"lossy": made({RATE: HIGH, COUNT: [4, 8, 5, 9]}, case=case)}
    text = printed(a, b, width=120)
    assert "bulk receiver" in text
    assert "B > A" in text
    assert "adj. p" in text
    assert "No difference is real" in text  # two comparisons, of four seeds
    assert "a lone one among 2 is real with 5 seeds on each side." in " ".join(text.split())


def test_what_is_real_comes_first(made: Made) -> None:
    text = printed({"x": made({RATE: LOW})}, {"x": made({RATE: HIGH}, first=5)})
    lines = text.splitlines()
    assert lines[3:5] == [
        "What is real  1 of 1 comparison",
        "bulk receiver  2.50 Mbit/s -> 6.50 Mbit/s, +160 %",
    ]
    row = next(line for line in lines if line.startswith("bulk receiver") and "->" not in line)
    assert row.split()[-3:] == ["+160", "%", "yes"]
    assert "Mann-Whitney U, two-sided, exact" in text
    assert "Benjamini-Hochberg, 1 comparison)" in " ".join(text.split())


def test_one_seed_is_said_to_be_one_seed(made: Made) -> None:
    text = printed({"x": made({RATE: [1e6]})}, {"x": made({RATE: [2e6]}, case={"kernel": "6.12"})})
    assert "What differs with this seed  1 of 1 comparison" in text
    assert "not valid for other seeds: run both with --seeds 8." in " ".join(text.split())
    assert "Mann-Whitney" not in text
    assert "5-95 %" not in text


@pytest.mark.parametrize("label", ["6.12", "seeds 11-20"])
def test_the_last_column_is_whole_at_80_columns(made: Made, label: str) -> None:
    key = "bulk.fairness"
    metrics = {RATE: LOW, key: [0.0000123, 0.123, 0.5, 0.9]}
    changed = {RATE: HIGH, key: [0.00001, 0.2, 0.4, 0.8]}
    sides = [
        make_side(label, {"x": made(values, first=first)})
        for values, first in ((metrics, 1), (changed, 11))
    ]
    console = Console(width=80, force_terminal=False)
    with console.capture() as captured:
        print_compared(compare_sides(sides), console=console)
    lines = captured.get().splitlines()
    (head,) = (line for line in lines if line.startswith("metric"))
    assert head.split()[-1] == "real"
    rows = lines[lines.index(head) + 1 :]
    assert {row.split()[-1] for row in rows if "receiver" in row} <= {"yes", "no"}
    assert all(len(row) <= 80 for row in rows)


def test_too_few_seeds(made: Made) -> None:
    text = printed({"x": made({RATE: LOW[:3]})}, {"x": made({RATE: HIGH[:3]}, first=7)})
    assert "Too few seeds to judge significance" in text
    assert "3 seeds against 3 give no p below 0.1" in text
    assert "4 on each side are the least" in " ".join(text.split())


def test_identical(made: Made) -> None:
    runs = {"x": made({RATE: LOW})}
    assert "byte-identical: all 4 runs" in printed(runs, runs)
    half = {"x": [*runs["x"][:2], *made({RATE: HIGH[2:]}, first=3)]}
    text = printed(runs, half)
    assert "2 of 4 runs with a common seed are byte-identical" in text
    assert "Runs that should be equal and are not" in text


def test_setup_lines_and_cases_of_one_side(made: Made) -> None:
    setup = made({RATE: LOW})[0].case.setup
    a = {"x": made({RATE: LOW}), "gone": made({RATE: LOW}, name="gone")}
    b = {
        "x": made({RATE: HIGH}, case={"setup": setup[:1]}),
        "new": made({RATE: HIGH}, name="new"),
    }
    text = printed(a, b)
    assert "setup[1]:\n  - root: tc qdisc add dev s1-eth2 parent 1: handle 2: tbf " in text
    assert "only in A: gone\nonly in B: new\n" in text


@pytest.mark.parametrize("width", [80, 120])
def test_a_long_table_is_cut(made: Made, width: int) -> None:
    a = {f"c{k}": made({RATE: LOW}, name=f"c{k}") for k in range(60)}
    b = {f"c{k}": made({RATE: HIGH}, name=f"c{k}", first=5) for k in range(60)}
    text = printed(a, b, width=width)
    assert "bulk receiver  up in 60 of 60 cases, median +160 %\n" in text
    assert "40 more rows: --all" in text
    assert text.count("2.50 Mbit/s") == 20
    assert printed(a, b, width=width, show_all=True).count("2.50 Mbit/s") == 60


def test_three_sides_are_two_contrasts(made: Made) -> None:
    sides = [{"x": made({RATE: values}, first=k)} for k, values in ((1, LOW), (9, HIGH), (20, LOW))]
    text = printed(*sides)
    assert text.count("A  6.1 ") == 2
    assert "B  6.12" in text
    assert "B  6.6" in text


def test_words_in_brackets_are_no_markup(made: Made) -> None:
    runs = made({RATE: LOW}, name="[red]")
    text = printed({"[red]": runs, "y": made({RATE: LOW}, name="y")}, {"[red]": runs})
    assert "only in A: y" in text
    a = {"[b]": made({RATE: LOW}, name="[b]"), "c": made({RATE: LOW}, name="c")}
    b = {"[b]": made({RATE: HIGH}, name="[b]", first=5), "c": made({RATE: LOW}, name="c")}
    assert "in [b]" in printed(a, b)


@pytest.mark.parametrize(
    ("change", "relative", "unit", "text"),
    [
        (1.0, 0.1234, Unit.BPS, "+12 %"),
        (-1.0, -0.01234, Unit.BPS, "-1.2 %"),
        (1.0, 0.0996, Unit.COUNT, "+10 %"),
        (1.0, 11.0, Unit.COUNT, "x 12"),
        (21.0, None, Unit.COUNT, "+21"),
        (-0.001, None, Unit.FRACTION, "-0.1 pp"),
        (0.0, 0.0, Unit.SECONDS, "0"),
        (None, None, Unit.SECONDS, "-"),
    ],
)
def test_changes(change: float | None, relative: float | None, unit: Unit, text: str) -> None:
    assert change_text(change, relative, unit) == text


def test_small_words() -> None:
    assert [p_text(p) for p in (None, 0.00001, 0.0022, 1.0)] == ["-", "< 0.0001", "0.0022", "1"]
    assert some(["a", "b"]) == "a, b"
    assert some(list("abcdef")) == "a, b, c, d and 2 more"
