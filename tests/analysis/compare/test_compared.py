"""Sides, their cases, and what of their results is real, on made-up runs."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import numpy as np
import pytest

from longfat.analysis.compare import Significance, compare_sides, compare_verdicts, make_side
from longfat.analysis.compare.changes import Change
from longfat.analysis.compare.compared import SharedChange
from longfat.analysis.compare.differences import Difference
from longfat.analysis.compare.sides import match_cases
from longfat.analysis.verdict import evaluate
from longfat.cli.render.comparison_text import tallies
from longfat.errors import InputError
from longfat.execution.runs import Run, Tool
from longfat.model.metric import Unit
from longfat.model.parameter import ParameterValue
from longfat.model.spread import spread_of
from longfat.study import read_study
from tests.analysis.compare.conftest import SEEDED

Made = Callable[..., list[Run]]
RATE, LOSS, COUNT = "bulk.receiver_bps", "rtt.loss", "bulk.retransmits"
LOW, HIGH = [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]


def only(a: list[Run], b: list[Run]) -> Difference:
    (contrast,) = compare_sides([make_side("a", {"x": a}), make_side("b", {"x": b})]).contrasts
    (difference,) = contrast.differences
    return difference


@pytest.mark.parametrize(
    ("a", "b", "significance"),
    [
        (LOW, HIGH, Significance.REAL),
        (LOW, [2.5, 3.5, 4.5, 5.5], Significance.UNPROVEN),
        (LOW[:3], HIGH[:3], Significance.FEW),
        ([1.0], HIGH, Significance.FEW),
        ([1.0, 1.0], [2.0, 2.0], Significance.STEADY),
        ([1.0] * 4, [2.0] * 4, Significance.REAL),
        ([1.0] * 4, [1.0] * 3, Significance.SAME),
        ([1.0], [2.0], Significance.EXACT),
        ([1.0], [1.0], Significance.SAME),
        ([None, None], [1.0, 2.0], Significance.ONE_SIDED),
        ([1.0, float("nan")], [float("inf"), None], Significance.ONE_SIDED),
    ],
)
def test_how_much_a_difference_is_worth(
    made: Made, a: list[float], b: list[float], significance: Significance
) -> None:
    difference = only(made({RATE: a}), made({RATE: b}, digest="b"))
    assert difference.significance is significance
    assert (difference.p is not None) == (difference.adjusted_p is not None)
    assert (difference.p is not None) == (
        significance in (Significance.REAL, Significance.UNPROVEN)
    )


def test_equal_bytes_are_no_draws_to_compare(made: Made) -> None:
    difference = only(made({RATE: LOW}), made({RATE: LOW}))
    assert (difference.significance, difference.p) == (Significance.SAME, None)
    # The same numbers from other seeds are draws.
    assert only(made({RATE: LOW}), made({RATE: LOW}, first=9)).significance is Significance.UNPROVEN


def test_the_numbers_of_a_difference(made: Made) -> None:
    one = only(made({RATE: LOW}), made({RATE: HIGH}))
    assert (one.a, one.b) == (spread_of(LOW), spread_of(HIGH))
    assert (one.change, one.relative) == (4.0, 1.6)
    assert (one.shift, one.superiority, one.up) == (4.0, 1.0, True)
    assert one.p == one.adjusted_p == pytest.approx(2 / 70)
    assert (one.title, one.unit) == ("bulk receiver", Unit.BPS)
    assert only(made({LOSS: LOW}), made({LOSS: HIGH})).relative is None  # shares, as they are
    assert only(made({COUNT: [0.0] * 4}), made({COUNT: LOW})).relative is None  # of nothing


def test_spreads_are_those_of_a_verdict(made: Made) -> None:
    random = np.random.default_rng(3)
    for count in (1, 2, 5, 6, 20):
        values = random.normal(size=count).tolist()
        assert only(made({RATE: values}), made({RATE: LOW})).a == spread_of(values)


def test_many_comparisons_make_one_less_certain(made: Made) -> None:
    a = {f"c{k}": made({RATE: LOW}, name=f"c{k}") for k in range(2)}
    b = {
        "c0": made({RATE: HIGH}, name="c0"),
        "c1": made({RATE: [1.5, 2.5, 3.5, 2.2]}, name="c1"),
    }
    (contrast,) = compare_sides([make_side("a", a), make_side("b", b)]).contrasts
    first, second = contrast.differences
    assert first.adjusted_p == pytest.approx(4 / 70)
    assert (first.significance, second.significance) == (
        Significance.UNPROVEN,
        Significance.UNPROVEN,
    )
    b["c1"] = made({RATE: HIGH}, name="c1")
    assert compare_sides([make_side("a", a), make_side("b", b)]).contrasts[0].of(Significance.REAL)


def test_cases_are_matched_by_name_then_by_parameters(made: Made) -> None:
    def setting(number: float) -> dict[str, dict[str, ParameterValue]]:
        return {"parameters": {"rtt": ParameterValue(text="?", number=number, unit=Unit.SECONDS)}}

    a = make_side(
        "a",
        {
            "same": made({RATE: [1.0]}, name="same", **setting(0.1)),
            "rtt=10": made({RATE: [1.0]}, name="rtt=10", **setting(0.01)),
            "left": made({RATE: [1.0]}, name="left"),
        },
    )
    b = make_side(
        "b",
        {
            "rtt10": made({RATE: [1.0]}, name="rtt10", **setting(0.01)),
            "other": made({RATE: [1.0]}, name="other", **setting(0.1)),
            "same": made({RATE: [1.0]}, name="same"),
        },
    )
    found = match_cases(a, b)
    assert [pair.name for pair in found.pairs] == ["same", "rtt=10 | rtt10"]
    assert (found.only_a, found.only_b) == (("left",), ("other",))
    assert compare_sides([a, b]).differs


def test_two_lone_cases_are_matched_whatever_they_are_called(made: Made) -> None:
    a = make_side("a", {"cubic": made({RATE: [1.0]}, name="cubic")})
    b = make_side("b", {"reno": made({RATE: [1.0]}, name="reno")})
    assert [pair.name for pair in match_cases(a, b).pairs] == ["cubic | reno"]


def test_a_change_that_cases_share_is_reported_once(made: Made) -> None:
    names = ("c0", "c1", "c2")
    a = {name: made({RATE: [1.0]}, name=name) for name in names}
    b = {
        name: made(
            {RATE: [1.0]},
            name=name,
            case={"kernel": "6.12", "memory_bytes": 1 << 30 if name == "c1" else 512 << 20},
        )
        for name in names
    }
    (contrast,) = compare_sides([make_side("a", a), make_side("b", b)]).contrasts
    assert contrast.changes == (
        SharedChange(Change("kernel", "6.1", "6.12"), names),
        SharedChange(Change("memory", "512MB", "1GB"), ("c1",)),
    )


def test_environment(made: Made) -> None:
    def side(release: str, **tools: Tool) -> list[Run]:
        kernel = {"digest": release, "release": release, "binary_sha256": ""}
        return made({RATE: [1.0]}, kernel=kernel, tools=tools)

    a = side(
        "6.1.1",
        tc=Tool(version="tc 1", digest="aa"),
        ip=Tool(version="ip 1", digest="bb"),
        ping=Tool(version="", digest="cc"),
    )
    b = side(
        "6.1.2",
        tc=Tool(version="tc 2", digest="ab"),
        ip=Tool(version="ip 1", digest="bd"),
        iperf3=Tool(version="", digest=""),
    )
    (contrast,) = compare_sides([make_side("a", {"x": a}), make_side("b", {"x": b})]).contrasts
    assert contrast.environment == (
        Change("Linux", "6.1.1", "6.1.2"),
        Change("tc", "tc 1", "tc 2"),
        Change("ip", "ip 1, bytes bb", "ip 1, bytes bd"),
    )


def test_equal_runs_and_those_that_should_be_equal(made: Made) -> None:
    a = make_side("a", {"x": made({RATE: LOW})})
    assert compare_sides([a, a]).contrasts[0].identical
    assert not compare_sides([a, a]).differs
    other = make_side("b", {"x": [*a.runs["x"][:3], *made({RATE: [9.0]}, first=4)]})
    (contrast,) = compare_sides([a, other]).contrasts
    (same,) = contrast.sameness
    assert (same.equal, same.seeds, contrast.identical) == (3, 4, False)
    # Case, kernel and tools are the same, and the bytes are not.
    assert [(one.seed, two.seed) for one, two in contrast.broken] == [(4, 4)]
    assert contrast.differs


def test_single_runs_whose_bytes_differ_and_whose_metrics_do_not(made: Made) -> None:
    a = made({RATE: [1.0]})
    b = made({RATE: [1.0]}, digest="other", case={"kernel": "6.12"})
    compared = compare_sides([make_side("a", {"x": a}), make_side("b", {"x": b})])
    assert compared.differs
    assert not compared.contrasts[0].broken


def test_runs_of_a_case_must_be_of_one_case_and_kernel(made: Made) -> None:
    runs = made({RATE: LOW})
    with pytest.raises(InputError, match="runs of one case with one seed"):
        make_side("a", {"x": [*runs, runs[0]]})
    with pytest.raises(InputError, match="the study was changed between the two"):
        make_side("a", {"x": [*runs, *made({RATE: [1.0]}, first=5, case={"kernel": "6.12"})]})
    other = {"digest": "d" * 64, "release": "6.1.9", "binary_sha256": ""}
    with pytest.raises(InputError, match=r"its kernel is 6\.1\.9 \(dddddddddddd\)"):
        make_side("a", {"x": [*runs, *made({RATE: [1.0]}, first=5, kernel=other)]})
    with pytest.raises(InputError, match="there are no runs to compare"):
        make_side("a", {"x": []})


def test_verdicts_and_their_claims(made: Made) -> None:
    study = read_study(SEEDED)
    metrics = {"bulk.receiver_bps": [1e6, 2e6], "bulk.retransmits": [100.0, 90.0]}
    many, few = ({**metrics, "bulk.retransmits": counts} for counts in ([100, 90], [1, 2]))
    fast = made({"bulk.receiver_bps": [9e6]}, name="clean")
    verdicts = {
        label: evaluate(study, {"lossy": made(numbers), "clean": fast})
        for label, numbers in (("6.1", many), ("6.12", few), ("6.6", many))
    }
    compared = compare_verdicts(verdicts)
    assert [one.b.label for one in compared.contrasts] == ["6.12", "6.6"]
    assert {one.a.label for one in compared.contrasts} == {"6.1"}
    changed, same = compared.contrasts
    assert [(one.text, one.a, one.b) for one in changed.claims] == [
        ("and retransmissions", True, False)
    ]
    assert same.claims == ()
    assert same.identical
    data = json.loads(json.dumps(compared.to_json()))
    assert data["differs"] is True
    assert data["test"]["correction"] == "Benjamini-Hochberg"
    assert data["contrasts"][0]["claims"] == [
        {"text": "and retransmissions", "a": True, "b": False}
    ]
    (told,) = [
        one
        for one in data["contrasts"][0]["differences"]
        if one["metric"] == "bulk.retransmits" and one["case"] == "lossy"
    ]
    assert (told["a"]["median"], told["b"]["median"], told["significance"]) == (
        95,
        1.5,
        "few seeds",
    )


def test_a_grid_that_moved_alike_is_reported_in_one_line(made: Made) -> None:
    a, b = {}, {}
    for k in range(5):
        name = f"c{k}"
        a[name] = made({RATE: LOW, COUNT: LOW}, name=name)
        b[name] = made({RATE: HIGH if k else LOW, COUNT: [9 * v for v in HIGH]}, name=name, first=9)
    a["c4"] = made({RATE: [10 * v for v in HIGH], COUNT: LOW}, name="c4")
    (contrast,) = compare_sides([make_side("a", a), make_side("b", b)]).contrasts
    first, second = tallies(contrast.differences, [Significance.REAL])
    assert (first.title, first.up, first.down, first.cases) == ("bulk retransmissions", 5, 0, 5)
    assert (second.title, second.up, second.down, second.cases) == ("bulk receiver", 3, 1, 5)
    assert second.relative == pytest.approx(1.6)
    assert first.relative == pytest.approx((58.5 - 2.5) / 2.5)


def test_the_test_of_many_sides_is_corrected_over_all(made: Made) -> None:
    sides = [
        make_side("a", {"x": made({RATE: LOW})}),
        make_side("b", {"x": made({RATE: HIGH}, first=9)}),
        make_side("c", {"x": made({RATE: LOW}, first=20)}),
    ]
    assert compare_sides(sides).tests == 2
    assert not compare_sides(sides).contrasts[0].of(Significance.REAL)
    assert compare_sides(sides[:2]).contrasts[0].of(Significance.REAL)


def test_thousands_of_cases(made: Made) -> None:
    random = np.random.default_rng(5)
    base = made({RATE: [1.0]})[0]
    cases = [dataclasses.replace(base.case, seed=seed) for seed in range(6)]

    def side(label: str, moved: float) -> dict[str, list[Run]]:
        return {
            f"c{k}": [
                dataclasses.replace(
                    base,
                    name=f"c{k}",
                    seed=seed,
                    case=cases[seed],
                    digest=f"{label}{k}{seed}",
                    kernel={**base.kernel, "digest": label},
                    metrics={
                        RATE: random.normal(10 + moved * (k < 300), 1),
                        COUNT: random.poisson(3),
                    },
                )
                for seed in range(6)
            ]
            for k in range(1000)
        }

    (contrast,) = compare_sides(
        [make_side("a", side("a", 0)), make_side("b", side("b", 6))]
    ).contrasts
    real = contrast.of(Significance.REAL)
    false = [one for one in real if one.metric != RATE or int(one.case[1:]) >= 300]
    assert len(real) >= 300
    assert len(false) <= 0.05 * len(real)
