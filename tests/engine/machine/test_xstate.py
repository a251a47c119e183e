"""Hosts whose processes have more floating point registers than a kernel knows of."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.errors import MachineError
from longfat.execution import run_case
from longfat.model.case import Case
from longfat.model.traffic import Ping

_SOURCE = Path(__file__).with_name("wide_host.c")


class _OnAWideHost(Kernel):
    """A kernel on such a host, with its own shims before it."""

    @property
    def shims(self) -> tuple[str, ...]:
        return (*super().shims, _SOURCE.stem)


class _WithoutItsShim(_OnAWideHost):
    @property
    def shims(self) -> tuple[str, ...]:
        return tuple(name for name in super().shims if name != "xstate")


@pytest.fixture
def on_a_wide_host(each_kernel: Kernel, tmp_path: Path) -> Kernel:
    folder = tmp_path / "kernel"
    shutil.copytree(each_kernel.folder, folder)
    library = folder / f"{_SOURCE.stem}.so"
    command = ["gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-fPIC", "-shared"]
    subprocess.run([*command, "-o", str(library), str(_SOURCE)], check=True)
    return _OnAWideHost(**{**dataclasses.asdict(each_kernel), "folder": folder})


def test_results_are_those_of_any_host(
    on_a_wide_host: Kernel,
    each_kernel: Kernel,
    tmp_path: Path,
    make_case: Callable[..., Case],
) -> None:
    flow = Ping(name="rtt", source="h1", target="h2", count=3)
    case = make_case(flow, kernel=each_kernel.series)
    here = run_case(case, name="here", out=tmp_path, kernel=each_kernel)
    there = run_case(case, name="there", out=tmp_path, kernel=on_a_wide_host)
    assert there.digest == here.digest


@pytest.mark.parametrize("each_kernel", ["6.1", "6.12"], indirect=True)
def test_the_host_is_one_that_the_kernel_alone_cannot_run_on(
    on_a_wide_host: Kernel, tmp_path: Path, make_case: Callable[..., Case]
) -> None:
    kernel = _WithoutItsShim(**dataclasses.asdict(on_a_wide_host))
    case = make_case(Ping(name="rtt", source="h1", target="h2", count=3))
    with pytest.raises(MachineError, match="errno = 14"):
        run_case(case, name="there", out=tmp_path, kernel=kernel)
