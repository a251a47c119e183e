"""A real scheduler with real workers: what comes back, and what becomes of those that fail."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.engine.images import find_image
from longfat.errors import HostError, InputError, MachineError
from longfat.execution import run_case
from longfat.execution.cluster import Cluster, connection
from longfat.execution.executor import RunId, RunTask
from longfat.model.case import Command
from longfat.model.traffic import Ping
from tests.conftest import processes_running
from tests.engine.images.made import docker, small
from tests.execution.cluster.conftest import Hearer, Hosts, changed_copy, eventually, own_cache
from tests.paths import REPOSITORY

MakeWorks = Callable[..., list[RunTask]]
pytestmark = pytest.mark.xdist_group("cluster")


def test_runs_are_those_of_this_host(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks, tmp_path: Path
) -> None:
    environment, binary = own_cache(tmp_path, "a")
    hosts.worker("a", environment=environment)
    hosts.worker("b")
    hosts.wait_for(2)
    warned: list[str] = []
    (seen,) = make_works(1, time_s=60.0, rate_bps=100_000_000)  # long enough to be looked at
    run_tasks = [seen, *make_works(4)[1:]]
    Cluster(scheduler=hosts.address, warn=warned.append).execute(
        run_tasks, listener=hearer, stop=threading.Event()
    )
    assert warned == []
    assert hearer.failures == {}
    assert sorted(hearer.done_runs) == [run_task.run_id.name for run_task in run_tasks]
    assert any(virtual_s > 0 for virtual_s in hearer.heard[seen.run_id.name])
    for run_task in run_tasks:
        run = hearer.done_runs[run_task.run_id.name]
        alone = run_case(run_task.case, name="alone", out=tmp_path / "alone")
        assert (run.digest, run.metrics, run.key) == (alone.digest, alone.metrics, alone.key)
        assert (run.study, run.parameters) == ("small", run_task.parameters)
        assert run.folder == run_task.out / f"{run_task.run_id.name}-seed{run_task.run_id.seed}"
        there = {p.relative_to(run.folder) for p in run.folder.rglob("*")}
        assert there == {p.relative_to(alone.folder) for p in alone.folder.rglob("*")}
    # The worker without a kernel has got this host's, and nothing else lies about.
    assert os.access(binary, os.X_OK)
    assert [path.name for path in binary.parent.parent.iterdir() if path.is_dir()] == [
        binary.parent.name
    ]
    assert sorted(path.name for path in run_tasks[0].out.iterdir()) == [
        f"case{index}-seed{index}" for index in range(4)
    ]


def test_workers_get_the_images_that_they_lack(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks, tmp_path: Path
) -> None:
    (tmp_path / "image.tar").write_bytes(docker([small("sh", "cat")]))
    root = find_image(tmp_path / "image.tar", name="image.tar")
    environment, _ = own_cache(tmp_path, "a")
    hosts.worker("a", environment=environment)
    hosts.wait_for(1)
    (run_task,) = make_works(1)
    network = run_task.case.network
    named = replace(network.hosts[0], root=root)
    case = replace(
        run_task.case,
        network=replace(network, hosts=(named, network.hosts[1])),
        setup=(Command(node="h1", line="test ! -e /usr/bin/python3"),),
        flows=(Ping(name="rtt", source="h2", target="h1", count=2),),
    )
    warned: list[str] = []
    Cluster(scheduler=hosts.address, warn=warned.append).execute(
        [replace(run_task, case=case)], listener=hearer, stop=threading.Event()
    )
    assert (warned, hearer.failures) == ([], {})
    alone = run_case(case, name="alone", out=tmp_path / "alone")
    assert hearer.done_runs["case0"].digest == alone.digest
    assert list((tmp_path / "cache-a/images").glob(f"*-{root.digest}/*/bin/cat"))


def test_a_worker_that_is_killed_loses_nothing(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks, tmp_path: Path
) -> None:
    environment, binary = own_cache(tmp_path, "victim")
    victim = hosts.worker("victim", environment=environment)
    hosts.worker("other")
    hosts.wait_for(2)
    warned: list[str] = []

    def kill_it(_: RunId) -> None:
        if len(hearer.done_runs) >= 2 and victim.poll() is None and processes_running(binary):
            victim.kill()
            victim.wait()

    hearer.on_progress = kill_it
    run_tasks = make_works(8, time_s=3.0, rate_bps=100_000_000)
    Cluster(scheduler=hosts.address, warn=warned.append).execute(
        run_tasks, listener=hearer, stop=threading.Event()
    )
    assert victim.returncode == -signal.SIGKILL
    assert hearer.failures == {}
    assert sorted(hearer.done_runs) == [run_task.run_id.name for run_task in run_tasks]
    assert len(warned) == 1
    assert re.search(r"worker tcp://\S+ is lost; its cases go to others", warned[0])
    eventually(lambda: not processes_running(binary), what="the dead worker's machine ends")
    assert len(list(run_tasks[0].out.iterdir())) == len(run_tasks)


def test_a_worker_with_another_tool_gets_no_work(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks, tmp_path: Path
) -> None:
    iperf3 = shutil.which("iperf3")
    assert iperf3 is not None
    changed = changed_copy(iperf3, tmp_path)
    bound = ("bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--bind", str(changed), iperf3)
    hosts.worker("other", wrapper=bound)
    hosts.wait_for(1)
    cluster = Cluster(scheduler=hosts.address, warn=print)
    with pytest.raises(HostError) as caught:
        cluster.execute(make_works(2), listener=hearer, stop=threading.Event())
    assert re.fullmatch(
        r"no worker of tcp://\S+ can be used:\n    worker tcp://\S+: iperf3, or a library that it"
        r" loads, has other bytes there, although both are iperf 3\.\d+.*",
        str(caught.value),
    )
    # Another one that is right comes, and the work is done; the wrong one is told of once.
    hosts.worker("right")
    hosts.wait_for(2)
    warned: list[str] = []
    Cluster(scheduler=hosts.address, warn=warned.append).execute(
        make_works(2), listener=hearer, stop=threading.Event()
    )
    assert len(hearer.done_runs) == 2
    assert len(warned) == 1
    assert "gets no cases: iperf3" in warned[0]


def test_workers_that_disagree_are_named(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks
) -> None:
    hosts.worker("right")
    hosts.worker("wrong", options=("--preload", str(Path(__file__).with_name("tamper.py"))))
    hosts.wait_for(2)
    warned: list[str] = []
    cluster = Cluster(scheduler=hosts.address, warn=warned.append)
    # Two, and nobody can say which of them is wrong.
    with pytest.raises(HostError, match="workers disagree") as caught:
        cluster.execute(make_works(4), listener=hearer, stop=threading.Event())
    named = re.findall(r"worker (tcp://\S+): digest [0-9a-f]{12}", str(caught.value))
    assert len(set(named)) == 2
    assert "no other worker is there to decide" in str(caught.value)
    assert hearer.done_runs == {}
    assert list(hearer.failures) == ["case3"]
    # A third decides: one piece is lost, which says so, and the others come from the two.
    hosts.worker("third")
    hosts.wait_for(3)
    later = Hearer()
    run_tasks = make_works(4)
    Cluster(scheduler=hosts.address, check_share=1.0, warn=warned.append).execute(
        run_tasks, listener=later, stop=threading.Event()
    )
    assert sorted(later.done_runs) == ["case0", "case1", "case2"]
    (error,) = later.failures.values()
    assert isinstance(error, MachineError)
    odd = re.search(r"most agree, so check (tcp://\S+)$", str(error))
    assert odd is not None
    assert odd[1] in named
    assert any(text.startswith(f"worker {odd[1]} gets no cases") for text in warned)
    for run_task in run_tasks[:3]:
        alone = run_case(run_task.case, name="alone", out=run_task.out)
        assert later.done_runs[run_task.run_id.name].digest == alone.digest


def test_nothing_runs_on_when_it_ends(
    hearer: Hearer, make_works: MakeWorks, tmp_path: Path
) -> None:
    hosts = Hosts(tmp_path)
    environment, binary = own_cache(tmp_path, "a")
    hosts.worker("a", environment=environment)
    hosts.wait_for(1)
    # Tests that run in the background are begun with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        stop = threading.Event()
        hearer.on_progress = lambda _: stop.set()
        run_tasks = make_works(3, time_s=50_000.0, rate_bps=1_000_000_000)  # does not end
        cluster = Cluster(scheduler=hosts.address)
        cluster.execute(run_tasks, listener=hearer, stop=stop)
        assert hearer.heard
        assert not processes_running(binary)

        hearer.on_progress = lambda _: signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            cluster.execute(run_tasks, listener=hearer, stop=threading.Event())
        assert not processes_running(binary)

        _run_and_kill_client(hosts.address, tmp_path, binary)
        eventually(lambda: not processes_running(binary), what="the machine ends")

        hearer.on_progress = lambda _: hosts.scheduler.kill()
        with pytest.raises(HostError, match="is lost; finished runs are kept"):
            cluster.execute(run_tasks, listener=hearer, stop=threading.Event())
        eventually(lambda: not processes_running(binary), what="machines end with the scheduler")
        assert (hearer.done_runs, hearer.failures) == ({}, {})
    finally:
        signal.signal(signal.SIGINT, before)
        hosts.close()


def _run_and_kill_client(address: str, folder: Path, binary: Path) -> None:
    script = f"""
import threading
from pathlib import Path
from longfat.model.case import Case
from longfat.model.network import Host, Link, Network
from longfat.execution.cluster import Cluster
from longfat.execution.cost import expected_cost
from longfat.execution.executor import RunId, RunTask
from longfat.model.traffic import Iperf3
from tests.execution.cluster.conftest import Hearer

hosts = (Host(name="a", address="10.0.0.1/8"), Host(name="b", address="10.0.0.2/8"))
network = Network(hosts=hosts, switches=(), links=(Link(a="a", b="b"),))
flow = Iperf3(name="bulk", source="a", target="b", time_s=500.0)
case = Case(kernel="7.2", network=network, flows=(flow,), memory_bytes=256 << 20)
work = RunTask(
    run_id=RunId(batch=0, name="long", seed=1),
    case=case, out=Path({str(folder / "runs")!r}), cost=expected_cost(case),
)
hearer = Hearer()
hearer.on_progress = lambda _: print("runs", flush=True)
Cluster(scheduler={address!r}).execute([work], listener=hearer, stop=threading.Event())
"""
    client = subprocess.Popen(
        [sys.executable, "-c", script], cwd=REPOSITORY, stdout=subprocess.PIPE
    )
    try:
        assert client.stdout is not None
        assert client.stdout.readline() == b"runs\n"
        eventually(lambda: bool(processes_running(binary)), what="the kernel's process is there")
    finally:
        client.kill()
        client.wait()


def test_no_scheduler(
    hearer: Hearer, make_works: MakeWorks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CONNECT_S", 1.0)
    with pytest.raises(HostError) as caught:
        Cluster(scheduler="tcp://127.0.0.1:9").execute(
            make_works(1), listener=hearer, stop=threading.Event()
        )
    assert str(caught.value) == (
        "no scheduler answers at tcp://127.0.0.1:9 (waited 1 s)\n"
        "  hint: start one with `dask scheduler`, and on each host"
        " `dask worker tcp://127.0.0.1:9`"
    )
    with pytest.raises(InputError, match="'no address' is not a scheduler's address"):
        Cluster(scheduler="no address").execute(
            make_works(1), listener=hearer, stop=threading.Event()
        )


def test_no_worker(hosts: Hosts, hearer: Hearer, make_works: MakeWorks) -> None:
    warned: list[str] = []
    cluster = Cluster(scheduler=hosts.address, patience_s=3.5, warn=warned.append)
    with pytest.raises(HostError, match=r"has had no worker for [34] s\n.*dask worker tcp"):
        cluster.execute(make_works(1), listener=hearer, stop=threading.Event())
    assert len(warned) == 1
    assert "has no worker; waiting 4 s for one" in warned[0]
