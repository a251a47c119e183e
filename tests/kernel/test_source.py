from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from longfat.errors import InputError, SurroundingsError
from longfat.kernel import source


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    for name in ("linux-source-6.12.tar.xz", "linux-source-6.1.tar.xz", "linux-headers.tar.xz"):
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "linux-source-6.1").mkdir()
    return tmp_path


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution that has packages of 6.1, 6.12 and 6.6."""
    folder = tmp_path / "bin"
    folder.mkdir()
    apt = folder / "apt-cache"
    names = "linux-source-6.1 linux-source-6.12 linux-source-6.6 linux-source-doc"
    apt.write_text(f"#!/bin/sh\necho {names} | tr ' ' '\\n'\n")
    apt.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_installed_versions_are_sorted_by_number(packages: Path) -> None:
    assert source.installed_versions(folder=packages) == ["6.1", "6.12"]


def test_no_package_folder_is_no_package(tmp_path: Path) -> None:
    assert source.installed_versions(folder=tmp_path / "none") == []


@pytest.mark.parametrize("version", ["6.1", "6.1.158"])
def test_a_version_is_found_in_the_package_of_its_series(packages: Path, version: str) -> None:
    found = source.locate(version, folder=packages)
    assert found.path == packages / "linux-source-6.1.tar.xz"
    assert not found.is_tree


@pytest.mark.usefixtures("offered")
def test_a_package_that_could_be_installed_is_named(packages: Path) -> None:
    with pytest.raises(SurroundingsError, match=r"kernel 6\.6\.1 .*there: 6\.1, 6\.12") as caught:
        source.locate("6.6.1", folder=packages)
    assert caught.value.mend == "sudo apt-get install linux-source-6.6"


@pytest.mark.usefixtures("offered")
def test_the_nearest_is_named_if_there_is_no_package(packages: Path) -> None:
    with pytest.raises(SurroundingsError, match=r"the nearest is 6\.12") as caught:
        source.locate("6.13", folder=packages)
    assert caught.value.mend == "longfat kernel build 6.12"


@pytest.mark.usefixtures("offered")
def test_the_nearest_may_have_to_be_installed(tmp_path: Path) -> None:
    with pytest.raises(SurroundingsError, match=r"there is none.*the nearest is 6\.6") as caught:
        source.locate("6.7", folder=tmp_path)
    assert caught.value.mend == "sudo apt-get install linux-source-6.6"


def test_a_host_without_packages_is_told_of_tarballs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SurroundingsError) as caught:
        source.locate("6.7", folder=tmp_path)
    assert caught.value.mend == "longfat kernel build 6.7 --source TARBALL"


def test_a_source_that_is_not_there_is_the_callers_fault(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no kernel source at"):
        source.locate("6.1", path=tmp_path / "none")


def test_what_is_no_version_is_refused(packages: Path) -> None:
    with pytest.raises(InputError):
        source.locate("../6.1", folder=packages)


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
    assert source.Source(one).digest() == source.Source(other).digest()
    (other / "Makefile").write_text("VERSION = 7\n")
    assert source.Source(one).digest() != source.Source(other).digest()


def test_a_tarballs_digest_is_that_of_its_bytes(packages: Path) -> None:
    one, other = (source.locate(version, folder=packages) for version in ("6.1", "6.12"))
    assert one.digest() != other.digest()


def test_a_source_that_cannot_be_read_is_no_traceback(tmp_path: Path) -> None:
    with pytest.raises(SurroundingsError, match="cannot read the kernel source"):
        source.Source(tmp_path / "gone.tar.xz").digest()
