"""Bundles of a real study: written, changed in each of their parts, and run again."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longfat.engine import kernel as kernels
from longfat.engine import toolset as toolsets
from tests.command import longfat
from tests.resealed import reseal

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("toolset")]

STUDY = """\
title: Replies of our own server
kernel: "6.1"
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: 100mbit, delay: 5ms, loss: 0.1%}]]
files:
  /opt/lab/serve.py: {from: bin/serve.py, executable: true}
flows:
  ping: {ping: h1 -> h2, count: 3}
  serve:
    program: h1 -> h2
    run: python3 /opt/lab/serve.py
seeds: 2
claims:
  - the link is short: all(ping.max < 20ms)
"""
PROGRAM = 'import random\nprint("served", random.random() < 2)\n'
RUNS = ["default-seed1", "default-seed2"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a study, its runs and its bundle."""
    toolsets.build(report=lambda *_: None)
    folder = tmp_path_factory.mktemp("study")
    (folder / "bin").mkdir()
    (folder / "served.yaml").write_text(STUDY)
    (folder / "bin/serve.py").write_text(PROGRAM)
    (folder / "secret.txt").write_text("of no concern")
    done = longfat("bundle", "served.yaml", "--no-report", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def unpacked(folder: Path, tmp_path: Path) -> Path:
    with zipfile.ZipFile(folder / "served-bundle.zip") as file:
        file.extractall(tmp_path / "unpacked")
    return tmp_path / "unpacked"


def _packed(folder: Path, *, sums: bool) -> Path:
    """Pack a folder as a bundle, with new checksums or the old ones."""
    names = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
    if sums:
        names.remove("SHA256SUMS")
        lines = (
            f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
            for name in names
        )
        (folder / "SHA256SUMS").write_text("".join(lines))
        names.append("SHA256SUMS")
    path = folder.parent / "changed.zip"
    with zipfile.ZipFile(path, "w") as file:
        for name in names:
            mode = 0o100755 if name.endswith((".so", "/linux")) else 0o100644
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            file.writestr(entry, (folder / name).read_bytes())
    return path


def _verify(path: Path, *arguments: str, **environment: str) -> tuple[int, Any, str]:
    done = longfat("verify", str(path), "--json", *arguments, cwd=path.parent, **environment)
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


def test_what_is_in_it(folder: Path) -> None:
    with zipfile.ZipFile(folder / "served-bundle.zip") as file:
        names = set(file.namelist())
        readme = file.read("README.md").decode()
        record = json.loads(file.read("bundle.json"))
        assert file.read("study/bin/serve.py").decode() == PROGRAM
        everything = b"".join(file.read(name) for name in names if not name.startswith("toolset/"))
    assert record["runs"] == RUNS
    digest = kernels.find("6.1").digest
    assert {
        "study/served.yaml",
        "results/claims.json",
        "results/default-seed1/manifest.json",
        "results/default-seed2/raw/ping.txt",
        f"kernels/{digest}/linux",
        f"kernels/{digest}/source/kernel/answers.config",
        "toolset/toolset.tar",
        "toolset/licences/iperf3/copyright",
        "licences/GPL-2.0.txt",
        "licences/Apache-2.0.txt",
        ".zenodo.json",
        "ro-crate-metadata.json",
    } <= names
    # The launcher of others is never run; and nothing else of the author's computer is there.
    assert f"kernels/{digest}/confine" not in names
    assert not [name for name in names if "secret" in name]
    assert str(folder).encode() not in everything
    assert "longfat verify" in readme
    assert "the link is short" in readme
    assert max(len(line) for line in readme.splitlines() if not line.startswith("|")) <= 100


def test_two_bundles_of_the_same_runs_are_equal(folder: Path, tmp_path: Path) -> None:
    for source in ("served.yaml", "runs/served"):
        out = tmp_path / f"{Path(source).name}.zip"
        done = longfat("bundle", source, "--no-report", "-o", str(out), "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert out.read_bytes() == (folder / "served-bundle.zip").read_bytes()
        document = json.loads(done.stdout)
        assert list(document["runs"]) == RUNS
        assert document["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()


def test_its_bytes_come_out_again(folder: Path) -> None:
    code, document, errors = _verify(folder / "served-bundle.zip")
    assert code == 0, errors
    assert [run["agreement"] for run in document["runs"]] == ["same", "same"]
    assert document["claims"] == [{"text": "the link is short", "holds": True}]
    assert document["longfat"]["same"] is True
    assert "of this computer" in errors


def test_kernel_and_toolset_are_those_of_the_bundle_if_there_are_no_others(
    folder: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    code, document, errors = _verify(folder / "served-bundle.zip", LONGFAT_CACHE=str(cache))
    assert code == 0, errors
    assert [kernel["from_bundle"] for kernel in document["kernels"]] == [True]
    assert document["toolset"]["from_bundle"] is True
    assert [run["agreement"] for run in document["runs"]] == ["same", "same"]
    assert "a kernel of the bundle is a program of its authors" in errors
    # Nothing of it stays: a kernel of others must not be found by other commands.
    assert not (cache / "kernels").exists()
    assert not (cache / "toolsets").exists()
    assert list((cache / "bundles").iterdir()) == []


def test_no_kernel_of_the_bundle_is_run_on_request(folder: Path, tmp_path: Path) -> None:
    path = folder / "served-bundle.zip"
    code, _, errors = _verify(path, "--own-kernel", LONGFAT_CACHE=str(tmp_path / "cache"))
    assert (code, "longfat kernel build 6.1" in errors) == (3, True)
    code, document, errors = _verify(path, "--own-kernel")
    assert code == 0, errors
    assert [kernel["from_bundle"] for kernel in document["kernels"]] == [False]


def test_the_launcher_is_never_that_of_the_bundle(unpacked: Path, tmp_path: Path) -> None:
    """It runs outside of the sandbox, so it would be a program of a stranger on the host."""
    digest = kernels.find("6.1").digest
    trap = unpacked / f"kernels/{digest}/confine"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/trapped\n")
    path = _packed(unpacked, sums=True)
    code, _, errors = _verify(path, LONGFAT_CACHE=str(tmp_path / "cache"))
    assert code == 0, errors
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "study/served.yaml",
        "study/bin/serve.py",
        "results/default-seed1/raw/ping.txt",
        "results/default-seed2/manifest.json",
        "results/claims.json",
        "toolset/toolset.tar",
        "licences/GPL-2.0.txt",
    ],
)
def test_a_changed_byte_is_named(name: str, unpacked: Path) -> None:
    content = bytearray((unpacked / name).read_bytes())
    content[len(content) // 2] ^= 1
    (unpacked / name).write_bytes(content)
    code, document, errors = _verify(_packed(unpacked, sums=False))
    assert code == 2, errors
    assert f"{name}: its bytes are not those in SHA256SUMS" in document["problems"]
    assert document["runs"] == []


def _edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def _change_result(folder: Path) -> None:
    _edit(folder / "results/default-seed1/raw/ping.txt", "3 received", "2 received")


def _change_program(folder: Path) -> None:
    _edit(folder / "study/bin/serve.py", "served", "served!")


def _change_study(folder: Path) -> None:
    _edit(folder / "study/served.yaml", "delay: 5ms", "delay: 6ms")


def _change_kernel(folder: Path) -> None:
    (binary,) = folder.glob("kernels/*/linux")
    binary.write_bytes(binary.read_bytes() + b"\0")


def _change_toolset(folder: Path) -> None:
    archive = folder / "toolset/toolset.tar"
    content = archive.read_bytes()
    at = content.index(b"\x7fELF") + 2000
    archive.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])


def _take_a_run_away(folder: Path) -> None:
    shutil.rmtree(folder / "results/default-seed2")


def _add_a_file(folder: Path) -> None:
    (folder / "results/default-seed1/raw/more.txt").write_text("more")


CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "result": (
        _change_result,
        "results/default-seed1/raw/ping.txt: its bytes are not those in the run's manifest.json",
    ),
    "program": (_change_program, "files./opt/lab/serve.py"),
    "study": (_change_study, "network"),
    "kernel": (_change_kernel, "/linux: it is another kernel"),
    "run away": (_take_a_run_away, "there is no results/default-seed2/manifest.json"),
    "file": (_add_a_file, "results/default-seed1/raw/more.txt: it does not belong to the run"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_with_new_checksums_is_named(change: str, unpacked: Path) -> None:
    make, reason = CHANGES[change]
    make(unpacked)
    done = longfat("verify", str(_packed(unpacked, sums=True)), cwd=unpacked.parent)
    assert done.returncode == 2, done.stderr
    assert reason in done.stderr
    assert done.stdout == ""


def test_a_changed_toolset_is_refused(unpacked: Path, tmp_path: Path) -> None:
    _change_toolset(unpacked)
    path = _packed(unpacked, sums=True)
    code, _, errors = _verify(path, LONGFAT_CACHE=str(tmp_path / "cache"))
    assert code == 2, errors
    assert "the toolset is another one" in errors


def test_a_result_that_was_changed_with_all_that_depends_on_it_is_found_by_running(
    unpacked: Path,
) -> None:
    _change_result(unpacked)
    reseal(unpacked / "results/default-seed1")
    code, document, errors = _verify(_packed(unpacked, sums=True))
    assert code == 1, errors
    first, second = document["runs"]
    assert (first["agreement"], second["agreement"]) == ("different", "same")
    assert first["files"] == ["raw/ping.txt"]


def test_a_bundle_of_another_format_says_which_longfat_wrote_it(unpacked: Path) -> None:
    _edit(unpacked / "bundle.json", '"format": 1', '"format": 7')
    _edit(unpacked / "bundle.json", '"longfat": "', '"longfat": "9.')
    done = longfat("verify", str(_packed(unpacked, sums=True)), cwd=unpacked.parent)
    assert done.returncode == 2
    assert "of format 7, of longfat 9." in done.stderr


def test_a_bundle_of_another_longfat_is_run_with_a_note(unpacked: Path) -> None:
    _edit(unpacked / "bundle.json", '"longfat": "', '"longfat": "9.')
    manifest = json.loads((unpacked / "results/default-seed1/manifest.json").read_text())
    tools = manifest["tools"] | {"longfat": {"version": "9", "digest": "0" * 64}}
    _change_result(unpacked)
    reseal(unpacked / "results/default-seed1", tools=tools)
    code, document, errors = _verify(_packed(unpacked, sums=True))
    assert code == 1, errors
    assert "the bundle is of longfat 9." in errors
    assert document["longfat"]["same"] is False
    assert document["runs"][0]["agreement"] == "other_longfat"


def test_without_binaries(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "small.zip"
    arguments = ("--no-report", "--without-binaries", "-o", str(out))
    done = longfat("bundle", "runs/served", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert out.stat().st_size < 2e6
    digest = kernels.find("6.1").digest
    with zipfile.ZipFile(out) as file:
        assert not [name for name in file.namelist() if name.endswith((".so", "linux", ".tar"))]
        text = file.read(f"kernels/{digest}/README.md").decode()
    assert kernels.find("6.1").binary_sha256 in text
    assert "longfat kernel build 6.1" in text
    assert _verify(out)[0] == 0
    code, _, errors = _verify(out, LONGFAT_CACHE=str(tmp_path / "cache"))
    assert (code, "longfat kernel build 6.1" in errors) == (3, True)


def test_what_cannot_be_bundled_is_said(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    copy = tmp_path / "copy"

    def errors() -> str:
        done = longfat("bundle", "runs/served", "--no-report", cwd=copy)
        assert done.returncode == 2, done.stderr
        return done.stderr

    _edit(copy / "bin/serve.py", "served", "served!")
    assert "files./opt/lab/serve.py; run the study again" in errors()
    _edit(copy / "bin/serve.py", "served!", "served")
    run = copy / "runs/served/default-seed1"
    (run / "raw/ping.txt").write_text("2 received")
    assert "raw/ping.txt" in errors()
    manifest = json.loads((run / "manifest.json").read_text())
    del manifest["tools"]["toolset"]
    reseal(run, tools=manifest["tools"])
    assert "with this host's programs" in errors()
    (copy / "served.yaml").unlink()
    assert "name it by --study FILE" in errors()


def test_options_are_checked(tmp_path: Path) -> None:
    for arguments in (
        ("bundle", "lab01", "--author", "("),
        ("bundle", "lab01", "--license", "my own"),
        ("bundle", "lab01", "--date", "yesterday"),
        ("bundle", "lab01", "--study", "x.yaml"),
        ("bundle", "nothing-here"),
        ("verify", "a.zip", "lab01"),
        ("verify", "a.zip", "--kernel", "6.1"),
        ("verify", "lab01", "--own-kernel"),
        ("verify", "missing.zip"),
    ):
        done = longfat(*arguments, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert "Traceback" not in done.stderr


def test_a_verification_that_is_killed_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    environment = {**os.environ, "LONGFAT_CACHE": str(cache)}
    code = "from longfat.cli.main import main; main()"
    command = [sys.executable, "-c", code, "verify", str(folder / "served-bundle.zip")]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            if list(cache.glob("bundles/.verifying-*/kernels")):
                break
            time.sleep(0.05)
        assert list(cache.glob("bundles/.verifying-*"))
    finally:
        process.kill()
        process.wait()
    for _ in range(200):
        if not list(cache.glob("bundles/.verifying-*")):
            break
        time.sleep(0.05)
    assert not list(cache.glob("bundles/.verifying-*"))
