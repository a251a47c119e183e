"""Shared storage: results go there and come from there, by a folder and by an S3 server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest

from longfat.errors import HostError, InputError, MachineError
from longfat.execution import run_case
from longfat.execution.cluster import Cluster
from longfat.execution.cluster.storage import Storage, check_url
from longfat.execution.executor import RunTask
from tests.execution.cluster.conftest import Hearer, Hosts

MakeWorks = Callable[..., list[RunTask]]
pytestmark = pytest.mark.xdist_group("cluster")


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """An S3 server with a bucket `lab`; the environment by which fsspec finds it."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    environment = {
        "FSSPEC_S3_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(
        fsspec.config.conf, "s3", {"endpoint_url": environment["FSSPEC_S3_ENDPOINT_URL"]}
    )
    boto3.client("s3", endpoint_url=f"http://{host}:{port}").create_bucket(Bucket="lab")
    yield environment
    server.stop()


@pytest.mark.parametrize("kind", ["file", "s3"])
def test_results_go_there_and_come_from_there(
    hosts: Hosts,
    hearer: Hearer,
    make_works: MakeWorks,
    kind: str,
    s3: dict[str, str],
) -> None:
    tmp_path = make_works(1)[0].out.parent
    url = f"file://{tmp_path}/shared" if kind == "file" else "s3://lab/results"
    hosts.worker("a", environment=s3)
    hosts.wait_for(1)
    run_tasks = make_works(2)
    stop = threading.Event()
    Cluster(scheduler=hosts.address, storage=url).execute(run_tasks, listener=hearer, stop=stop)
    assert hearer.failures == {}
    storage = Storage(url)
    for run_task in run_tasks:
        run = hearer.done_runs[run_task.run_id.name]
        alone = run_case(run_task.case, name="alone", out=tmp_path / "alone")
        assert run.digest == alone.digest
        assert storage.digests(run.key) == (run.digest,)
    system, root = fsspec.core.url_to_fs(url)
    system.invalidate_cache()
    assert len([path for path in system.find(root) if "token" not in path]) == 2

    # Other names for the same cases: nothing is run, but for the check of the worker.
    renamed = [
        RunTask(
            run_id=run_task.run_id,
            case=run_task.case,
            out=tmp_path / "again",
            cost=run_task.cost,
            study="new",
        )
        for run_task in run_tasks
    ]
    again = Hearer()
    cluster = Cluster(scheduler=hosts.address, storage=url, check_share=0)
    cluster.execute(renamed, listener=again, stop=stop)
    assert again.heard == {}
    for run_task in run_tasks:
        first, second = (h.done_runs[run_task.run_id.name] for h in (hearer, again))
        # A run's wall time is that of the one run.
        assert (first.digest, first.wall_s) == (second.digest, second.wall_s)
        assert second.study == "new"
        assert second.folder.parent == tmp_path / "again"

    # What is there of a key contradicts what is run now: not to be passed over.
    first = hearer.done_runs["case0"]
    with fsspec.open(f"{url}/{first.key[:2]}/{first.key}/{'0' * 64}.tar.gz", "wb") as file:
        file.write(b"another result")
    fresh = Hearer()
    cluster.execute(run_tasks[:1], listener=fresh, stop=stop)
    (error,) = fresh.failures.values()
    assert isinstance(error, MachineError)
    assert "storage has another result of the same case" in str(error)


def test_storage_that_is_not_shared(
    hosts: Hosts, hearer: Hearer, make_works: MakeWorks, tmp_path: Path
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    bound = ("--bind", str(tmp_path / "there"), str(tmp_path / "here"))
    hosts.worker("a", wrapper=("bwrap", "--die-with-parent", "--dev-bind", "/", "/", *bound))
    hosts.wait_for(1)
    cluster = Cluster(scheduler=hosts.address, storage=f"file://{tmp_path}/here")
    with pytest.raises(HostError, match="is not the same there as here"):
        cluster.execute(make_works(1), listener=hearer, stop=threading.Event())


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("/shared", r"is not a URL; write file:///FOLDER"),
        ("memory://x", "is separate in each process"),
        ("file://shared", "must be an absolute path"),
    ],
)
def test_urls_that_name_no_shared_storage(url: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_url(url)


def test_storage_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="storage nosuch://x"):
        Storage("nosuch://x")
    (tmp_path / "file").touch()
    storage = Storage(f"file://{tmp_path}/file")
    with pytest.raises(HostError, match="cannot be written: Not a directory"):
        storage.write_token("t")
