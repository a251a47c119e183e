from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from longfat.engine.kernel import sources
from longfat.errors import HostError


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    for name in ("linux-source-6.12.tar.xz", "linux-source-6.1.tar.xz", "linux-headers.tar.xz"):
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "linux-source-6.1").mkdir()
    return tmp_path


def test_installed_versions_are_sorted_by_number(packages: Path) -> None:
    assert sources.installed_versions(folder=packages) == ["6.1", "6.12"]


def test_no_package_folder_is_no_package(tmp_path: Path) -> None:
    assert sources.installed_versions(folder=tmp_path / "none") == []


@pytest.mark.parametrize("version", ["6.1", "6.1.158"])
def test_a_version_is_found_in_the_package_of_its_series(packages: Path, version: str) -> None:
    found = sources.installed(version, folder=packages)
    assert found is not None
    assert found.path == packages / "linux-source-6.1.tar.xz"
    assert not found.is_tree


def test_ubuntu_names_a_series_by_its_first_release(packages: Path) -> None:
    (packages / "linux-source-6.8.0.tar.bz2").touch()
    found = sources.installed("6.8", folder=packages)
    assert found is not None
    assert found.path.name == "linux-source-6.8.0.tar.bz2"


def test_a_version_that_no_package_has(packages: Path) -> None:
    assert sources.installed("6.6", folder=packages) is None


def test_a_package_of_another_release_is_passed_over() -> None:
    # What dpkg says of a package counts, if the tarball is of one.
    for version in sources.installed_versions():
        assert sources.installed(version) is not None
        assert sources.installed(f"{version}.99999") is None


def _plant_tree(tree: Path) -> None:
    (tree / "arch/um").mkdir(parents=True)
    (tree / "Makefile").write_text("VERSION = 6\n")
    (tree / "arch/um/Kconfig").write_text("config UML\n")


def test_a_trees_digest_is_that_of_its_content(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "deeper/other"
    _plant_tree(one)
    shutil.copytree(one, other)
    os.utime(other / "Makefile", (0, 0))
    (other / "Makefile").chmod(0o600)
    (other / ".git").mkdir()
    (other / "built.o").write_text("")
    (other / ".built.o.cmd").write_text("")
    assert sources.Source(one).digest() == sources.Source(other).digest()
    (other / "Makefile").write_text("VERSION = 7\n")
    assert sources.Source(one).digest() != sources.Source(other).digest()


def test_a_tarballs_digest_is_that_of_its_bytes(packages: Path) -> None:
    names = ("linux-source-6.1.tar.xz", "linux-source-6.12.tar.xz")
    one, other = (sources.Source(packages / name) for name in names)
    assert one.digest() != other.digest()


def test_a_source_that_cannot_be_read_is_no_traceback(tmp_path: Path) -> None:
    with pytest.raises(HostError, match="cannot read the kernel source"):
        sources.Source(tmp_path / "gone.tar.xz").digest()
