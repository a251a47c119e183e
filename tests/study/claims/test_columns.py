"""One evaluator: an expression over names gives a column what it gives each number."""

from __future__ import annotations

import math

import numpy as np
import pytest

from longfat.study.claims.columns import column, holds, number, truth
from longfat.study.claims.terms import PLAIN, Dimension
from longfat.study.grid.expressions import parse_condition, parse_expression
from longfat.study.grid.language import Kinds, NameScope


class Plain(Kinds):
    names = ("a", "b")

    def kind(self, name: str) -> Dimension:
        del name
        return PLAIN


A = [0.0, 1.0, -2.0, 3.0, 1e300, math.nan]
B = [0.0, 2.0, 4.0, -1.0, 1e-300, 1.0]
ROWS = [NameScope({"a": a, "b": b}) for a, b in zip(A, B, strict=True)]
COLUMNS = NameScope({"a": np.array(A), "b": np.array(B)})


@pytest.mark.parametrize(
    "text",
    [
        "a + b - 3 * a",
        "a / b / 2",
        "1 / 0 + a",
        "a * a * b",
        "-a",
        "abs(a - b)",
        "sqrt(a)",
        "min(a, b, 2)",
        "max(2, a / b)",
        "round(a / 2) + ceil(b) - floor(a)",
        "jain(a, b, 1 / 0)",
        "jain(a, b, 2)",
    ],
)
def test_numbers_and_columns_agree(text: str) -> None:
    term = parse_expression(text, Plain()).term
    each = [number(term, row) for row in ROWS]
    assert np.broadcast_to(column(term, COLUMNS), len(A)).tolist() == pytest.approx(
        each, rel=0, abs=0, nan_ok=True
    )


@pytest.mark.parametrize(
    "text",
    [
        "a < b",
        "0 <= a < b != 3",
        "a / b > 1 / 0 or a < b",
        "not (a / b < 2)",
        "not (a < b) and b != 4",
        "a < 1 or b < 1",
        "within(a, b, 50%)",
        "within(a, 1 / 0, b)",
        "min(a / b, 1) < 2",
    ],
)
def test_conditions_of_numbers_and_of_columns_agree(text: str) -> None:
    condition, _ = parse_condition(text, Plain())
    each = [holds(condition, row) for row in ROWS]
    assert np.broadcast_to(truth(condition, COLUMNS), len(A)).tolist() == each


@pytest.mark.parametrize(
    "text", ["1 / b < 9", "not (1 / b < 9)", "1 / b < 9 or a < 9", "min(1, 1 / b) < 9"]
)
def test_what_does_not_exist_makes_nothing_true(text: str) -> None:
    condition, _ = parse_condition(text, Plain())
    assert not holds(condition, ROWS[0])
