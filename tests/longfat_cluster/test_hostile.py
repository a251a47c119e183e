"""A worker that sends what no worker should: refused, and nothing is written outside of `out`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from longfat.execution import run_case
from longfat.execution.cost import expected_cost
from longfat.execution.executor import RunId, RunTask
from longfat.execution.runs import Run, load_run
from longfat.model.case import Case
from longfat.model.network import Host, Link, Network
from longfat.model.probes import Rate
from longfat.model.traffic import Ping
from longfat_cluster.executor import Cluster
from tests.longfat_cluster.conftest import Hearer, Hosts

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]


@dataclass(frozen=True)
class Hostile:
    """A cluster of one worker, which is hostile.

    Attributes:
        folder: where nothing may be written, but below `out`.
        address: the scheduler's.
        run: what an honest worker would give.
        mode: the file that says what the worker sends.
    """

    folder: Path
    address: str
    run: Run
    mode: Path

    @property
    def out(self) -> Path:
        return self.folder / "deep" / "out"

    def get(self, mode: str) -> Hearer:
        """Have a case run, and return what came of it."""
        self.mode.write_text(mode)
        run_id = RunId(batch=0, name="case", seed=self.run.case.seed)
        case = self.run.case
        run_task = RunTask(
            run_id=run_id, case=case, out=self.out, cost=expected_cost(case), study="small"
        )
        hearer = Hearer()
        Cluster(scheduler=self.address, warn=lambda _: None).execute(
            [run_task], listener=hearer, stop=threading.Event()
        )
        return hearer


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    folder = tmp_path_factory.mktemp("hostile")
    network = Network(
        hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
        switches=(),
        links=(Link(a="h1", b="h2"),),
    )
    case = Case(
        kernel="6.1",
        network=network,
        flows=(Ping(name="rtt", source="h1", target="h2", count=2),),
        probes=(Rate(name="rate", of=("h1-eth0",), every_s=0.1),),
        memory_bytes=256 << 20,
    )
    run = run_case(case, name="honest", out=folder / "honest")
    mode = folder / "mode"
    hosts = Hosts(folder)
    hosts.worker(
        "hostile",
        options=("--preload", str(Path(__file__).with_name("hostile.py"))),
        environment={"LONGFAT_HOSTILE": str(mode), "LONGFAT_HOSTILE_RUN": str(run.folder)},
    )
    hosts.wait_for(1)
    try:
        yield Hostile(folder, hosts.address, run, mode)
    finally:
        hosts.close()


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("path traversal", "an invalid name"),
        ("absolute path", "an invalid name"),
        ("symbolic link", "in it is not a file"),
        ("hard link", "in it is not a file"),
        ("device", "in it is not a file"),
        ("pipe", "in it is not a file"),
        ("bomb", "in it is not a file"),
        ("another case", "case_digest: it belongs to another case"),
        ("changed raw file", "it is damaged: raw/"),
        ("a page", "it has unexpected files: 'report.html'"),
        ("wrong digest", "it is another result of the same case"),
        ("digest that is a path", "it is not an outcome of a case"),
        ("block that is no bytes", "it is not an outcome of a case"),
        ("no block", "it is not an outcome of a case"),
        ("no outcome", "it is not an outcome of a case"),
        ("no error", "it is not an outcome of a case"),
    ],
)
def test_what_is_tampered_with_is_refused(hostile: Hostile, mode: str, words: str) -> None:
    before = sorted(hostile.folder.rglob("*"))
    hearer = hostile.get(mode)
    (error,) = hearer.failures.values()
    assert f"the result of case 'case' is invalid: {words}" in str(error) or (words in str(error))
    assert hearer.done_runs == {}
    assert hearer.heard == {}
    after = {path for path in hostile.folder.rglob("*") if not _is_dasks(path)}
    assert after <= {*before, hostile.out.parent, hostile.out, hostile.mode}
    assert not Path("/tmp/longfat-evil").exists()


def _is_dasks(path: Path) -> bool:
    return "hostile" in path.parts[-3:] or path.name == "dask.log"


def test_metrics_and_series_are_made_here(hostile: Hostile) -> None:
    for mode in ("wrong metrics", "wrong series"):
        (run,) = hostile.get(mode).done_runs.values()
        assert run.metrics == hostile.run.metrics
        assert load_run(run.folder).metrics == hostile.run.metrics
        assert run.series("rate").equals(hostile.run.series("rate"))


def test_a_workers_pickles_run_here_as_the_docs_say(hostile: Hostile) -> None:
    # Should this fail one day, docs/security.md tells less than is protected.
    ran = hostile.mode.with_name("mode.ran")
    hostile.get("a pickle")
    assert ran.exists()
