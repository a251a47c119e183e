"""Wheels of kernels: packed from real ones, installed by pip, found and booted."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner
from packaging.version import Version

from longfat.cli.kernel import kernel as command
from longfat.common.checksum import write_sums
from longfat.engine.kernel import Kernel, cache, find, fits, manifest, manifest_of, recipe, wheel_of
from longfat.engine.kernel.build import build
from longfat.engine.kernel.manifest import Manifest
from longfat.errors import HostError
from tests.caches import share_toolset
from tests.paths import REPOSITORY


def _pack(folder: Path, **environment: str) -> Path:
    subprocess.run(
        [sys.executable, "-m", "tools.dist", str(folder), "6.1"],
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        timeout=60,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


def _install(wheel: Path, target: Path) -> None:
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
            *("--no-deps", "--no-index", "--target", str(target), str(wheel)),
        ],
        check=True,
        timeout=60,
    )


@pytest.fixture
def kernel() -> Kernel:
    return find("6.1")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _pack(tmp_path_factory.mktemp("dist"))


@pytest.fixture
def site(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of Python's path into which pip has installed the wheel; the cache has no kernel."""
    folder = tmp_path / "site"
    _install(wheel, folder)
    share_toolset(tmp_path / "cache")
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(folder))
    every = cache.wheel_folders
    # Those that somebody has installed beside the tests are not meant.
    monkeypatch.setattr(
        cache, "wheel_folders", lambda: (path for path in every() if folder in path.parents)
    )
    return folder


@pytest.fixture
def dist(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(REPOSITORY))
    return importlib.import_module("tools.dist")


def _everything(folder: Path) -> dict[Path, tuple[int, int]]:
    stats = {path: path.lstat() for path in folder.rglob("*")}
    return {path: (stat.st_mode, stat.st_mtime_ns) for path, stat in stats.items()}


def test_an_installed_kernel_is_found_and_boots(site: Path, boot: Callable[..., str]) -> None:
    before = _everything(site)
    kernel = find("6.1")
    assert kernel.folder.parent == site / "longfat_kernels"
    assert wheel_of(kernel) == "longfat-kernel-6.1"
    assert fits(kernel)
    assert cache.get(kernel.digest) == kernel
    assert boot(kernel, "uname -r").strip() == kernel.release
    assert _everything(site) == before, "site-packages may be read-only"


def test_it_is_the_kernel_that_was_packed(
    kernel: Kernel, wheel: Path, site: Path, tmp_path: Path
) -> None:
    found = find("6.1")
    assert found.digest == kernel.digest
    for path in kernel.folder.iterdir():
        other = found.folder / path.name
        assert other.read_bytes() == path.read_bytes()
        assert os.access(other, os.X_OK) == bool(path.stat().st_mode & 0o100)
    # So packing what is installed gives the same wheel.
    environment = {"PYTHONPATH": str(site), "LONGFAT_CACHE": str(tmp_path / "none")}
    assert _pack(tmp_path / "again", **environment).read_bytes() == wheel.read_bytes()


def test_two_wheels_of_a_kernel_are_equal(wheel: Path, tmp_path: Path) -> None:
    again = _pack(tmp_path / "again")
    assert again.name == wheel.name
    assert again.read_bytes() == wheel.read_bytes()


def test_a_wheel_has_what_the_kernel_was_made_of(site: Path) -> None:
    kernel = find("6.1")
    about = manifest_of(kernel)
    source = site / "longfat_kernels" / "source-6.1"
    assert recipe.load("6.1", folder=source / "kernel").digest == about.recipe_digest
    text = (source / "README.md").read_text()
    for report_log in (about.source_name, about.source_digest, about.release, *about.tools):
        assert report_log in text
    assert re.findall(r"^- kernel/patches/.*/(.*)$", text, re.MULTILINE) == list(about.patches)
    (licence,) = site.glob("longfat_kernel_6_1-*.dist-info/licenses/COPYING")
    assert "GNU GENERAL PUBLIC LICENSE" in licence.read_text()


def test_the_tag_names_the_c_library_that_is_needed(kernel: Kernel, wheel: Path) -> None:
    binaries = [kernel.binary, kernel.launcher, *kernel.folder.glob("*.so")]
    said = subprocess.run(["objdump", "-T", *binaries], capture_output=True, text=True, check=True)
    newest = max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", said.stdout))
    assert wheel.name.endswith(f"-py3-none-manylinux_2_{newest}_x86_64.whl")


def test_a_library_that_others_lack_is_refused(dist: ModuleType, tmp_path: Path) -> None:
    source = "int main(void) { return 0; }"
    subprocess.run(
        ["gcc", "-x", "c", "-", "-o", tmp_path / "odd", "-Wl,--no-as-needed", "-lm"],
        input=source,
        text=True,
        check=True,
    )
    with pytest.raises(HostError, match=r"needs libm\.so"):
        dist.glibc_minor(tmp_path)


@pytest.mark.parametrize("release", ["6.1.192", "6.12-rc3", "7.2.0-Custom+", "6.6.5-1_a"])
def test_every_release_makes_a_version(
    release: str, make_manifest: Callable[..., Manifest], dist: ModuleType, tmp_path: Path
) -> None:
    made = make_manifest(release=release, digest="0" * 64, series="6.1").kernel(tmp_path)
    version = dist._wheel_version(made)
    assert str(Version(version)) == version
    assert version.endswith("k" + "0" * 12)


@pytest.mark.usefixtures("site")
def test_damage_is_told() -> None:
    shim = find("6.1").folder / "entropy.so"
    content = bytearray(shim.read_bytes())
    content[len(content) // 2] ^= 1
    shim.write_bytes(content)
    with pytest.raises(HostError, match=r"entropy\.so: its bytes are not") as caught:
        find("6.1")
    assert caught.value.hint.startswith("pip uninstall longfat-kernel-6.1")
    assert cache.get(shim.parent.name) is None


def test_one_of_another_recipe_is_passed_over(
    tmp_path: Path, make_manifest: Callable[..., Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "longfat_kernels" / ("a" * 64)
    folder.mkdir(parents=True)
    manifest.write(make_manifest(release="9.8.7", digest=folder.name), folder)
    write_sums(folder)
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(HostError, match=r"9\.8\.7 was built from other answers"):
        find("9.8")
    recipe_digest = recipe.load("9.8").digest
    manifest.write(
        make_manifest(release="9.8.7", digest=folder.name, recipe_digest=recipe_digest), folder
    )
    write_sums(folder)
    assert find("9.8").folder == folder


def test_a_build_takes_an_installed_one(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")  # no compiler

    def report(_: Any) -> None:
        pytest.fail("something was built")

    assert site in build("6.1", progress=report).folder.parents


@pytest.mark.usefixtures("site")
def test_pip_alone_removes_it() -> None:
    kernel = find("6.1")
    listed = json.loads(CliRunner().invoke(command, ["list", "--json"]).stdout)
    assert [one["wheel"] for one in listed] == [wheel_of(kernel)]
    assert "longfat-kernel-6.1" in CliRunner().invoke(command, ["list"]).stdout
    with pytest.raises(HostError, match="installed by pip") as caught:
        CliRunner().invoke(command, ["remove", kernel.digest], catch_exceptions=False)
    assert caught.value.hint == "pip uninstall longfat-kernel-6.1"
    assert find("6.1") == kernel


def test_its_record_names_every_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        (record,) = (name for name in file.namelist() if name.endswith("/RECORD"))
        report_log = [line.split(",")[0] for line in file.read(record).decode().splitlines()]
        assert report_log == file.namelist()
