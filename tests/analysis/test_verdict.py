"""Judging runs of several seeds: five real runs of a path with loss, one of the same without."""

from __future__ import annotations

import dataclasses
import json

import pytest

from longfat.analysis.verdict import SeedCount, Verdict, evaluate
from longfat.execution.runs import Run, load_run
from longfat.study import Study, read_study
from longfat.study.read import parse_study
from tests.paths import TESTS

FOLDER = TESTS / "data" / "runs" / "seeded"

RETRANSMISSIONS = "and retransmissions"  # lossy.bulk.retransmits > 60; 168, 65, 37, 45 and 134 were
COSTS = "loss costs throughput"  # lossy.bulk.receiver < clean.bulk.receiver


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study(FOLDER)


@pytest.fixture(scope="module")
def lossy() -> list[Run]:
    return [load_run(FOLDER / f"lossy-seed{seed}") for seed in range(1, 6)]


@pytest.fixture(scope="module")
def clean() -> Run:
    return load_run(FOLDER / "clean-seed1")


def scaled(run: Run, *factors: float) -> list[Run]:
    """Return runs with other seeds, whose numbers are as many times those of the run."""
    return [
        dataclasses.replace(
            run,
            seed=index,
            metrics={key: factor * value for key, value in run.metrics.items()},
        )
        for index, factor in enumerate(factors, start=1)
    ]


def judged(verdict: Verdict, text: str) -> tuple[bool | None, SeedCount | None]:
    (found,) = [one for one in verdict.claims if one.claim.text == text]
    return found.passed, found.seeds


def test_one_seed(study: Study, lossy: list[Run], clean: Run) -> None:
    verdict = evaluate(study, {"lossy": lossy[:1], "clean": [clean]})
    assert not verdict.many_seeds
    assert verdict.good
    assert verdict.medians("lossy") == lossy[0].metrics
    assert verdict.first_runs == {"lossy": lossy[0], "clean": clean}
    assert all(one.seeds is None for one in verdict.claims)
    assert all(one.inside_band is None for one in verdict.published)


def test_claims_are_judged_on_the_medians(study: Study, lossy: list[Run], clean: Run) -> None:
    verdict = evaluate(study, {"lossy": lossy, "clean": [clean]})
    assert verdict.many_seeds
    assert judged(verdict, RETRANSMISSIONS) == (True, SeedCount(3, 5, failing=(3, 4)))
    assert judged(verdict, COSTS) == (True, None)
    assert verdict.good
    verdict = evaluate(study, {"lossy": lossy[1:4]})
    assert judged(verdict, RETRANSMISSIONS) == (False, SeedCount(1, 3, failing=(3, 4)))
    assert judged(verdict, COSTS) == (None, None)
    assert not verdict.good


def test_the_kth_runs_are_taken_together(study: Study, lossy: list[Run], clean: Run) -> None:
    fast_then_slow = scaled(clean, 1, 0.1)
    slow_then_fast = scaled(lossy[0], 0.1, 1)
    together = {"clean": fast_then_slow, "lossy": slow_then_fast[::-1]}
    apart = {"clean": fast_then_slow, "lossy": slow_then_fast}
    assert judged(evaluate(study, together), COSTS) == (True, SeedCount(2, 2))
    assert judged(evaluate(study, apart), COSTS) == (True, SeedCount(1, 2, failing=(2,)))


def test_unlike_numbers_of_runs_are_not_paired(study: Study, lossy: list[Run], clean: Run) -> None:
    runs = {"lossy": lossy, "clean": scaled(clean, 1, 1)}
    assert judged(evaluate(study, runs), COSTS) == (True, None)


def test_cases_with_other_seeds_have_no_seeds_that_fail(
    study: Study, lossy: list[Run], clean: Run
) -> None:
    runs = {"lossy": lossy[2:4], "clean": scaled(clean, 1, 0.1)}
    assert judged(evaluate(study, runs), COSTS) == (True, SeedCount(1, 2))


def test_a_claim_over_seeds_is_judged_on_several(lossy: list[Run], clean: Run) -> None:
    source = (FOLDER / "study.yaml").read_text(encoding="utf-8")
    written = "lossy.bulk.retransmits > 60"
    assert source.count(written) == 1
    study = parse_study(source.replace(written, f"{written} over seeds"), name="study.yaml")
    verdict = evaluate(study, {"lossy": lossy, "clean": [clean]})
    assert judged(verdict, RETRANSMISSIONS) == (True, SeedCount(3, 5, failing=(3, 4)))
    single = evaluate(study, {"lossy": lossy[:1], "clean": [clean]})
    assert judged(single, RETRANSMISSIONS) == (None, None)
    assert single.good


def test_a_metric_that_only_some_runs_have(study: Study, lossy: list[Run]) -> None:
    key = "bulk.retransmits"
    bare = {k: v for k, v in lossy[0].metrics.items() if k != key}
    verdict = evaluate(study, {"lossy": [dataclasses.replace(lossy[0], metrics=bare), *lossy[1:]]})
    assert verdict.spreads["lossy"][key].count == 4
    assert verdict.spreads["lossy"][key].median == 55
    assert judged(verdict, RETRANSMISSIONS) == (False, SeedCount(2, 5, failing=(1, 3, 4)))


def test_where_the_published_figure_falls(study: Study, lossy: list[Run]) -> None:
    def inside(runs: list[Run]) -> dict[str, bool | None]:
        published = evaluate(study, {"lossy": runs}).published
        return {one.figure.metric: one.inside_band for one in published if one.spread}

    assert inside(lossy)["bulk.sender_bps"] is True  # 24 Mbit/s among 20 to 36
    assert inside(lossy)["bulk.receiver_bps"] is False  # 60 Mbit/s
    assert inside(lossy[:2])["bulk.sender_bps"] is False  # 29 and 35 Mbit/s
    assert set(inside(lossy[:1]).values()) == {None}


def test_json(study: Study, lossy: list[Run]) -> None:
    data = json.loads(json.dumps(evaluate(study, {"lossy": lossy}).to_json()))
    assert list(data["cases"]) == ["lossy"]
    found = data["cases"]["lossy"]
    metric = "bulk.sender_bps"
    values = sorted(run.metrics[metric] for run in lossy)
    assert found["metrics"][metric] == values[2]
    assert found["spread"][metric] == {
        "low": pytest.approx(values[0] + 0.2 * (values[1] - values[0])),
        "high": pytest.approx(values[4] - 0.2 * (values[4] - values[3])),
        "count": 5,
    }
    assert [run["seed"] for run in found["runs"]] == [1, 2, 3, 4, 5]
    assert found["runs"][0]["metrics"] == lossy[0].metrics
    assert set(found["runs"][0]) == {
        *("seed", "digest", "run_dir", "virtual_s", "wall_s", "metrics"),
    }
    (claim,) = [one for one in data["claims"] if one["text"] == RETRANSMISSIONS]
    assert (claim["holds"], claim["over_seeds"]) == (True, False)
    assert claim["seeds"] == {"holding": 3, "count": 5, "failing": [3, 4]}
    published = {(one["case"], one["metric"]): one for one in data["published"]}
    assert published["lossy", metric]["inside_band"] is True
    assert published["clean", "rtt.min_s"]["measured"] is None
    assert published["clean", "rtt.min_s"]["count"] == 0
