"""The toolset itself, downloaded and built, and machines that use it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from longfat.engine import toolset as toolsets
from longfat.engine.kernel import Kernel
from longfat.engine.sandbox.sandbox import VARIABLE
from longfat.engine.toolset import Toolset
from longfat.errors import HostError
from longfat.execution import run_case
from longfat.execution.runs import Run
from longfat.study import read_study
from tests.paths import LONGFAT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("toolset")]

STUDY = """\
title: pinned programs
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: 100mbit, delay: 5ms, loss: 0.1%}]]
setup:
  - h1: tc qdisc show dev h1-eth0 | sed s/h1/x/
flows:
  bulk: {iperf3: h1 -> h2, time: 2s}
  ping: {ping: h1 -> h2, count: 3}
  call: {cbr: h1 -> h2, rate: 1mbit, time: 2s}
  files:
    program: h1 -> h2
    run: grep -h -o ' /.*' /proc/self/maps /proc/1/maps; awk 1 /proc/1/maps | grep -o ' /.*'
probes:
  queue: {kind: queue, of: h1-eth0, every: 100ms}
  tcp: {kind: tcp, of: bulk, every: 100ms}
"""


@pytest.fixture(scope="module")
def toolset() -> Toolset:
    return toolsets.build(report=lambda *_: None)


@pytest.fixture
def study(tmp_path: Path, toolset: Toolset) -> Path:
    assert toolset.digest
    file = tmp_path / "pinned.yaml"
    file.write_text(STUDY)
    return file


def _run(study: Path, kernel: Kernel, *, out: Path) -> Run:
    (planned,) = read_study(study).cases.values()
    return run_case(planned.case, out=out, name="one", kernel=kernel)


def test_two_builds_are_equal(
    tmp_path: Path, toolset: Toolset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path))
    other = toolsets.build(report=lambda *_: None)
    assert other.folder.is_relative_to(tmp_path)
    assert other.digest == toolset.digest


def test_its_programs_run_on_the_host(toolset: Toolset) -> None:
    for name, option in (("iperf3", "--version"), ("tc", "-V"), ("python3", "-V"), ("curl", "-V")):
        done = subprocess.run(
            [*toolset.on_host(name), option], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_a_machine_uses_no_file_of_the_host(study: Path, kernel: Kernel, tmp_path: Path) -> None:
    run = _run(study, kernel, out=tmp_path)
    assert not run.unexpected
    assert sorted(run.tools) == ["longfat", "toolset"]
    maps = (run.folder / "raw/files.client.txt").read_text()
    files = set(re.findall(r" (/\S+)", maps))
    assert "/longfat/bin/grep" in files
    assert {file for file in files if not file.startswith("/longfat/")} == set()


def test_tc_has_the_wire_of_the_toolset(study: Path, kernel: Kernel, tmp_path: Path) -> None:
    start = STUDY.index("    run: grep")
    lines = "tc qdisc add dev lo root wire rate 3mbit limit 9000; tc qdisc show dev lo"
    lines += "; grep -c ' /longfat/lib/tc ' /proc/mounts; true"
    study.write_text(f"{STUDY[:start]}    run: {lines}\n{STUDY[STUDY.index('probes:') :]}")
    printed = (_run(study, kernel, out=tmp_path).folder / "raw/files.client.txt").read_text()
    assert re.search(r"^qdisc wire 8001: root .*rate 3Mbit limit 9000b", printed)
    assert printed.endswith("\n0\n")


def test_sandboxes_and_users_get_the_same_bytes(
    study: Path, kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _run(study, kernel, out=tmp_path / "a")
    monkeypatch.setenv(VARIABLE, "landlock")
    second = _run(study, kernel, out=tmp_path / "b")
    assert (first.sandbox, second.sandbox) == ("namespaces", "landlock")
    assert first.digest == second.digest


def test_programs_of_the_host_are_named(study: Path, kernel: Kernel, tmp_path: Path) -> None:
    study.write_text(STUDY.replace("sed s/h1/x/", "perl -pe s/h1/x/"))
    assert sorted(_run(study, kernel, out=tmp_path).tools) == ["longfat", "perl", "toolset"]


def test_a_missing_toolset_is_named(
    study: Path, kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "cache"))
    with pytest.raises(HostError, match="pinned tools are not built") as caught:
        _run(study, kernel, out=tmp_path)
    assert caught.value.hint == "longfat tools build"


def test_the_command(toolset: Toolset) -> None:
    done = subprocess.run(
        [LONGFAT, "tools", "list", "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == {
        "digest": toolset.digest,
        "folder": str(toolset.folder),
        "packages": dict(toolset.versions),
    }
    environment = {**os.environ, "LONGFAT_CACHE": "/dev/null/none"}
    refused = subprocess.run(
        [LONGFAT, "tools", "build"], capture_output=True, text=True, check=False, env=environment
    )
    assert refused.returncode == 3
    assert "cannot be stored" in refused.stderr
