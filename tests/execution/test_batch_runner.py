"""Many seeds and many studies: the same bytes as one by one, once each, and told errors."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.errors import ExitCode, InputError, LongfatError
from longfat.execution import (
    Batch,
    Outcome,
    RunId,
    RunObserver,
    RunTask,
    run_batches,
    run_case,
    run_cases,
)
from longfat.execution.cache import ResultCache
from longfat.execution.runs import Run, load_run
from longfat.model.case import Case
from longfat.model.traffic import Iperf3, Ping
from longfat.study import Planned

MakeCase = Callable[..., Case]
LOSSY = (
    "tc qdisc add dev s1-eth2 root handle 1: netem delay 10ms loss 1%",
    "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 50mbit burst 50000 limit 250000",
)
BULK = Iperf3(name="bulk", source="h1", target="h2", time_s=1.0)
PING = Ping(name="rtt", source="h1", target="h2", count=2)


class Told(RunObserver):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.run_ids: list[RunId] = []
        self.from_cache: list[RunId] = []
        self.runs: dict[RunId, Run] = {}
        self.errors: dict[RunId, LongfatError] = {}
        self._lock = threading.Lock()

    def planned(self, run_tasks: object) -> None:
        assert isinstance(run_tasks, list)
        self.run_ids = [run_task.run_id for run_task in run_tasks if isinstance(run_task, RunTask)]

    def cached(self, run_id: RunId, run: Run) -> None:
        assert run.seed == run_id.seed
        self.from_cache.append(run_id)

    def done(self, run_id: RunId, run: Run) -> None:
        with self._lock:
            self.runs[run_id] = run

    def failed(self, run_id: RunId, error: LongfatError) -> None:
        with self._lock:
            self.errors[run_id] = error


def plan(case: Case, *, seeds: int = 1) -> Planned:
    return Planned(case=case, title="", seeds=seeds)


def counts(outcome: Outcome) -> tuple[int, int, int, int]:
    return outcome.cached, outcome.ran, len(outcome.failures), outcome.left


def test_seeds_give_what_single_runs_give(tmp_path: Path, make_case: MakeCase) -> None:
    case = make_case(BULK, root=LOSSY, seed=5)
    told = Told()
    many = run_cases(
        {"lossy": plan(case, seeds=3), "idle": plan(make_case(PING))},
        out=tmp_path / "many",
        observer=told,
    )
    assert list(many) == ["lossy", "idle"]
    assert [run.seed for run in many["lossy"]] == [5, 6, 7]
    assert [run.folder.name for run in many["lossy"]] == [f"lossy-seed{k}" for k in (5, 6, 7)]
    assert [run.seed for run in many["idle"]] == [1]
    assert all(run.seed == run_id.seed for run_id, run in told.runs.items())
    assert {(run_id.name, run_id.seed) for run_id in told.runs} == {
        ("lossy", 5),
        ("lossy", 6),
        ("lossy", 7),
        ("idle", 1),
    }
    for run, single in zip(many["lossy"], plan(case, seeds=3).seeded(), strict=True):
        alone = run_case(single, name="alone", out=tmp_path / "alone")
        assert alone.digest == run.digest
        assert alone.metrics == run.metrics
    assert len({run.digest for run in many["lossy"]}) == 3


def test_studies_share_a_pool_and_equal_cases_run_once(tmp_path: Path, make_case: MakeCase) -> None:
    longer = Ping(name="rtt", source="h1", target="h2", count=2000, interval_s=0.01)
    batches = [
        Batch(cases={"short": plan(make_case(PING))}, out=tmp_path / "a", study="first"),
        Batch(
            cases={"twin": plan(make_case(PING)), "long": plan(make_case(longer))},
            out=tmp_path / "b",
            study="second",
        ),
    ]
    told = Told()
    outcome = run_batches(batches, jobs=1, observer=told)
    first, second = outcome.runs
    assert counts(outcome) == (0, 3, 0, 0)
    assert outcome.summary() == "3 runs: 0 cached, 3 run"
    assert (list(first), list(second)) == (["short"], ["twin", "long"])
    assert second["twin"][0].folder == tmp_path / "b" / "twin-seed1"
    assert load_run(tmp_path / "b" / "twin-seed1") == second["twin"][0]
    assert (second["twin"][0].name, second["twin"][0].study) == ("twin", "second")
    assert first["short"][0].digest == second["twin"][0].digest
    assert first["short"][0].wall_s == second["twin"][0].wall_s  # one and the same run
    assert [run_id.name for run_id in told.run_ids] == ["short", "long"]
    # Costliest first, over all studies.
    assert [run_id.name for run_id in told.runs] == ["long", "short", "twin"]


def test_what_is_cached_is_not_run_again(tmp_path: Path, make_case: MakeCase) -> None:
    case = make_case(PING)
    cache = ResultCache(report=pytest.fail)
    batch = Batch(cases={"near": plan(case, seeds=2)}, out=tmp_path / "a", study="one")
    first = run_batches([batch], cache=cache)
    assert counts(first) == (0, 2, 0, 0)
    told = Told()
    more = Batch(cases={"far": plan(case, seeds=3)}, out=tmp_path / "b", study="two")
    second = run_batches([more], cache=cache, observer=told)
    assert counts(second) == (2, 1, 0, 0)
    assert [run_id.seed for run_id in told.from_cache] == [1, 2]
    assert [run_id.seed for run_id in told.run_ids] == [3]
    runs = second.runs[0]["far"]
    assert [run.key for run in runs[:2]] == [run.key for run in first.runs[0]["near"]]
    assert [run.wall_s for run in runs[:2]] == [run.wall_s for run in first.runs[0]["near"]]
    assert {(run.name, run.study) for run in runs} == {("far", "two")}
    # Fresh runs give what is cached, and without a memory nothing is.
    assert counts(run_batches([batch], cache=cache, fresh=True)) == (0, 2, 0, 0)
    assert counts(run_batches([more])) == (0, 3, 0, 0)


def test_a_run_that_lies_there_is_taken_as_cached(tmp_path: Path, make_case: MakeCase) -> None:
    cases = {"near": plan(make_case(PING), seeds=2)}
    (one, two) = run_cases(cases, out=tmp_path)["near"]
    (two.raw / "rtt.txt").write_text("edited")
    again = run_batches([Batch(cases=cases, out=tmp_path, study="now")], cache=ResultCache())
    assert counts(again) == (1, 1, 0, 0)
    found = again.runs[0]["near"]
    assert (found[0].wall_s, found[0].study) == (one.wall_s, "now")
    assert (found[1].raw / "rtt.txt").read_text() != "edited"
    assert ResultCache().has(one.key)


def test_a_fresh_run_replaces_a_result_that_was_tampered_with(
    tmp_path: Path, make_case: MakeCase
) -> None:
    batch = Batch(cases={"near": plan(make_case(PING))}, out=tmp_path)
    ((run,),) = run_batches([batch], cache=ResultCache()).runs[0].values()
    (run.raw / "rtt.txt").write_text("edited")
    told: list[str] = []
    outcome = run_batches([batch], cache=ResultCache(report=told.append), fresh=True)
    assert outcome.exit_code == ExitCode.GOOD
    assert "raw/rtt.txt" in told[0]
    assert ResultCache(report=pytest.fail).check(run.key)


def test_failures_are_collected(tmp_path: Path, make_case: MakeCase) -> None:
    cases = {
        "bad": plan(make_case(PING, root=("false",)), seeds=2),
        "good": plan(make_case(PING)),
        "odd": plan(make_case(PING, kernel="5.99")),
    }
    batch = Batch(cases=cases, out=tmp_path)
    told = Told()
    outcome = run_batches([batch], jobs=1, cache=ResultCache(), keep_going=True, observer=told)
    assert counts(outcome) == (0, 1, 3, 0)
    assert list(outcome.runs[0]) == ["good"]
    assert [(one.run_id.name, one.run_id.seed) for one in outcome.failures] == [
        ("bad", 1),
        ("bad", 2),
        ("odd", 1),
    ]
    assert "with seed 2: case 'bad': `false` exited" in str(outcome.failures[1].error)
    assert [one.error.exit_code for one in outcome.failures] == [2, 2, 3]
    assert outcome.exit_code == ExitCode.HOST_FAILED  # the worst of them
    assert outcome.summary() == "4 runs: 0 cached, 1 run, 3 failed"
    assert set(told.errors) == {failure.run_id for failure in outcome.failures}
    # A case that is not whole is absent, but what is done of it is cached.
    del cases["odd"]
    cases["good"] = plan(make_case(PING), seeds=2)
    outcome = run_batches([batch], jobs=1, cache=ResultCache(), keep_going=True)
    assert counts(outcome) == (1, 1, 2, 0)


def test_the_first_failure_ends_all_without_keep_going(tmp_path: Path, make_case: MakeCase) -> None:
    cases = {f"bad{k}": plan(make_case(PING, root=(f"false {k}",))) for k in range(5)}
    outcome = run_batches([Batch(cases=cases, out=tmp_path)], jobs=1)
    assert counts(outcome) == (0, 0, 1, 4)
    assert outcome.exit_code == ExitCode.BAD_INPUT
    assert list(tmp_path.iterdir()) == []


def test_an_error_names_the_seed(tmp_path: Path, make_case: MakeCase) -> None:
    case = make_case(root=("false",), seed=7)
    # Side by side, the second may fail first, and then the first is ended.
    with pytest.raises(InputError, match=r"^with seed [78]: case 'bad': `false` exited"):
        run_cases({"bad": plan(case, seeds=2)}, out=tmp_path)
    assert list(tmp_path.iterdir()) == []
