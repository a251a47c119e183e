"""Metrics out of a program's output, by the code that the machine runs."""

from __future__ import annotations

import json
import math
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.errors import InputError
from longfat.guest.extract import ExtractionError, extract, taken
from longfat.model.fields import fields_of
from longfat.model.traffic.extraction import Extraction

DOCUMENT = {"a": {"b.c": [{"d": 1}, {"d": "2.5"}], "n": None}, "l": [[1, 2], [3]]}
TABLE = "name, rate\nx, 10\ny, 30\n\n"


def found(text: str, **fields: Any) -> float:
    metric = Extraction(name="m", **fields)
    (value,) = extract([metric.order()], lambda _: text.encode()).values()
    return value


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"json": 'a."b.c"[0].d'}, 1),
        ({"json": 'a."b.c"[-1].d', "unit": "ms"}, 0.0025),
        ({"json": 'a."b.c"[*].d', "take": "mean"}, 1.75),
        ({"json": "l[*][*]", "take": "sum"}, 6),
        ({"json": "l[*][*]", "take": "count"}, 3),
        ({"json": "a.*", "take": "last"}, "a.*: there is no *"),
        ({"json": "a.n"}, "'None' is no number"),
        ({"json": "l[0][7]"}, r"there is no \[7\]"),
        ({"json": "a[*]"}, "is no number"),
        ({"json": "a.b"}, "there is no b"),
    ],
)
def test_json(fields: dict[str, Any], value: float | str) -> None:
    check(json.dumps(DOCUMENT), fields, value)


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"csv": "rate", "take": "mean", "unit": "mbit"}, 20e6),
        ({"csv": "2"}, "'rate' is no number"),
        ({"csv": "name"}, "'x' is no number"),
        ({"csv": "other"}, "there is no column 'other'"),
        ({"csv": "rate", "take": "p50"}, 20),
        ({"csv": "rate", "take": "first"}, 10),
    ],
)
def test_csv(fields: dict[str, Any], value: float | str) -> None:
    check(TABLE, fields, value)


def test_csv_without_names() -> None:
    assert found("1,2\n3,4\n", csv="2", take="max") == 4
    with pytest.raises(ExtractionError, match="a line has 1 columns, and no '2'"):
        found("1,2\n3\n", csv="2")


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({"regex": r"rtt (\S+) ms", "unit": "ms"}, 0.002),
        ({"regex": r"rtt (\S+) ms", "take": "first"}, 1.5),
        ({"regex": r"^end (\d+)$"}, 7),
        ({"regex": r"nothing (\d+)"}, "there is no such number"),
        ({"regex": r"nothing (\d+)", "take": "count"}, 0),
        ({"regex": r"nothing (\d+)", "take": "sum"}, 0),
        ({"regex": r"(end)"}, "'end' is no number"),
    ],
)
def test_patterns(fields: dict[str, Any], value: float | str) -> None:
    check("rtt 1.5 ms\nrtt 2 ms\nend 7\n", fields, value)


def check(text: str, fields: dict[str, Any], value: float | str) -> None:
    if isinstance(value, str):
        with pytest.raises(ExtractionError, match=value):
            found(text, **fields)
    else:
        assert found(text, **fields) == pytest.approx(value)


NUMBERS = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50)


@given(NUMBERS)
def test_percentiles_are_between_the_least_and_the_largest(numbers: list[float]) -> None:
    values = [taken(numbers, take) for take in ("min", "p5", "median", "p95", "p99.9", "max")]
    assert values == sorted(values)
    assert taken(numbers, "p0") == min(numbers)
    assert taken(numbers, "mean") == pytest.approx(math.fsum(numbers) / len(numbers))


KEYS = st.text(string.ascii_letters + string.digits + "_-.", min_size=1, max_size=8)
DOCUMENTS = st.recursive(
    st.integers(-(10**9), 10**9),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4)
        | st.dictionaries(KEYS, inner, min_size=1, max_size=4)
    ),
    max_leaves=20,
)


@given(DOCUMENTS, st.data())
def test_each_number_has_a_path(document: Any, data: st.DataObject) -> None:
    value, path = document, ""
    while not isinstance(value, int):
        if isinstance(value, dict):
            key = data.draw(st.sampled_from(sorted(value)))
            path += f".{json.dumps(key)}" if "." in key else f".{key}"
            value = value[key]
        else:
            index = data.draw(st.integers(0, len(value) - 1))
            path += f"[{index}]"
            value = value[index]
    if path:
        kind = fields_of(Extraction)["json"].kind
        assert found(json.dumps(document), json=kind.parse(path.removeprefix("."))) == value


@given(st.text(max_size=200), st.sampled_from(["json", "csv", "regex"]), st.text(max_size=20))
def test_any_output_gives_a_number_or_words(text: str, way: str, what: str) -> None:
    try:
        what = fields_of(Extraction)[way].kind.parse(what)
    except InputError:
        return
    try:
        assert math.isfinite(found(text, **{way: what}))
    except ExtractionError as error:
        assert str(error).startswith("the metric m: stdout: ")
