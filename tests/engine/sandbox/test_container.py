"""Hosts that allow no namespaces, as containers do: another sandbox takes over by itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.engine.machine import current_sandbox
from longfat.engine.sandbox.sandbox import VARIABLE
from longfat.errors import HostError
from longfat.execution import run_case
from longfat.model.case import Case
from longfat.model.traffic import Ping
from tests.paths import LONGFAT

_SOURCE = Path(__file__).with_name("container.c")
_STUDY = """\
title: two hosts
kernel: "6.1"
memory: 512MB
seed: 3
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: 100mbit, delay: 5ms, loss: 1%}]]
flows:
  ping: {ping: h1 -> h2, count: 3}
  bulk: {iperf3: h1 -> h2, time: 2s, after: ping}
cases:
  one: {title: one}
"""

Inside = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("container") / "container"
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra"]
    subprocess.run(["gcc", *flags, "-o", str(program), str(_SOURCE)], check=True)
    return program


@pytest.fixture
def longfat(tmp_path: Path) -> Inside:
    """Call longfat, behind other words if there are some."""

    def call(
        *arguments: str, behind: tuple[str, ...] = (), environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*behind, sys.executable, LONGFAT, *arguments],
            cwd=tmp_path,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def test_results_are_those_of_any_host(container: Path, longfat: Inside, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(_STUDY)
    found = {}
    for name, behind in (("here", ()), ("there", (str(container), "new"))):
        done = longfat("run", "study.yaml", "--fresh", "--json", "--out", name, behind=behind)
        assert done.returncode == 0, done.stderr
        (manifest,) = (tmp_path / name).rglob("manifest.json")
        found[name] = json.loads(manifest.read_text())
    assert found["here"]["digest"] == found["there"]["digest"]
    assert found["here"]["sandbox"] == current_sandbox().name
    assert found["there"]["sandbox"] == "landlock"


def test_a_cache_with_spaces_and_colons_in_its_name_changes_nothing(
    kernel: Kernel, make_case: Callable[..., Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shim that is not found would not be preloaded, and results be random."""
    case = make_case(Ping(name="rtt", source="h1", target="h2", count=2))
    here = run_case(case, name="here", out=tmp_path)
    odd = tmp_path / "a folder: odd"
    shutil.copytree(kernel.folder, odd)
    monkeypatch.setenv(VARIABLE, "landlock")
    there = run_case(case, name="there", out=odd / "out", kernel=replace(kernel, folder=odd))
    assert there.digest == here.digest
    monkeypatch.setattr(tempfile, "tempdir", str(odd))
    with pytest.raises(HostError, match="must have no spaces and colons"):
        run_case(case, name="nowhere", out=tmp_path)


def test_doctor_names_the_sandbox(container: Path, longfat: Inside) -> None:
    done = longfat("doctor", "--json", behind=(str(container), "new"))
    findings = {one["subject"]: one for one in json.loads(done.stdout)["findings"]}
    assert findings["sandbox"]["good"] is None
    assert findings["sandbox"]["words"].startswith("landlock: ")
    assert "not namespaces: bubblewrap cannot" in findings["sandbox"]["words"]
    assert "allow user namespaces" in findings["sandbox"]["hint"]


def test_without_any_sandbox_no_machine_runs(
    container: Path, longfat: Inside, tmp_path: Path
) -> None:
    (tmp_path / "study.yaml").write_text(_STUDY)
    done = longfat("run", "study.yaml", "--fresh", behind=(str(container), "old"))
    assert done.returncode == 3
    assert "no sandbox is available here" in done.stderr
    assert "bubblewrap cannot make a sandbox here" in done.stderr
    assert "no Landlock" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("manifest.json"))


def test_a_sandbox_that_does_not_exist_is_told(longfat: Inside) -> None:
    done = longfat("exec", "--", "true", environment={VARIABLE: "chroot"})
    assert done.returncode == 2
    assert "there is no sandbox 'chroot'; available: namespaces, landlock" in done.stderr
