from __future__ import annotations

import gzip
import io
import json
import random
import tarfile
from pathlib import Path

import pytest

from longfat.runner.cluster.packing import UnpackError, packed, unpack


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "made"
    (made / "raw" / "deep").mkdir(parents=True)
    (made / "raw" / "deep" / "a b.txt").write_bytes(b"x" * 3_000_000)
    (made / "program").write_bytes(b"p")
    (made / "program").chmod(0o755)
    (made / "empty").touch()
    return made


def test_there_and_back(folder: Path, tmp_path: Path) -> None:
    block = packed(folder)
    assert len(block) < 20_000
    (tmp_path / "back").mkdir()
    unpack(io.BytesIO(block), tmp_path / "back")
    for path in folder.rglob("*"):
        other = tmp_path / "back" / path.relative_to(folder)
        assert other.is_dir() == path.is_dir()
        if path.is_file():
            assert other.read_bytes() == path.read_bytes()
            assert other.stat().st_mode & 0o777 == (0o755 if path.name == "program" else 0o644)
    assert packed(tmp_path / "back") == block


def forged(items: object, *members: tarfile.TarInfo) -> bytes:
    """Return a block whose contents tell `items` and whose members are others."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as tar:
        contents = json.dumps(items).encode()
        first = tarfile.TarInfo("contents.json")
        first.size = len(contents)
        tar.addfile(first, io.BytesIO(contents))
        for member in members:
            tar.addfile(member, io.BytesIO(b"x" * member.size))
    return target.getvalue()


def item(name: str, size: int = 0) -> dict[str, object]:
    return {"name": name, "size_bytes": size, "sha256": "0" * 64, "executable": False}


def member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.size, made.linkname = kind, size, "/etc/passwd"
    return made


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (b"", "damaged|telling"),
        (b"nonsense", "damaged"),
        (gzip.compress(b""), "telling|damaged"),
        (forged("no list"), "cannot be read"),
        (forged([{"name": "a"}]), "cannot be read"),
        *((forged([item(name)]), "name that must not be") for name in ("../a", "/a", "a/../b", "")),
        *((forged([item(name)]), "name that must not be") for name in (".", "a/.", "a//b", "a\0b")),
        (forged([item("a"), item("a")]), "name that must not be"),
        (forged([item("a", -1)]), "name that must not be"),
        (forged([item("a", 1 << 60)]), "too much"),
        (forged([item("a")]), "missing"),
        (forged([item("a")], member("a", tarfile.SYMTYPE)), "no file"),
        (forged([item("a")], member("a", tarfile.LNKTYPE)), "no file"),
        (forged([item("a")], member("a", tarfile.CHRTYPE)), "no file"),
        (forged([item("a")], member("b")), "not what it tells"),
        (forged([item("a", 1)], member("a", size=2)), "not what it tells"),
        (forged([item("a", 1)], member("a", size=1)), "damaged on its way"),
        (forged([], member("a")), "more in it"),
    ],
)
def test_what_is_not_such_a_block(tmp_path: Path, block: bytes, words: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(UnpackError, match=words):
        unpack(io.BytesIO(block), inside)
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]


def test_a_block_that_was_cut_off_or_changed(folder: Path, tmp_path: Path) -> None:
    (folder / "noise").write_bytes(random.Random(1).randbytes(9000))
    block = packed(folder)
    middle = len(block) // 2
    for number, wrong in enumerate((block[:middle], block[:middle] + b"\0" + block[middle + 1 :])):
        inside = tmp_path / f"inside{number}"
        inside.mkdir()
        with pytest.raises(UnpackError):
            unpack(io.BytesIO(wrong), inside)
