"""A real scheduler with real workers: what comes back, and what becomes of those that fail."""

from __future__ import annotations

import json
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

from longfat.common.checksum import write_sums
from longfat.engine import kernel as kernels
from longfat.engine.images import find_image
from longfat.errors import HostError, InputError
from longfat.execution import run_case
from longfat.execution.executor import RunId, RunTask
from longfat.model.case import Command
from longfat.model.traffic import Ping
from longfat_cluster import connection
from longfat_cluster.executor import Cluster
from tests.caches import share_toolset
from tests.conftest import processes_running
from tests.engine.images.made import docker, small
from tests.longfat_cluster.conftest import Hearer, Hosts, changed_copy, eventually, own_cache
from tests.paths import REPOSITORY

MakeWorks = Callable[..., list[RunTask]]
pytestmark = pytest.mark.xdist_group("cluster")


def test_runs_are_those_of_this_host(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks, tmp_path: Path
) -> None:
    environment, _ = own_cache(tmp_path, "a")
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
    assert sorted(path.name for path in run_tasks[0].out.iterdir()) == [
        f"case{index}-seed{index}" for index in range(4)
    ]


def test_a_worker_with_another_longfat_gets_no_work(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks, tmp_path: Path
) -> None:
    package = tmp_path / "old" / "longfat"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0.0.1"\n')
    environment = {"PYTHONPATH": str(package.parent)}
    hosts.worker("old", wrapper=("env",), environment=environment)
    hosts.wait_for(1)
    with pytest.raises(HostError) as caught:
        Cluster(scheduler=hosts.address, patience_s=5, warn=print).execute(
            make_works(1), listener=hearer, stop=threading.Event()
        )
    assert re.fullmatch(
        r"no worker of tcp://\S+ can be used:\n    worker tcp://\S+: it cannot describe itself:"
        r" ModuleNotFoundError.*No module named 'longfat\.\S+'.*; longfat \S+ must be installed"
        r" there, as here",
        str(caught.value),
    )


def test_a_worker_without_the_kernel_gets_no_work(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks, tmp_path: Path
) -> None:
    kernel = kernels.find("6.1")
    share_toolset(tmp_path / "empty")
    hosts.worker("empty", environment={"LONGFAT_CACHE": str(tmp_path / "empty")})
    hosts.wait_for(1)
    cluster = Cluster(scheduler=hosts.address, warn=print)
    with pytest.raises(HostError) as caught:
        cluster.execute(make_works(1), listener=hearer, stop=threading.Event())
    assert re.fullmatch(
        r"no worker of tcp://\S+ can be used:\n    worker tcp://\S+: kernel"
        rf" {kernel.release} \({kernel.digest[:12]}\) is not there; run there: longfat kernel"
        rf" build {kernel.release}, or install its wheel there, or share this host's cache"
        r" folder \(LONGFAT_CACHE\)",
        str(caught.value),
    )
    # One whose kernel has the same name and other bytes, and one of another compiler.
    environment, binary = own_cache(tmp_path, "changed")
    _rewrite(binary.parent, binary_sha256="0" * 64)
    hosts.worker("changed", environment=environment)
    environment, binary = own_cache(tmp_path, "other")
    other = binary.parent.with_name("ab" * 32)
    binary.parent.rename(other)
    _rewrite(other, digest=other.name)
    hosts.worker("other", environment=environment)
    hosts.wait_for(3)
    with pytest.raises(HostError) as caught:
        cluster.execute(make_works(1), listener=hearer, stop=threading.Event())
    text = str(caught.value)
    assert text.count("is not there") == 2
    assert "is not there (but abababababab, of another recipe or compiler); run there" in text
    assert "has other bytes there (digest 000000000000), must be those here" in text
    assert f"run there: longfat kernel remove {kernel.digest[:12]}" in text


def test_a_worker_without_the_toolset_gets_no_work(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks, tmp_path: Path
) -> None:
    hosts.worker("empty", environment={"LONGFAT_CACHE": str(tmp_path)})
    hosts.wait_for(1)
    with pytest.raises(HostError) as caught:
        Cluster(scheduler=hosts.address, warn=print).execute(
            make_works(1), listener=hearer, stop=threading.Event()
        )
    assert str(caught.value).endswith(
        ": the pinned tools are not built; run there: longfat tools build"
    )


def _rewrite(folder: Path, **fields: str) -> None:
    """Change the manifest of a kernel."""
    file = folder / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))
    write_sums(folder)


def test_a_worker_needs_the_image_in_its_cache(
    hosts: Hosts,
    hearer: Hearer,
    make_works: MakeWorks,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
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
    cluster = Cluster(scheduler=hosts.address, warn=warned.append)
    run_tasks = [replace(run_task, case=case)]
    with pytest.raises(HostError) as caught:
        cluster.execute(run_tasks, listener=hearer, stop=threading.Event())
    assert (
        f"the image image.tar (sha256:{root.digest[:12]}) is not unpacked there; read the study"
        " there (longfat check STUDY), or share this host's cache folder (LONGFAT_CACHE)"
    ) in str(caught.value)
    with monkeypatch.context() as there:
        there.setenv("LONGFAT_CACHE", environment["LONGFAT_CACHE"])
        assert find_image(tmp_path / "image.tar", name="image.tar").digest == root.digest
    warned.clear()
    cluster.execute(run_tasks, listener=hearer, stop=threading.Event())
    assert (warned, hearer.failures) == ([], {})
    alone = run_case(case, name="alone", out=tmp_path / "alone")
    assert hearer.done_runs["case0"].digest == alone.digest


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


def test_a_worker_with_another_program_gets_no_work(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks, tmp_path: Path
) -> None:
    # A program of each Debian system that the toolset lacks.
    perl = shutil.which("perl")
    assert perl is not None
    line = Command(node="h1", line="perl -e 1")
    run_tasks = [
        replace(run_task, case=replace(run_task.case, setup=(line,))) for run_task in make_works(2)
    ]
    changed = changed_copy(perl, tmp_path)
    bound = ("bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--bind", str(changed), perl)
    hosts.worker("other", wrapper=bound)
    hosts.wait_for(1)
    cluster = Cluster(scheduler=hosts.address, warn=print)
    with pytest.raises(HostError) as caught:
        cluster.execute(run_tasks, listener=hearer, stop=threading.Event())
    assert re.fullmatch(
        r"no worker of tcp://\S+ can be used:\n    worker tcp://\S+: perl, or a library that it"
        r" loads, has other bytes there \(digest [0-9a-f]{12}\), must be those here"
        r" \([0-9a-f]{12}\)",
        str(caught.value),
    )
    # Another one that is right comes, and the work is done; the wrong one is warned of once.
    hosts.worker("right")
    hosts.wait_for(2)
    warned: list[str] = []
    Cluster(scheduler=hosts.address, warn=warned.append).execute(
        run_tasks, listener=hearer, stop=threading.Event()
    )
    assert len(hearer.done_runs) == 2
    assert len(warned) == 1
    assert "gets no cases: perl" in warned[0]


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
from longfat_cluster.executor import Cluster
from longfat.execution.cost import expected_cost
from longfat.execution.executor import RunId, RunTask
from longfat.model.traffic import Iperf3
from tests.longfat_cluster.conftest import Hearer

hosts = (Host(name="a", address="10.0.0.1/8"), Host(name="b", address="10.0.0.2/8"))
network = Network(hosts=hosts, switches=(), links=(Link(a="a", b="b"),))
flow = Iperf3(name="bulk", source="a", target="b", time_s=500.0)
case = Case(kernel="6.1", network=network, flows=(flow,), memory_bytes=256 << 20)
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
    with pytest.raises(InputError, match="cannot connect to 'no address': missing port number"):
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
