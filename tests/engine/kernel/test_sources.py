from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from longfat.engine.kernel import sources
from longfat.engine.kernel.sources import count_records, pack_command, records_read, unpack_command
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


_KEPT = [
    "Makefile",
    "Kconfig",
    "Documentation/Kconfig",
    "arch/arm/Kconfig",
    "arch/um/kernel/time.c",
    "arch/x86/um/setjmp_64.S",
    "drivers/base/core.c",
    "drivers/char/random.c",
    "drivers/gpu/Kconfig",
    "drivers/gpu/drm/Makefile",
    "drivers/net/veth.c",
    "drivers/net/ethernet/Kconfig",
    "include/linux/tcp.h",
    "net/ipv4/tcp.c",
    "net/ethernet/eth.c",
    "sound/Kconfig",
    "tools/include/tools/be_byteshift.h",
]
_LEFT_OUT = [
    "Documentation/networking/tcp.rst",
    "arch/arm/kernel/setup.c",
    "arch/arm64/boot/dts/board.dtsi",
    "drivers/gpu/drm/drm.c",
    "drivers/net/ethernet/intel/e1000.h",
    "drivers/net/wireless/ath/ath.c",
    "sound/core/pcm.c",
    "tools/perf/perf.c",
    "tools/testing/selftests/net/tcp.c",
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    top = tmp_path / "linux-source-6.1"
    for name in _KEPT + _LEFT_OUT:
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return top


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("suffix", ["xz", "gz"])
def test_only_the_useful_part_is_unpacked(tree: Path, tmp_path: Path, suffix: str) -> None:
    tarball, into = tmp_path / f"linux.tar.{suffix}", tmp_path / "into"
    with tarfile.open(tarball, f"w:{suffix}") as tar:  # type: ignore[call-overload]
        tar.add(tree, tree.name)
    into.mkdir()
    subprocess.run(unpack_command(tarball, into=into), check=True)
    assert _files(into) == sorted(_KEPT)


def test_a_tree_is_packed_as_its_tarball_would_be_unpacked(tree: Path, tmp_path: Path) -> None:
    (tree / ".git").mkdir()
    (tree / ".git/HEAD").write_text("ref")
    (tree / "net/ipv4/tcp.o").write_text("built")
    tarball, into = tmp_path / "linux.tar", tmp_path / "into"
    with tarball.open("wb") as out:
        subprocess.run(pack_command(tree), check=True, stdout=out)
    into.mkdir()
    subprocess.run(unpack_command(tarball, into=into), check=True)
    assert _files(into) == sorted(_KEPT)


def test_the_length_of_an_xz_is_known(tree: Path, tmp_path: Path) -> None:
    tarball = tmp_path / "linux.tar.xz"
    with tarfile.open(tarball, "w:xz") as tar:
        tar.add(tree, tree.name)
    assert count_records(tarball) > 0
    assert count_records(tmp_path / "linux.tar.gz") == 0


def test_tar_tells_how_far_it_is(tmp_path: Path) -> None:
    big, tarball, into = tmp_path / "big", tmp_path / "linux.tar.xz", tmp_path / "into"
    with big.open("wb") as file:
        file.truncate(50_000_000)
    with tarfile.open(tarball, "w:xz", preset=0) as tar:
        tar.add(big, "linux/big")
    into.mkdir()
    command = unpack_command(tarball, into=into)
    said = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    report_log = [records_read(line) for line in said.splitlines()]
    assert report_log == [2000, 4000]
    assert report_log[-1] < count_records(tarball) < 5000
    assert records_read("tar: Removing leading `/' from member names") == 0
