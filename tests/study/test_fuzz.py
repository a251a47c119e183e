"""Whatever stands in a file, `read_study` returns a study or raises InputError with a place."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longfat.errors import InputError
from longfat.model.metric import Metric, Unit
from longfat.study import read_study
from longfat.study.claims.compiler import parse_claim
from longfat.study.claims.rows import ResultScope, Rows
from longfat.study.document import Mark, Scalar
from longfat.study.expressions.evaluation import holds
from longfat.study.expressions.parser import FormulaError
from longfat.study.node import Node
from tests.paths import REPOSITORY

SAMPLES = [
    REPOSITORY / "labs/lab08/study.yaml",
    REPOSITORY / "tests/study/data/everything.yaml",
]

FRAGMENTS = [
    *("[", "]", "{", "}", ":", ": ", "- ", "\n", "\n  ", "&a ", "*a", "!!int ", "|\n", ">\n", "'"),
    *('"', "#", "%", "@", "`", "\t", "?", "? ", "<<: ", "---\n", "...\n", "~", "null", "true"),
    *("\x00", "\u2028", "\ufeff", "\\ud800", "é", "0", "-1", "1e999", "9" * 40, "nan", "6.1"),
    *("h1", "s1", "root", "h1 -> h1", "h9 -> h1", "iperf3", "ping", "after: bulk", "time: 1ms"),
    *("[h1, h2]", "{}", "[]", "title: x", "cases:", "flows:", "null:", "source", "10.0.0.1/8"),
    *("[" * 40, "{a: " * 40, "(" * 200, "not " * 200, "- " * 60, "and", " < ", "== ", "/ 0 "),
]


def delete(text: str, chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    return text[:start] + text[start + chance.choice((1, 1, 2, 5, 20, 100)) :]


def insert(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(FRAGMENTS) + text[at:]


def swap_lines(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) > 1:
        a, b = chance.sample(range(len(lines)), 2)
        lines[a], lines[b] = lines[b], lines[a]
    return "".join(lines)


def swap_words(text: str, chance: random.Random) -> str:
    words = text.split(" ")
    a, b = chance.randrange(len(words)), chance.randrange(len(words))
    words[a], words[b] = words[b], words[a]
    return " ".join(words)


def repeat_line(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    return "".join(lines)


MUTATIONS: list[Callable[[str, random.Random], str]] = [
    delete,
    insert,
    insert,
    swap_lines,
    swap_words,
    repeat_line,
]


def read(data: bytes, folder: Path) -> str:
    """Return the message, or nothing."""
    file = folder / "study.yaml"
    file.write_bytes(data)
    try:
        study = read_study(file)
    except InputError as error:
        caught = error
    else:
        for planned in study.cases.values():
            assert len(planned.places.setup) == len(planned.case.setup)
            assert len(planned.case.digest) == 64
        return ""
    place = caught.place
    assert place is not None, caught.message
    assert place.file == str(file)
    assert 1 <= place.line <= data.count(b"\n") + data.count(b"\r") + 2
    assert place.column >= 1
    str(caught).encode()
    return caught.message


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.parent.name)
@pytest.mark.parametrize("seed", range(6))
def test_mutated_texts(sample: Path, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{sample.name} {seed}")
    original = sample.read_text(encoding="utf-8")
    messages = set()
    for _ in range(120):
        text = original
        for _ in range(chance.choice((1, 1, 2, 4))):
            text = chance.choice(MUTATIONS)(text, chance)
        messages.add(read(text.encode("utf-8", "surrogatepass"), tmp_path))
    assert len(messages) > 20  # the mutations reach many different checks


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.parent.name)
def test_mutated_bytes(sample: Path, tmp_path: Path) -> None:
    chance = random.Random(sample.name)
    original = sample.read_bytes()
    for _ in range(250):
        data = bytearray(original)
        for _ in range(chance.choice((1, 1, 3))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        read(bytes(data), tmp_path)


@given(data=st.binary(max_size=200) | st.text(max_size=200).map(lambda t: t.encode()))
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_bytes(data: bytes, tmp_path: Path) -> None:
    read(data, tmp_path)


@given(text=st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))
@settings(
    max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_fragments(text: str, tmp_path: Path) -> None:
    read(text.encode(), tmp_path)


YAML_VALUES = st.recursive(
    st.sampled_from(
        ["", "x", "h1", "h1 -> h2", "10s", "-1", "true", "'a'", '"b"', "5 parsec", "é"]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        st.lists(
            st.tuples(st.sampled_from(["a", "h1", "ping", "time", "[h1]"]), inner), max_size=3
        ).map(lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"),
    ),
    max_leaves=8,
)
FIELD_NAMES = st.sampled_from(
    [
        *("title", "kernel", "seed", "memory", "network", "setup", "flows", "cases", "claims"),
        *("published", "seeds", "a.b", "~", "probes"),
    ]
)


@given(pairs=st.lists(st.tuples(FIELD_NAMES, YAML_VALUES), max_size=6))
@settings(
    max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_values_in_known_fields(pairs: list[tuple[str, str]], tmp_path: Path) -> None:
    text = "title: x\n" + "".join(f"{key}: {value}\n" for key, value in pairs if key != "title")
    read(text.encode(), tmp_path)


KNOWN = {
    "red": {
        f"bulk.{name}": Metric(name, unit, name)
        for name, unit in (
            ("rate_bps", Unit.BPS),
            ("size_bytes", Unit.BYTES),
            ("rtt_s", Unit.SECONDS),
            ("loss", Unit.FRACTION),
        )
    },
}
RESULTS = {"red": {"bulk.rate_bps": 1e9, "bulk.size_bytes": 1e6, "bulk.rtt_s": 0.0, "bulk.loss": 0}}

TOKENS = st.sampled_from(
    [
        *("red.bulk.rate", "red.bulk.size", "red.bulk.rtt", "red.bulk.loss", "red.bulk.x"),
        *("a.b.c-d.e.f", "1", "0", "20ms", "3gbit", "25MB", "15%", "1e99", "10mbps", "5x", "1."),
        *("9" * 50, "+", "-", " - ", "*", "/", "<", "<=", ">", ">=", "==", "!=", "=", "(", ")"),
        *(",", "min(", "max(", "abs(", "within(", " and ", " or ", " not ", " ", "\n", "é", "."),
        *("\u03bcs", "if"),
    ]
)
TERMS = st.recursive(
    st.sampled_from(["red.bulk.rate", "red.bulk.rtt", "red.bulk.loss", "0", "2", "1ms", "3gbit"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(" ".join),
        inner.map(lambda text: f"-({text})"),
        st.tuples(inner, inner).map(lambda pair: f"min({pair[0]}, {pair[1]})"),
    ),
    max_leaves=12,
)
CONDITIONS = st.recursive(
    st.tuples(TERMS, st.sampled_from(["<", ">=", "==", "!="]), TERMS).map(" ".join),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
        inner.map(lambda text: f"not ({text})"),
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(
    text=st.one_of(
        st.text(max_size=60), st.lists(TOKENS, max_size=20).map("".join), TERMS, CONDITIONS
    )
)
@settings(max_examples=3000, deadline=None)
def test_any_claim(text: str) -> None:
    try:
        formula = parse_claim(text, KNOWN, Rows(KNOWN))
    except FormulaError as error:
        caught = error
    else:
        assert holds(formula.condition, ResultScope(RESULTS)) in (True, False)
        return
    assert 0 <= caught.offset <= len(text)
    assert caught.message


@pytest.mark.parametrize(
    "text",
    [
        "(" * 990 + "1 < 2" + ")" * 990,
        "not " * 400 + "1 < 2",
        "-" * 1900 + "1 < 2",
        "min(1," * 300 + "1" + ")" * 300 + " < 2",
        "1 < 2 and " * 180 + "1 < 2",
        "1" + " + 1" * 450 + " < 2",
    ],
)
def test_deep_and_long_claims(text: str) -> None:
    try:
        parse_claim(text, KNOWN, Rows(KNOWN))
    except FormulaError as error:
        assert error.message == "nested more than 40 deep"


def test_a_node_knows_no_column_of_a_folded_text() -> None:
    node = Node(raw=Scalar(mark=Mark(line=3, column=5), text="a b"), file="f")
    assert node.place_of(2).column == 5


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 5000,
        "a: &a [" + "x," * 50 + "]\n" + "".join(f"k{i}: &b{i} [*a, *a, *a]\n" for i in range(500)),
        "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 500)),
        "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{f'*a{i - 1},' * 9}]\n" for i in range(1, 12)),
        f"k: &k {'x' * 100_000}\nl: [{'*k, ' * 20_000}]",
        "x" * 300_000,
        "- \n" * 50_000,
    ],
)
def test_bombs(text: str, tmp_path: Path) -> None:
    assert read(text.encode(), tmp_path)
