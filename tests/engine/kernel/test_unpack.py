from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

import pytest

from longfat.engine.kernel.sources import count_records, pack_command, records_read, unpack_command

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
