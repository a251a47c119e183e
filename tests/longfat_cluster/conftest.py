"""A real scheduler and real workers on loopback, and works for them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from distributed import Client
from distributed.security import Security

from longfat.engine import kernel as kernels
from longfat.errors import LongfatError
from longfat.execution.case_runner import Progress
from longfat.execution.cost import expected_cost
from longfat.execution.executor import RunId, RunObserver, RunTask
from longfat.execution.runs import Run
from longfat.model.case import Case
from longfat.model.network import Host, Link, Network
from longfat.model.parameter import ParameterValue
from longfat.model.traffic import Iperf3
from tests.caches import share_toolset
from tests.command import Command
from tests.paths import REPOSITORY

_DASK = Path(sys.executable).with_name("dask")
_PYTHONPATH = os.pathsep.join((str(REPOSITORY), str(REPOSITORY / "src")))


class Hearer(RunObserver):
    """A listener that caches, and says when something happens."""

    def __init__(self) -> None:
        self.done_runs: dict[str, Run] = {}
        self.failures: dict[str, LongfatError] = {}
        self.heard: dict[str, list[float]] = {}
        self.on_progress: Callable[[RunId], None] = lambda _: None
        self.on_done: Callable[[RunId], None] = lambda _: None
        self._lock = threading.Lock()

    def progress(self, run_id: RunId, progress: Progress) -> None:
        self.heard.setdefault(run_id.name, []).append(progress.virtual_s)
        self.on_progress(run_id)

    def done(self, run_id: RunId, run: Run) -> None:
        with self._lock:
            assert run_id.name not in self.done_runs, "told twice"
            assert run.folder.joinpath("manifest.json").exists()
            self.done_runs[run_id.name] = run
        self.on_done(run_id)

    def failed(self, run_id: RunId, error: LongfatError) -> None:
        assert run_id.name not in self.failures, "told twice"
        self.failures[run_id.name] = error


@dataclass(frozen=True)
class Signed:
    """A certificate with its key, and the CA that has signed it: files in PEM."""

    ca: Path
    cert: Path
    key: Path

    @property
    def options(self) -> tuple[str, ...]:
        """Return them as `dask` wants them."""
        return (
            *("--tls-ca-file", str(self.ca)),
            *("--tls-cert", str(self.cert), "--tls-key", str(self.key)),
        )

    @property
    def security(self) -> Security:
        return Security(
            tls_ca_file=str(self.ca), tls_client_cert=str(self.cert), tls_client_key=str(self.key)
        )


class Hosts:
    """A scheduler and the workers that a test starts; with TLS, if they have a certificate."""

    def __init__(
        self,
        folder: Path,
        *,
        signed: Signed | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        protocol = "tcp" if signed is None else "tls"
        self.address = f"{protocol}://127.0.0.1:{port}"
        self._signed = signed
        self._tls = signed.options if signed is not None else ()
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start(
            *("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"),
            *("--protocol", protocol, *self._tls),
            environment=environment,
        )

    def worker(
        self,
        name: str,
        *,
        options: Sequence[str] = (),
        wrapper: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a worker of one thread, without Dask's nanny that would start it anew."""
        folder = self._folder / name
        process = self._start(
            *("worker", self.address, "--name", name, "--nthreads", "1", "--no-nanny"),
            *("--no-dashboard", "--local-directory", str(folder), *self._tls, *options),
            wrapper=wrapper,
            environment=environment,
        )
        self._processes.append(process)
        return process

    def _start(
        self,
        *arguments: str,
        wrapper: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        with (self._folder / "dask.log").open("ab") as log:
            options: dict[str, Any] = {
                "stdout": log,
                "stderr": log,
                # What is preloaded into a worker imports from our tests.
                "env": {**os.environ, "PYTHONPATH": _PYTHONPATH, **(environment or {})},
            }
            if not wrapper:
                return Command("dask", *arguments, **options)
            return subprocess.Popen([*wrapper, sys.executable, str(_DASK), *arguments], **options)

    def wait_for(self, workers: int) -> None:
        """Wait until so many workers are there."""
        with self._client() as client:
            client.wait_for_workers(workers, timeout=120)

    def _client(self) -> Client:
        security = None if self._signed is None else self._signed.security
        return Client(self.address, security=security, set_as_default=False)

    def dismiss(self) -> None:
        """End all workers, and wait until the scheduler knows."""
        for process in self._processes:
            process.kill()
            process.wait()
        self._processes.clear()
        if self.scheduler.poll() is None:
            with self._client() as client:
                eventually(lambda: not client.nthreads(), what="workers are gone")

    def close(self) -> None:
        """End all."""
        for process in (*self._processes, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    found = Hosts(tmp_path_factory.mktemp("scheduler"))
    yield found
    found.close()


@pytest.fixture
def hosts(scheduler: Hosts) -> Iterator[Hosts]:
    """A scheduler that the tests of a module share, each with workers of its own."""
    yield scheduler
    scheduler.dismiss()


@pytest.fixture
def hearer() -> Hearer:
    return Hearer()


@pytest.fixture
def make_works(tmp_path: Path) -> Callable[..., list[RunTask]]:
    """Make works of two hosts each; the last ones cost least."""

    def make(count: int, *, time_s: float = 1.0, rate_bps: int | None = 1_000_000) -> list[RunTask]:
        network = Network(
            hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
            switches=(),
            links=(Link(a="h1", b="h2"),),
        )
        run_tasks = []
        for index in range(count):
            flow = Iperf3(
                name="bulk",
                source="h1",
                target="h2",
                time_s=time_s + 0.01 * (count - index),
                rate_bps=rate_bps,
            )
            case = Case(
                kernel="6.1", network=network, flows=(flow,), seed=index, memory_bytes=256 << 20
            )
            run_tasks.append(
                RunTask(
                    run_id=RunId(batch=0, name=f"case{index}", seed=index),
                    case=case,
                    out=tmp_path / "runs",
                    cost=expected_cost(case),
                    study="small",
                    parameters={"number": ParameterValue(text=str(index))},
                )
            )
        return run_tasks

    return make


def own_cache(tmp_path: Path, name: str) -> tuple[dict[str, str], Path]:
    """Return the environment of a worker with a cache of its own, and its kernel's binary there."""
    kernel = kernels.find("6.1")
    cache = tmp_path / f"cache-{name}"
    folder = cache / "kernels" / kernel.digest
    shutil.copytree(kernel.folder, folder)
    share_toolset(cache)
    return {"LONGFAT_CACHE": str(cache)}, folder / "linux"


def eventually(condition: Callable[[], bool], *, what: str) -> None:
    """Wait until something is so: how long it takes is no matter of a test's."""
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(f"it did not happen: {what}")


def changed_copy(program: str, folder: Path) -> Path:
    """Return a copy of a program that works and has other bytes."""
    copy = folder / "changed"
    shutil.copy2(program, copy)
    with copy.open("ab") as file:
        file.write(b"\0")  # nobody reads what is behind the sections of its header
    return copy
