"""The claim language: what holds, what is refused, and with which words."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.study import Claim, read_study

STUDY = """\
title: x
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
flows: {rtt: {ping: h1 -> h2}, long-bulk: {iperf3: h1 -> h2}}
cases: {drop-tail: , red: }
claims:
"""

RESULTS = {
    "drop-tail": {
        "rtt.avg_s": 0.2,
        "rtt.loss": 0.01,
        "rtt.received": 0.0,
        "long-bulk.receiver_bps": 3e9,
        "long-bulk.max_cwnd_bytes": 16e6,
    },
    "red": {
        "rtt.avg_s": 0.03,
        "rtt.loss": 0.0,
        "long-bulk.receiver_bps": 9e9,
        "long-bulk.max_cwnd_bytes": 40e6,
    },
}


def claims(yaml: str, folder: Path) -> tuple[Claim, ...]:
    file = folder / "study.yaml"
    file.write_text(STUDY + yaml, encoding="utf-8")
    return read_study(file).claims


def claim(expression: str, folder: Path) -> Claim:
    quoted = expression.replace("'", "''")
    (found,) = claims(f"  - '{quoted}'\n", folder)
    return found


TRUE = [
    "drop-tail.rtt.avg > 150ms",
    "drop-tail.rtt.avg_s > 150ms",
    "red.rtt.avg < 40ms and red.long-bulk.receiver > 900mbit",
    "3gbit <= drop-tail.long-bulk.receiver < 3.5gbit <= red.long-bulk.receiver",
    "drop-tail.long-bulk.max_cwnd < 10gbit * 20ms < red.long-bulk.max_cwnd",
    "red.long-bulk.receiver == 3 * drop-tail.long-bulk.receiver",
    "red.rtt.avg - drop-tail.rtt.avg < 0",
    "red.rtt.avg-drop-tail.rtt.avg == -170ms",
    "drop-tail.rtt.avg / red.rtt.avg > 6",
    "within(red.long-bulk.receiver, 10gbit, 15%)",
    "not within(red.long-bulk.receiver, 10gbit, 5%)",
    "min(red.rtt.avg, drop-tail.rtt.avg, 1s) == 30ms",
    "max(1, 2.5) == 2.5",
    "abs(red.rtt.avg - drop-tail.rtt.avg) == 170ms",
    "drop-tail.rtt.loss == 1%",
    "red.rtt.loss == 0",
    "1 == 2 or 1 < 2 and not 2 < 1",
    "not (1 == 1 and 1 == 2)",
    "(1 + 2) * 3 == 9 and 1 + 2 * 3 == 7 and 8 / 2 / 2 == 2 and 5 - 2 - 1 == 2 and -2 < - -2",
    "1KB == 8192bit * 1s",
    "1min == 60s != 1s",
    "drop-tail.long-bulk.max_cwnd / 1s > 100mbit",
]


@pytest.mark.parametrize("expression", TRUE)
def test_what_holds(expression: str, tmp_path: Path) -> None:
    assert claim(expression, tmp_path).holds(RESULTS)


@pytest.mark.parametrize(
    "expression",
    [
        "drop-tail.rtt.avg < 150ms",
        "1 < 3 < 2",
        "1 / red.rtt.loss > 1",
        "1 / red.rtt.loss != 1",
        "not 1 / red.rtt.loss > 1",
        "1e99 * 1e99 * 1e99 * 1e99 > 1",
        "0 / red.rtt.loss == 0 or 1 == 1",
    ],
)
def test_what_does_not_hold_or_has_no_value(expression: str, tmp_path: Path) -> None:
    assert not claim(expression, tmp_path).holds(RESULTS)


# The expression stands in a quoted text that starts in column 5, so its first character is in 6.
WRONG = [
    (
        "drop-tail.rtt.avg",
        6,
        "a claim is true or false, and this is a time: compare it, as in x > 3gbit",
    ),
    (
        "1 + 2",
        6,
        "a claim is true or false, and this is a plain number: compare it, as in x > 3gbit",
    ),
    ("red.rtt.avg > 3gbit", 18, "this compares a time and a rate, which do not go together"),
    ("red.rtt.avg > 3", 18, "this compares a time and a plain number, which do not go together"),
    ("red.rtt.avg + 3gbit > 1s", 18, "a sum of a time and a rate, which do not go together"),
    ("1s * 1s > 1s", 14, "this compares bit^0 s^2 and a time, which do not go together"),
    ("within(1s, 2s, 3s)", 6, "the third of within() is a part, such as 15%, not a time"),
    (
        "rde.rtt.avg > 1s",
        6,
        "there is no case 'rde'; did you mean 'red'? (there are: drop-tail, red)",
    ),
    (
        "red.rrt.avg > 1s",
        10,
        "there is no flow or probe in the case 'red' called 'rrt'; did you mean 'rtt'? "
        "(there are: rtt, long-bulk)",
    ),
    (
        "red.rtt.average > 1s",
        14,
        "there is no metric of 'rtt' called 'average'; did you mean "
        "'avg'? (there are: min, avg, max, mdev, loss, sent, received)",
    ),
    (
        "avg(1, 2) > 1",
        6,
        "there is no function 'avg' (there are: min, max, abs, within, sqrt, round, floor, ceil, "
        "jain, bdp, mathis, cubic, all, any, share, mean, median)",
    ),
    (
        "min(1) > 1",
        10,
        "min() is over the cases, and here is nothing of a case: write FLOW.METRIC",
    ),
    ("abs(1, 2) > 1", 6, "abs() takes one value, and here are 2"),
    ("abs(1 where 1 < 2) > 1", 18, "abs() has no where: it is of one case"),
    ("1 <", 9, "the claim ends too early"),
    ("1 = 1", 8, "the claim cannot be read from '=' on; write == to compare"),
    (
        "rtt.avg > 1s",
        6,
        "rtt.avg needs a case: name one, as in CASE.rtt.avg, or aggregate over the cases, as in "
        "all(rtt.avg > ...)",
    ),
    ("red.avg > 1s", 6, "'red' is a case, and a metric of it is written red.FLOW.METRIC"),
    (
        "red > 1s",
        6,
        "'red' is no metric, which is written CASE.FLOW.METRIC; quote a text",
    ),
    (
        "1 ms > 0",
        8,
        "the claim cannot be read from 'ms' on; a metric is written "
        "CASE.FLOW.METRIC, and a unit right behind its number",
    ),
    (
        "10G > 1",
        6,
        "'10G' could be a rate or a size: write 10Gbit for bits per second, or 10GB for bytes",
    ),
    ("(1 < 2) + 1 > 0", 7, "this is true or false, where a number is needed"),
    (
        "not 5s",
        10,
        "'not' takes what is true or false, and this is a time: compare it, as in x > 3gbit",
    ),
    ("not " * 50 + "1 < 2", 206, "nested more than 40 deep"),
    ("1 < 2 " + " " * 2000, 5, "the claim has more than 2000 characters"),
    ("__import__.os.system > 1", 6, "the claim cannot be read from '__import__.os.system' on"),
]


@pytest.mark.parametrize(("expression", "column", "message"), WRONG)
def test_what_is_refused(expression: str, column: int, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        claim(expression, tmp_path)
    place = caught.value.place
    assert place is not None
    assert caught.value.message == message
    assert (place.line, place.column, place.field) == (6, column, "claims[0]")


def test_a_claim_over_seeds(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    seeds = STUDY.replace("red: }", "red: {seeds: 3}}")
    file.write_text(f"{seeds}  - red.rtt.avg < 40ms  over  seeds\n  - red.rtt.avg < 40ms\n")
    over, each = read_study(file).claims
    assert (over.over_seeds, each.over_seeds) == (True, False)
    assert over.expression == "red.rtt.avg < 40ms over seeds"
    assert over.holds(RESULTS)
    file.write_text(f"{seeds}  - red.rtt.avg < drop-tail.rtt.avg over seeds\n")
    with pytest.raises(InputError) as caught:
        read_study(file)
    assert caught.value.message == (
        "the claim is over seeds, and the case 'drop-tail' is run with one: give the study or "
        "the case `seeds`, such as `seeds: 5`"
    )
    assert caught.value.place is not None
    assert caught.value.place.line == 6


def test_a_claim_has_a_text_or_is_its_own(tmp_path: Path) -> None:
    found = claims(
        "  - RED holds the delay down: red.rtt.avg <   40ms\n  - red.rtt.avg <   40ms\n", tmp_path
    )
    assert [c.text for c in found] == ["RED holds the delay down", "red.rtt.avg < 40ms"]
    assert [c.expression for c in found] == ["red.rtt.avg < 40ms"] * 2
    assert [(c.place.line, c.place.column) for c in found] == [(6, 31), (7, 5)]
    assert found[0].cases == {"red"}


@pytest.mark.parametrize(
    ("yaml", "place", "message"),
    [
        ("  []\n", None, None),
        ("  x\n", "6:3: claims", "found 'x', expected a list of claims"),
        (
            "  - {a: 1 < 2, b: 1 < 2}\n",
            "6:5: claims[0]",
            "a claim is one TEXT: EXPRESSION, and here are 2: start each with a hyphen",
        ),
        (
            "  - a:\n",
            "6:5: claims[0]",
            "found nothing, expected a claim, as TEXT: EXPRESSION or as an expression",
        ),
        ("  - a text: >\n      1 <\n      2 3\n", "6:13: claims[0]", None),
    ],
)
def test_the_list_of_claims(
    yaml: str, place: str | None, message: str | None, tmp_path: Path
) -> None:
    if place is None:
        assert claims(yaml, tmp_path) == ()
        return
    with pytest.raises(InputError) as caught:
        claims(yaml, tmp_path)
    assert str(caught.value.place) == f"{tmp_path / 'study.yaml'}:{place}"
    if message:
        assert caught.value.message == message


def test_a_missing_result_is_reported(tmp_path: Path) -> None:
    found = claim("red.rtt.max > 1ms", tmp_path)
    with pytest.raises(InputError) as caught:
        found.holds(RESULTS)
    assert caught.value.message == (
        "there is no result red.rtt.max_s: the case was not run, or its tool did not report it"
    )
    assert caught.value.place == found.place


def test_a_claim_can_be_sent_to_another_process(tmp_path: Path) -> None:
    found = claim("red.rtt.avg / 2 < 40ms or not abs(red.rtt.avg) > 1s", tmp_path)
    again: Claim = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.holds(RESULTS)
