"""How much memory machines may take: what the host has, and what a control group leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.execution.memory_bound import available_bytes

GIB = 2**30


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    write(tmp_path / "proc", meminfo=f"MemTotal: 99 kB\nMemAvailable: {8 * GIB // 1024} kB\n")
    return tmp_path / "proc"


def bound(tmp_path: Path) -> float:
    return available_bytes(proc=tmp_path / "proc", groups=tmp_path / "groups") / 0.9


def test_what_the_host_has(tmp_path: Path, proc: Path) -> None:
    assert bound(tmp_path) == pytest.approx(8 * GIB)
    (proc / "meminfo").unlink()
    assert bound(tmp_path) == float("inf")


def test_what_a_group_of_version_2_leaves(tmp_path: Path, proc: Path) -> None:
    write(proc / "self", cgroup="0::/job/step\n")
    groups = tmp_path / "groups"
    write(groups / "job", memory__max=f"{4 * GIB}\n", memory__current=f"{3 * GIB}\n")
    write(groups / "job" / "step", memory__max="max\n", memory__current="0\n")
    assert bound(tmp_path) == pytest.approx(GIB)
    # Cached files make room when it is needed.
    write(groups / "job", memory__stat=f"active_file 5\ninactive_file {2 * GIB}\n")
    assert bound(tmp_path) == pytest.approx(3 * GIB)


def test_what_a_group_of_version_1_leaves(tmp_path: Path, proc: Path) -> None:
    write(proc / "self", cgroup="5:cpu:/x\n4:memory:/of/the/host\n0::/\n")
    groups = tmp_path / "groups" / "memory"
    write(groups, memory__limit_in_bytes=f"{2 * GIB}\n", memory__usage_in_bytes=f"{GIB}\n")
    assert bound(tmp_path) == pytest.approx(GIB)
    write(groups, memory__limit_in_bytes=f"{2**63 - 4096}\n")
    assert bound(tmp_path) == pytest.approx(8 * GIB)
