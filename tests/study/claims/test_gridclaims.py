"""Claims over the cases of a grid: what holds on results whose numbers are known."""

from __future__ import annotations

import pickle
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longfat.errors import InputError
from longfat.study import Claim, Study, known_metrics, read_study
from longfat.study.claims.aggregates import NotRunError
from longfat.study.claims.compiler import Formula, parse_claim
from longfat.study.claims.rows import ResultScope, Table
from longfat.study.expressions.evaluation import holds as is_true
from longfat.study.expressions.parser import FormulaError
from longfat.study.expressions.terms import Results
from longfat.study.read import parse_study
from tests.study.messages import error, read

STUDY = """\
title: x
grid:
  cc: [cubic, bbr]
  [aqm, line]: [[drop-tail, "pfifo limit 9"], [codel, "codel limit $<n * 3>"]]
  n: [1, 2, 4]
  loss: [0, 1%]
let: {rate: 100mbit, each: rate / n}
where: cc == cubic or n < 4
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2, {loss: $<loss>}]]}
setup: [{h1: "echo $<cc> $<line> $<n> $<each>"}]
flows: {bulk: {iperf3: h1 -> h2, parallel: 2}, b-2: {iperf3: h1 -> h2}, rtt: {ping: h1 -> h2}}
"""
"""Twenty cases: 12 of cubic, 8 of bbr. Eleven lines: a claim stands in line 13."""


@pytest.fixture(scope="module")
def study() -> Study:
    return parse_study(STUDY + "claims: [all(n > 0)]\n", name="study")


def formula(expression: str, study: Study) -> Formula:
    known = {name: known_metrics(planned.case) for name, planned in study.cases.items()}
    return parse_claim(expression, known, study.claims[0].over[0].rows)


def holds(found: Formula, measured: Results) -> bool:
    try:
        return is_true(found.condition, ResultScope(measured))
    except InputError:
        return False


def claim(expression: str, folder: Path) -> Claim:
    quoted = expression.replace("'", "''")
    (found,) = read(f"{STUDY}claims:\n  - '{quoted}'\n", folder).claims
    return found


def results(study: Study) -> dict[str, dict[str, float]]:
    """bulk gets 90 Mbit/s / n, half of that with loss (bbr: all), and rtt is n x 10 ms, less 1 ms
    with codel."""
    found = {}
    for name, planned in study.cases.items():
        one = {key: setting.text for key, setting in planned.parameters.items()}
        lossy = one["loss"] == "1%" and one["cc"] == "cubic"
        n = float(one["n"])
        found[name] = {
            "bulk.receiver_bps": 90e6 / n / (2 if lossy else 1),
            "bulk.received_bytes": 1e6,
            "bulk.fairness": 0.9,
            "b-2.receiver_bps": 10e6,
            "rtt.avg_s": 0.01 * n - (0.001 if one["aqm"] == "codel" else 0),
            "rtt.loss": 0.0,
        }
    return found


HOLDS = [
    ("all(bulk.receiver > 0.4 * each)", 20, 20),
    ("all(bulk.receiver > 0.8 * rate / n where loss == 0)", 10, 10),
    ("all(bulk.receiver > 0.8 * each where loss > 0 and cc != cubic)", 4, 4),
    ("all(rtt.avg < 40ms where aqm == codel)", 10, 10),
    ("any(bulk.receiver < 12mbit)", 2, 20),
    ("not any(bulk.receiver < 10mbit)", 0, 20),
    ("share(bulk.receiver > 40mbit) == 70%", 14, 20),
    ("share(loss > 0) == 0.5", 10, 20),
    ("share(jain(bulk) > 0.8) == 1", 20, 20),
    ("all(jain(bulk.receiver, b-2.receiver) < 0.999 where n == 1)", 8, 8),
    ("within(median(rtt.avg where cc == bbr), 14.5ms, 0.01%)", None, 8),
    ("within(mean(rtt.avg where n == 1), 9.5ms, 0.01%)", None, 8),
    ("min(bulk.receiver) == 11.25mbit", None, 20),
    ("max(rtt.avg - n * 10ms) == 0", None, 20),
    ("all(bulk.receiver[cc = bbr] >= bulk.receiver[cc = cubic])", 8, 8),
    ("all(bulk.receiver[cc = bbr] == 2 * bulk.receiver[cc = cubic] where loss > 0)", 4, 4),
    ("all(rtt.avg[aqm = codel] < rtt.avg[aqm = drop-tail])", 10, 10),
    ("all(rtt.avg >= rtt.avg[aqm = codel])", 20, 20),
    ("all(bulk.receiver > 2 * bulk.receiver[n = 4, cc = cubic] where n == 1)", 8, 8),
    ("all(bulk.receiver > 0.2 * median(bulk.receiver))", 20, 20),
    ("all(rtt.avg < 50ms where bulk.receiver > 40mbit)", 14, 14),
    ("all(mathis(1460B, rtt.avg, loss) > 10mbit where loss > 0 and n == 1)", 4, 4),
    ("all(bdp(rate, rtt.avg) > 100KB and cubic(1460B, 10ms, 1%) > 1mbit)", 20, 20),
    ("all(within(bulk.receiver * n, 90mbit, 1%) where loss == 0)", 10, 10),
]


@pytest.mark.parametrize(("expression", "holding", "count"), HOLDS)
def test_what_holds(study: Study, expression: str, holding: int | None, count: int) -> None:
    found = formula(expression, study)
    measured = results(study)
    assert holds(found, measured)
    tally = found.over[-1].tally(measured)
    assert (tally.holding, tally.count, tally.missing) == (holding, count, 0)


@pytest.mark.parametrize(
    "expression",
    [
        "all(bulk.receiver > 0.5 * each)",
        "any(bulk.receiver > rate)",
        "all(bulk.receiver / loss > 0)",
        "not all(bulk.receiver / loss > 0 where loss == 0) and any(rtt.mdev > 0)",
        "all(rtt.mdev >= 0)",
        "all(not rtt.mdev > 0)",
        "median(rtt.mdev) >= 0",
        "all(bulk.receiver > 0 where bulk.receiver < 0)",
        "max(bulk.receiver where bulk.receiver < 0) > 0",
    ],
)
def test_what_does_not_hold_or_has_no_value(study: Study, expression: str) -> None:
    assert not holds(formula(expression, study), results(study))


def test_where_it_does_not_hold_is_reported(study: Study, tmp_path: Path) -> None:
    found = claim("all(bulk.receiver[cc = bbr] < 1.5 * bulk.receiver[cc = cubic])", tmp_path)
    tally = found.over[0].tally(results(study))
    assert (tally.holding, tally.count) == (4, 8)
    first = tally.examples[0]
    assert first.case == "cubic-drop-tail-n1-loss1pct"
    assert {name: value for name, (value, _) in first.readings.items()} == {
        "bbr-drop-tail-n1-loss1pct.bulk.receiver_bps": 90e6,
        "cubic-drop-tail-n1-loss1pct.bulk.receiver_bps": 45e6,
    }
    assert first.to_json()["parameters"]["loss"] == "1%"
    (extreme,) = formula("max(rtt.avg) < 1s", study).over
    tally = extreme.tally(results(study))
    assert (tally.value, tally.examples[0].case) == (0.04, "cubic-drop-tail-n4-loss0")


def test_cases_that_were_not_run(study: Study, tmp_path: Path) -> None:
    some = dict(list(results(study).items())[:5])
    with pytest.raises(NotRunError):
        claim("all(bulk.receiver > 0)", tmp_path).holds(some)
    assert not claim("all(bulk.receiver > 80mbit)", tmp_path).holds(some)
    assert claim("any(bulk.receiver > 80mbit)", tmp_path).holds(some)
    with pytest.raises(NotRunError):
        claim("share(bulk.receiver > 80mbit) > 0", tmp_path).holds(some)
    with pytest.raises(NotRunError):
        claim("any(bulk.receiver > 1gbit)", tmp_path).holds(some)
    only_cubic = claim("all(bulk.receiver > 0 where cc == cubic and n == 1)", tmp_path)
    assert only_cubic.cases == {
        f"cubic-{aqm}-n1-{loss}" for aqm in ("drop-tail", "codel") for loss in ("loss0", "loss1pct")
    }
    assert only_cubic.over[0].tally(some).missing == 2


WRONG = [
    ("bulk.receiver > 1mbit", 6, "bulk.receiver needs a case: name one"),
    ("n > 1", 6, "'n' differs from case to case: write all(...)"),
    ("all(bulk.receiver)", 10, "all() is of what is true or false, and this is a rate"),
    ("median(bulk.receiver > 1) > 1", 27, "this compares a rate and a plain number"),
    ("median(bulk.receiver > 1mbit) > 1", 13, "true or false, where a number is needed"),
    ("all(bulk.receiver > 1ms)", 24, "this compares a rate and a time"),
    ("all(bulk.reciever > 1mbit)", 15, "did you mean 'receiver'?"),
    ("all(bluk.receiver > 1mbit)", 10, "did you mean 'bulk'?"),
    ("all(b-2.receiver-b-2.sender > 0)", 10, "there is no case 'b-2'"),
    ("all(bulk.receiver > 1mbit where cc == reno)", 44, "'cc' is never 'reno'"),
    ("all(bulk.receiver > 1mbit where rtt > 1ms)", 38, "there is no parameter 'rtt'"),
    ("all(bulk.receiver > 1mbit where n > 9)", 38, "this leaves no case"),
    ("all(bulk.receiver > 1mbit where n)", 38, "where takes what is true or false"),
    ("all(bulk.receiver[cc = reno] > 1mbit)", 29, "'cc' is never 'reno' (its values: cubic, bbr)"),
    ("all(bulk.receiver[ccc = bbr] > 1mbit)", 24, "did you mean 'cc'?"),
    ("all(bulk.receiver[rate = bbr] > 1mbit)", 24, "there is no parameter 'rate'"),
    (
        "all(bulk.receiver[cc = bbr, n = 4] > 1mbit)",
        6,
        "no case has bulk.receiver[cc = bbr, n = 4]",
    ),
    ("all(n > 1, n > 2)", 6, "all() over the cases takes one thing"),
    ("all(1 < 2)", 10, "here is nothing of a case"),
    ("share(n > 1) > 1ms", 19, "this compares a plain number and a time"),
    ("all(jain(rtt) > 0)", 15, "'rtt' is no flow of iperf3"),
    ("all(mathis(10ms, 10ms, 1%) > n)", 10, "mathis(mss, rtt, loss): mss is a size, found"),
    ("all(bulk.receiver > 1mbit", 31, "the claim ends too early"),
    ("all(bulk.receiver[cc] > 1mbit)", 26, "the claim cannot be read from ']' on"),
    ("all(any(bulk.receiver > 1mbit where n == 9))", 42, "this leaves no case"),
]


@pytest.mark.parametrize(("expression", "column", "message"), WRONG)
def test_what_is_refused(expression: str, column: int, message: str, tmp_path: Path) -> None:
    where, said = error(f'{STUDY}claims:\n  - "{expression}"\n', tmp_path)
    assert message in said
    assert where == f"13:{column}: claims[0]"


def test_cases_that_are_written_one_by_one(tmp_path: Path) -> None:
    text = """\
title: x
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
flows: {rtt: {ping: h1 -> h2}}
cases: {first: , second: {flows: {bulk: {iperf3: h1 -> h2}}}, third: }
claims:
  - all(rtt.avg < 20ms)
  - all(bulk.receiver > 1mbit)
  - all(rtt.avg <= first.rtt.avg where rtt.loss == 0)
"""
    study = read(text, tmp_path)
    assert [len(claim.cases) for claim in study.claims] == [3, 1, 3]
    measured = {
        "first": {"rtt.avg_s": 0.015, "rtt.loss": 0},
        "second": {"rtt.avg_s": 0.01, "rtt.loss": 0, "bulk.receiver_bps": 2e6},
        "third": {"rtt.avg_s": 0.018, "rtt.loss": 0.5},
    }
    assert [claim.holds(measured) for claim in study.claims] == [True, True, True]
    _, said = error(text.replace("< 20ms", "< 20ms where n > 1"), tmp_path)
    assert "only the cases of a grid have parameters" in said
    _, said = error(text.replace("all(rtt.avg <", "all(rtt.avg[n = 1] <"), tmp_path)
    assert "only the cases of a grid have parameters" in said


def test_a_claim_can_be_sent_to_another_process(study: Study, tmp_path: Path) -> None:
    found = claim("all(round(bulk.receiver / 1mbit) > 1 where n < 9)", tmp_path)
    again: Claim = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.holds(results(study))


NUMBERS = st.recursive(
    st.sampled_from(
        ["(bulk.receiver / rate)", "(rtt.avg / 10ms)", "n", "loss", "2", "0", "(rtt.mdev / 1s)"]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(
            lambda three: f"({three[0]} {three[1]} {three[2]})"
        ),
        inner.map(lambda text: f"abs({text})"),
        inner.map(lambda text: f"sqrt({text})"),
        st.tuples(inner, inner).map(lambda two: f"max({two[0]}, {two[1]})"),
        st.tuples(inner, inner).map(lambda two: f"jain({two[0]}, {two[1]})"),
    ),
    max_leaves=6,
)
CONDITIONS = st.recursive(
    st.tuples(NUMBERS, st.sampled_from(["<", ">=", "=="]), NUMBERS).map(" ".join),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
        inner.map(lambda text: f"not ({text})"),
    ),
    max_leaves=3,
)


@given(text=CONDITIONS)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_column_says_what_the_cases_say_one_by_one(text: str, study: Study) -> None:
    measured = results(study)
    try:
        found = formula(f"share(n > 0 and {text}) >= 0", study)
    except FormulaError as problem:
        assert "nested" in problem.message or "0" in text
        return
    alone = 0
    for name, planned in study.cases.items():
        plain = f"1 > 0 and {text}"
        for metric in ("bulk.receiver", "rtt.avg", "rtt.mdev"):
            plain = plain.replace(metric, f"{name}.{metric}")
        settings = {key: one.text for key, one in planned.parameters.items()}
        words = {"rate": "100mbit", "n": settings["n"], "loss": settings["loss"]}
        plain = " ".join(words.get(word, word) for word in _words(plain))
        try:
            alone += holds(formula(plain, study), measured)
        except FormulaError as problem:
            assert "0" in plain, problem  # a bare 0 fits any dimension, and its square root none
            return
    assert found.over[0].tally(measured).holding == alone


def _words(text: str) -> list[str]:
    for sign in "(),":
        text = text.replace(sign, f" {sign} ")
    return text.split()


def test_thousands_of_cases_are_judged_at_once(tmp_path: Path) -> None:
    text = STUDY.replace("n: [1, 2, 4]", "n: {from: 1, to: 625, steps: 625}")
    text = text.replace("where: cc == cubic or n < 4\n", "")
    text += "claims:\n" + "".join(
        f"  - all(bulk.receiver[cc = bbr] > {k}bit * jain(n, {k + 1}) where n > {k})\n"
        for k in range(20)
    )
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    study = read_study(tmp_path)
    assert len(study.cases) == 5000
    table = Table({name: {"bulk.receiver_bps": 1e9} for name in study.cases}, tuple(study.cases))
    start = time.process_time()
    assert all(claim.holds(table) for claim in study.claims)
    # Half a second where it was written.
    assert time.process_time() - start < 10
