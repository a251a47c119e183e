from __future__ import annotations

import gzip
import hashlib
import io
import json
import random
import shutil
import tarfile
import tracemalloc
from pathlib import Path

import pytest

from longfat_cluster.transfer import UnpackError, packed, unpack


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
            assert other.stat().st_mode & 0o777 == 0o644
    assert packed(tmp_path / "back") == block


def forged(items: object, *members: tarfile.TarInfo) -> bytes:
    """Return a block whose contents tell `items` and whose members are others."""
    return forged_text(json.dumps(items), *members)


def forged_text(text: str, *members: tarfile.TarInfo) -> bytes:
    """Return the same of contents that are text."""
    target = io.BytesIO()
    # The blocks are parameters of tests, which are to be the same for all workers of pytest's.
    with (
        gzip.GzipFile(fileobj=target, mode="wb", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as tar,
    ):
        contents = text.encode()
        first = tarfile.TarInfo("contents.json")
        first.size = len(contents)
        tar.addfile(first, io.BytesIO(contents))
        for member in members:
            tar.addfile(member, io.BytesIO(b"x" * member.size))
    return target.getvalue()


def item(name: str, size: int = 0) -> dict[str, object]:
    return {"name": name, "size_bytes": size, "sha256": "0" * 64}


def empty(name: str) -> dict[str, object]:
    return {**item(name), "sha256": hashlib.sha256().hexdigest()}


def member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.size, made.linkname = kind, size, "/etc/passwd"
    return made


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (b"", "damaged|list of its contents"),
        (b"nonsense", "damaged"),
        (gzip.compress(b"", mtime=0), "list of its contents|damaged"),
        (forged("no list"), "cannot be read"),
        (forged([{"name": "a"}]), "cannot be read"),
        *((forged([item(name)]), "invalid name") for name in ("../a", "/a", "a/../b", "")),
        *((forged([item(name)]), "invalid name") for name in (".", "a/.", "a//b", "a\0b")),
        (forged([item("a"), item("a")]), "invalid name"),
        (forged([item("a", -1)]), "invalid name"),
        (forged([item("a", 1 << 60)]), "too much"),
        (forged([item("a")]), "missing"),
        (forged([item("a")], member("a", tarfile.SYMTYPE)), "not a file"),
        (forged([item("a")], member("a", tarfile.LNKTYPE)), "not a file"),
        (forged([item("a")], member("a", tarfile.CHRTYPE)), "not a file"),
        (forged([item("a")], member("b")), "does not match its list"),
        (forged([item("a", 1)], member("a", size=2)), "does not match its list"),
        (forged([item("a", 1)], member("a", size=1)), "damaged in transfer"),
        (forged([], member("a")), "more than its list"),
        (forged([empty("a"), empty("a/b")], member("a"), member("a/b")), "below a file of it"),
        (forged([empty("a/b"), empty("a")], member("a/b"), member("a")), "or a folder"),
        (forged([item("a", 1 << 45)]), "too much"),
        (forged([item("a", 10**4000), item("b", 10**4000)]), "cannot be read"),
        (forged([item("a", float("nan"))]), "cannot be read"),  # type: ignore[arg-type]
        (forged([{**item("a"), "name": ["a"]}]), "cannot be read"),
        (forged(["a"]), "cannot be read"),
        (forged_text("[" * 100_000), "cannot be read"),
        (forged_text("[1" + "0" * 5000 + "]"), "cannot be read"),
    ],
)
def test_what_is_not_such_a_block(tmp_path: Path, block: bytes, words: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(UnpackError, match=words):
        unpack(io.BytesIO(block), inside)
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]


def test_what_there_is_no_room_for_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=999)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    block = forged([empty("a"), item("b", 1000)], member("a"), member("b", size=1000))
    with pytest.raises(UnpackError, match="more than the limit"):
        unpack(io.BytesIO(block), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_block_that_was_cut_off_or_changed(folder: Path, tmp_path: Path) -> None:
    (folder / "noise").write_bytes(random.Random(1).randbytes(9000))
    block = packed(folder)
    middle = len(block) // 2
    for number, wrong in enumerate((block[:middle], block[:middle] + b"\0" + block[middle + 1 :])):
        inside = tmp_path / f"inside{number}"
        inside.mkdir()
        with pytest.raises(UnpackError):
            unpack(io.BytesIO(wrong), inside)


def bomb(kind: bytes, *, size: int) -> bytes:
    """Return a small block that unpacks to a header of so many bytes, which a tar reads whole."""
    target = io.BytesIO()
    with gzip.GzipFile(fileobj=target, mode="wb") as zipped:
        header = tarfile.TarInfo("contents.json")
        header.type, header.size = kind, size
        zipped.write(header.tobuf(tarfile.GNU_FORMAT))
        for _ in range(size >> 20):
            zipped.write(bytes(1 << 20))
    return target.getvalue()


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_bomb_takes_no_memory(tmp_path: Path, kind: bytes) -> None:
    block = bomb(kind, size=200 << 20)
    assert len(block) < 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(UnpackError, match=r"is not a file|has an invalid name"):
            unpack(io.BytesIO(block), tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()
    assert list(tmp_path.iterdir()) == []


def test_headers_of_headers_without_end(tmp_path: Path) -> None:
    target = io.BytesIO()
    with gzip.GzipFile(fileobj=target, mode="wb") as zipped:
        header = tarfile.TarInfo("x")
        header.type = tarfile.XGLTYPE
        zipped.write(header.tobuf(tarfile.GNU_FORMAT) * 5000)
    with pytest.raises(UnpackError, match="is not a file"):
        unpack(io.BytesIO(target.getvalue()), tmp_path)


def test_a_file_that_is_much_larger_than_its_block(tmp_path: Path) -> None:
    # Zeros are allowed: a block's size says nothing. What was told of it bounds it.
    block = forged([item("a", 1)], member("a", size=1))
    zipped = gzip.decompress(block)
    with pytest.raises(UnpackError):
        unpack(io.BytesIO(gzip.compress(zipped + bytes(1 << 24))), tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1
