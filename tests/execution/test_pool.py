"""The pool: which works begin when, and how they end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.errors import InputError, LongfatError
from longfat.execution import Pool, Progress, RunId, RunObserver, RunTask
from longfat.execution.cost import expected_cost
from longfat.execution.runs import Run
from longfat.model.case import Case
from longfat.model.traffic import Ping

MakeCase = Callable[..., Case]
GB = 1e9


class Log(RunObserver):
    """A listener that notes in which order things happen."""

    def __init__(self, stop: threading.Event | None = None) -> None:
        self.events: list[tuple[str, str]] = []
        self.errors: list[LongfatError] = []
        self._stop = stop
        self._lock = threading.Lock()

    def _note(self, what: str, name: str) -> None:
        with self._lock:
            if (what, name) not in self.events:
                self.events.append((what, name))

    def progress(self, run_id: RunId, progress: Progress) -> None:
        assert run_id.name == progress.name
        self._note("runs", run_id.name)
        if self._stop is not None:
            self._stop.set()

    def done(self, run_id: RunId, run: Run) -> None:
        assert (run.folder / "manifest.json").exists()
        self._note("done", run_id.name)

    def failed(self, run_id: RunId, error: LongfatError) -> None:
        self.errors.append(error)
        self._note("failed", run_id.name)


def run_task(
    out: Path, name: str, case: Case, *, wall_s: float = 1.0, peak: float = 0.1 * GB
) -> RunTask:
    cost = replace(expected_cost(case), wall_s=wall_s, peak_bytes=peak)
    return RunTask(
        run_id=RunId(batch=0, name=name, seed=case.seed),
        case=case,
        out=out,
        cost=cost,
        study="studied",
    )


@pytest.fixture
def ping(make_case: MakeCase) -> Case:
    return make_case(Ping(name="rtt", source="h1", target="h2", count=2))


def test_the_costliest_begin_first(tmp_path: Path, ping: Case) -> None:
    log = Log()
    run_tasks = [
        run_task(tmp_path, name, ping, wall_s=s) for name, s in (("a", 1), ("b", 3), ("c", 2))
    ]
    Pool(1).execute(run_tasks, listener=log, stop=threading.Event())
    assert [name for what, name in log.events if what == "done"] == ["b", "c", "a"]


def test_memory_bounds_how_many_run(tmp_path: Path, ping: Case) -> None:
    log = Log()
    run_tasks = [
        run_task(tmp_path, "wide", ping, wall_s=3, peak=0.7 * GB),
        run_task(tmp_path, "broad", ping, wall_s=2, peak=0.6 * GB),
        run_task(tmp_path, "huge", ping, wall_s=1, peak=5 * GB),  # fits never, and runs alone
    ]
    pool = Pool(3, memory_bytes=GB)
    pool.execute(run_tasks, listener=log, stop=threading.Event())
    assert log.events == [
        (what, name) for name in ("wide", "broad", "huge") for what in ("runs", "done")
    ]


def test_a_small_one_takes_the_room_that_a_large_one_has_not(tmp_path: Path, ping: Case) -> None:
    log = Log()
    run_tasks = [
        run_task(tmp_path, "wide", ping, wall_s=3, peak=0.7 * GB),
        run_task(tmp_path, "broad", ping, wall_s=2, peak=0.6 * GB),
        run_task(tmp_path, "small", ping, wall_s=1, peak=0.1 * GB),
    ]
    Pool(2, memory_bytes=GB).execute(run_tasks, listener=log, stop=threading.Event())
    assert log.events.index(("runs", "small")) < log.events.index(("runs", "broad"))


def test_a_failure_ends_no_other_work(tmp_path: Path, make_case: MakeCase, ping: Case) -> None:
    log = Log()
    run_tasks = [
        run_task(tmp_path, "bad", make_case(root=("false",))),
        run_task(tmp_path, "good", ping),
    ]
    Pool(1).execute(run_tasks, listener=log, stop=threading.Event())
    assert ("failed", "bad") in log.events
    assert log.events[-1] == ("done", "good")
    (error,) = log.errors
    assert isinstance(error, InputError)


def test_stop_ends_what_runs_and_begins_nothing(tmp_path: Path, make_case: MakeCase) -> None:
    stop = threading.Event()
    log = Log(stop)
    endless = make_case(Ping(name="rtt", source="h1", target="h2", count=10**6, interval_s=0.001))
    run_tasks = [run_task(tmp_path, name, endless) for name in ("a", "b", "c")]
    Pool(1).execute(run_tasks, listener=log, stop=stop)
    assert log.events == [("runs", "a")]
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_our_own_ends_the_others(tmp_path: Path, make_case: MakeCase) -> None:
    class Broken(Log):
        def progress(self, run_id: RunId, progress: Progress) -> None:
            super().progress(run_id, progress)
            raise ZeroDivisionError

    endless = make_case(Ping(name="rtt", source="h1", target="h2", count=10**6, interval_s=0.001))
    run_tasks = [run_task(tmp_path, name, endless) for name in ("a", "b", "c")]
    with pytest.raises(ZeroDivisionError):
        Pool(2).execute(run_tasks, listener=Broken(), stop=threading.Event())
    assert list(tmp_path.iterdir()) == []
