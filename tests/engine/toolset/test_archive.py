from __future__ import annotations

import os
from pathlib import Path

import pytest

from longfat.engine.toolset.archive import pack, unpack
from longfat.errors import HostError


def _folder(path: Path) -> Path:
    (path / "bin").mkdir(parents=True)
    (path / "bin/python3.11").write_bytes(b"program")
    (path / "bin/python3.11").chmod(0o755)
    (path / "bin/python3").symlink_to("python3.11")
    (path / "manifest.json").write_text("{}")
    for file in (path, *path.rglob("*")):
        os.utime(file, (1, 1), follow_symlinks=False)
    return path


def test_what_is_packed_comes_out(tmp_path: Path) -> None:
    for name in ("a", "b"):
        pack(_folder(tmp_path / name), tmp_path / f"{name}.tar.xz")
    assert (tmp_path / "a.tar.xz").read_bytes() == (tmp_path / "b.tar.xz").read_bytes()
    unpack(tmp_path / "a.tar.xz", tmp_path / "c")
    program = tmp_path / "c/bin/python3.11"
    assert (program.read_bytes(), program.stat().st_mode & 0o777) == (b"program", 0o755)
    assert program.stat().st_mtime == 1
    assert (tmp_path / "c/bin/python3").readlink() == Path("python3.11")


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    pack(_folder(tmp_path / "a"), tmp_path / "a.tar.xz")
    whole = (tmp_path / "a.tar.xz").read_bytes()
    for number, data in enumerate((b"", whole[:50], whole[:100] + b"xxxx" + whole[104:])):
        (tmp_path / "damaged").write_bytes(data)
        with pytest.raises(HostError, match="is damaged"):
            unpack(tmp_path / "damaged", tmp_path / f"out{number}")
