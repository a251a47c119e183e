"""What becomes of cases that Dask schedules: on real workers that die, stop, or lack things."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import pytest

from longfat.errors import HostError, MachineError
from longfat.execution.executor import RunId, RunTask
from longfat_cluster.executor import Cluster
from tests.conftest import processes_running
from tests.longfat_cluster.conftest import Hearer, Hosts, eventually, own_cache

MakeWorks = Callable[..., list[RunTask]]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

HERE = Path(__file__).parent
FAULTY = ("--preload", str(HERE / "faulty.py"))


def run(hosts: Hosts, run_tasks: list[RunTask], hearer: Hearer) -> list[str]:
    """Run works, and return the warnings."""
    warned: list[str] = []
    Cluster(scheduler=hosts.address, warn=warned.append).execute(
        run_tasks, listener=hearer, stop=threading.Event()
    )
    return warned


def test_the_costliest_first(hosts: Hosts, hearer: Hearer, make_works: MakeWorks) -> None:
    hosts.worker("a")
    hosts.wait_for(1)
    run_tasks = [
        replace(run_task, cost=replace(run_task.cost, wall_s=cost_s))
        for run_task, cost_s in zip(make_works(5), (3.0, 50.0, 1.0, 2000.0, 7.0), strict=True)
    ]
    assert run(hosts, run_tasks, hearer) == []
    assert list(hearer.done_runs) == ["case3", "case1", "case4", "case0", "case2"]


def test_a_case_whose_worker_dies_three_times_fails(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks
) -> None:
    for name in "abcd":
        hosts.worker(name, options=FAULTY, environment={"LONGFAT_FAULT": "dies of case1"})
    hosts.wait_for(4)
    warned = run(hosts, make_works(6), hearer)
    assert sorted(hearer.done_runs) == ["case0", "case2", "case3", "case4", "case5"]
    (error,) = hearer.failures.values()
    assert isinstance(error, MachineError)
    begin = "case 'case1': the worker that ran it died, 3 times: "
    assert str(error).startswith(begin)
    died = str(error).removeprefix(begin).split(", ")
    assert len(set(died)) == 3
    assert [text.split()[1] for text in warned] == died
    assert all(text.endswith("is lost; its cases go to others") for text in warned)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGSTOP])
def test_a_worker_that_is_ordered_to_end_or_stops_loses_nothing(
    hearer: Hearer, make_works: MakeWorks, tmp_path: Path, how: signal.Signals
) -> None:
    hosts = Hosts(tmp_path, environment={"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "3s"})
    try:
        environment, binary = own_cache(tmp_path, "victim")
        log = tmp_path / "log"
        environment["LONGFAT_FAULT"] = f"logs {log}"
        victim = hosts.worker("victim", options=FAULTY, environment=environment)
        hosts.worker("other")
        hosts.wait_for(2)

        def stop_it(_: RunId) -> None:
            # It has a case, so it has been admitted: until then the kernel boots for that.
            if log.exists() and victim.poll() is None and processes_running(binary):
                victim.send_signal(how)

        hearer.on_progress = stop_it
        run_tasks = make_works(5, time_s=20.0, rate_bps=100_000_000)
        warned = run(hosts, run_tasks, hearer)
        assert hearer.failures == {}
        assert hearer.done_runs.keys() == {run_task.run_id.name for run_task in run_tasks}
        if how == signal.SIGSTOP:
            assert len(warned) == 1
            assert "is lost; its cases go to others" in warned[0]
        else:
            victim.wait(30)
            eventually(lambda: not processes_running(binary), what="its machine ends")
    finally:
        hosts.close()


def test_what_a_worker_lacks_is_tried_elsewhere_and_reported(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks
) -> None:
    hosts.worker("lacks", options=FAULTY, environment={"LONGFAT_FAULT": "lacks room on its disk"})
    hosts.wait_for(1)
    assert run(hosts, make_works(1), hearer) == []
    error = hearer.failures.pop("case0")
    assert isinstance(error, HostError)
    assert error.message.startswith("worker tcp://")
    assert error.message.endswith(": room on its disk")
    assert error.hint == "get it"

    hosts.worker("good")
    hosts.wait_for(2)
    warned = run(hosts, make_works(4), hearer)
    assert (len(hearer.done_runs), hearer.failures) == (4, {})
    assert len(warned) == 1
    assert warned[0].endswith(" gets no cases: room on its disk")


def test_invalid_answers_before_the_first_case(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks
) -> None:
    for fault in ("describes", "prepares"):
        hosts.worker(fault, options=FAULTY, environment={"LONGFAT_FAULT": fault})
    hosts.wait_for(2)
    with pytest.raises(HostError, match=r"no worker of tcp://\S+ can be used") as caught:
        run(hosts, make_works(1), hearer)
    assert "its description of itself is invalid" in str(caught.value)
    assert "its answer about its preparation is invalid" in str(caught.value)


def test_a_result_that_is_too_large(hosts: Hosts, hearer: Hearer, make_works: MakeWorks) -> None:
    environment = {"LONGFAT_FAULT": "returns at most 10"}
    hosts.worker("a", options=FAULTY, environment=environment)
    hosts.wait_for(1)
    assert run(hosts, make_works(1), hearer) == []
    (error,) = hearer.failures.values()
    assert isinstance(error, HostError)
    assert "its result has 0 MB packed, and at most 0 MB come back" in error.message
    assert "run it on this host (without --cluster)" in error.message


def test_machines_take_no_more_memory_than_a_worker_has(
    hosts: Hosts, make_works: MakeWorks, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    hosts.worker(
        "a",
        options=(*FAULTY, "--nthreads", "2", "--resources", "longfat-memory=1e9"),
        environment={"LONGFAT_FAULT": f"logs {log}"},
    )
    hosts.wait_for(1)

    def most_at_once(peak_bytes: tuple[float, ...]) -> int:
        log.unlink(missing_ok=True)
        hearer = Hearer()
        run_tasks = [
            replace(run_task, cost=replace(run_task.cost, peak_bytes=peak))
            for run_task, peak in zip(make_works(3), peak_bytes, strict=True)
        ]
        assert run(hosts, run_tasks, hearer) == []
        assert (len(hearer.done_runs), hearer.failures) == (3, {})
        steps = [1 if line.startswith("begin") else -1 for line in log.read_text().splitlines()]
        assert steps.count(1) == 3
        return max(accumulate(steps))

    # One of them needs more than there is: it runs, and alone.
    assert most_at_once((600e6, 5e9, 600e6)) == 1
    assert most_at_once((300e6, 300e6, 300e6)) == 2


def test_a_scheduler_that_hangs_keeps_nobody(make_works: MakeWorks, tmp_path: Path) -> None:
    hosts = Hosts(tmp_path)
    hearer = Hearer()
    try:
        hosts.worker("a")
        hosts.wait_for(1)
        stop = threading.Event()

        def hang(_: RunId) -> None:
            hosts.scheduler.send_signal(signal.SIGSTOP)
            stop.set()

        hearer.on_progress = hang
        run_tasks = make_works(1, time_s=500.0, rate_bps=1_000_000_000)
        begin_s = time.monotonic()
        Cluster(scheduler=hosts.address).execute(run_tasks, listener=hearer, stop=stop)
        assert hearer.heard
        assert (hearer.done_runs, hearer.failures) == ({}, {})
        assert time.monotonic() - begin_s < 60
    finally:
        hosts.close()
