"""One evaluator: an expression over names gives a column what it gives each value."""

from __future__ import annotations

import math

import numpy as np
import pytest

from longfat.study.expressions.compiler import Kinds
from longfat.study.expressions.evaluation import TextColumn, column, holds, number, truth
from longfat.study.expressions.names import NameScope, parse_condition, parse_expression
from longfat.study.expressions.parser import FormulaError
from longfat.study.expressions.terms import PLAIN, Kind, TextRef, Texts


class Plain(Kinds):
    """Two numbers, and three texts: what `v` can be is not known."""

    names = ("a", "b", "t", "u", "v")

    def kind(self, name: str) -> Kind:
        return {"t": Texts(("x", "y-z")), "u": Texts(("x", "w")), "v": Texts()}.get(name, PLAIN)


A = [0.0, 1.0, -2.0, 3.0, 1e300, math.nan]
B = [0.0, 2.0, 4.0, -1.0, 1e-300, 1.0]
ROWS = [NameScope({"a": a, "b": b}) for a, b in zip(A, B, strict=True)]
COLUMNS = NameScope({"a": np.array(A), "b": np.array(B)})

T = ["x", "y-z", "x", "y-z"]
U = ["x", "x", "w", "w"]
V = ["x", "a long text, with a comma", "", "w"]
TEXT_ROWS = [
    NameScope({"a": 1.0}, {"t": t, "u": u, "v": v}) for t, u, v in zip(T, U, V, strict=True)
]


class TextColumns(NameScope):
    """The same texts as columns."""

    def text(self, name: str) -> TextColumn:
        return np.array({"t": T, "u": U, "v": V}[name], dtype=object)


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
    assert not isinstance(term, TextRef)
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t == x", [True, False, True, False]),
        ("t != x", [False, True, False, True]),
        ("t == y-z", [False, True, False, True]),
        ("t == 'y-z'", [False, True, False, True]),
        ("t == u", [True, False, False, False]),
        ("t != u", [False, True, True, True]),
        ("u == v", [True, False, False, True]),
        ("t == u == v", [True, False, False, False]),
        ("v == ''", [False, False, True, False]),
        ('v == "a long text, with a comma"', [False, True, False, False]),
        ("not (t == u) and a == 1", [False, True, True, True]),
        ("t == u or 1 / 0 < a", [False, False, False, False]),
    ],
)
def test_texts_are_compared_as_texts(text: str, expected: list[bool]) -> None:
    condition, _ = parse_condition(text, Plain())
    assert [holds(condition, row) for row in TEXT_ROWS] == expected
    columns = truth(condition, TextColumns({"a": np.ones(len(T))}))
    assert np.broadcast_to(columns, len(T)).tolist() == expected


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("a + t", 4, "'t' is a text, and only == and != go with texts"),
        ("abs(t) < 2", 4, "'t' is a text, and only == and != go with texts"),
        ("min(a, 'x') < 2", 7, "'x' is a text, and only == and != go with texts"),
        ("-t < 2", 1, "'t' is a text, and only == and != go with texts"),
        ("a < 2 and t", 10, "'t' is a text, and only == and != go with texts"),
        ("within(t, u, 5%)", 7, "'t' is a text, and only == and != go with texts"),
        ("t < u", 2, "'t' is a text, and only == and != go with texts"),
        ("t == 3", 5, "'t' is a text, and this is a number"),
        ("a == t", 0, "'t' is a text, and this is a number"),
        ("t == a", 5, "'t' is a text, and this is a number"),
        ("t == w", 5, "'t' is never 'w'"),
        ("'x' == 'x'", 0, "'x' is a text, and only == and != go with texts"),
    ],
)
def test_a_text_is_no_number(text: str, offset: int, message: str) -> None:
    with pytest.raises(FormulaError) as error:
        parse_condition(text, Plain())
    assert (error.value.offset, error.value.message[: len(message)]) == (offset, message)
