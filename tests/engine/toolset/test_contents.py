from __future__ import annotations

import io
import json
import random
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.common.checksum import write_sums
from longfat.engine.toolset.archive import write_tar
from longfat.engine.toolset.contents import contents_digest, unpack_checked
from longfat.errors import InputError


def _toolset(folder: Path) -> str:
    """Make a small toolset, and return its digest."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python3.11").write_bytes(b"program")
    (folder / "bin/python3.11").chmod(0o755)
    (folder / "bin/python3").symlink_to("python3.11")
    (folder / "lib").mkdir()
    (folder / "lib/libc.so.6").write_bytes(b"library")
    digest = contents_digest(folder)
    (folder / "manifest.json").write_text(json.dumps({"digest": digest, "packages": {}}))
    write_sums(folder)
    return digest


@pytest.fixture
def packed(tmp_path: Path) -> tuple[bytes, str]:
    digest = _toolset(tmp_path / "toolset")
    file = io.BytesIO()
    write_tar(tmp_path / "toolset", file)
    return file.getvalue(), digest


def test_a_toolset_of_the_digest_is_unpacked(packed: tuple[bytes, str], tmp_path: Path) -> None:
    content, digest = packed
    toolset = unpack_checked(io.BytesIO(content), tmp_path / "out", digest=digest)
    assert toolset.digest == digest == contents_digest(tmp_path / "out")
    assert (tmp_path / "out/bin/python3").readlink() == Path("python3.11")
    assert (tmp_path / "out/bin/python3.11").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize("reseals", [False, True])
def test_a_changed_program_is_refused(reseals: bool, tmp_path: Path) -> None:
    """Also if the author of the change has written the checksums and the manifest anew."""
    digest = _toolset(tmp_path / "toolset")
    (tmp_path / "toolset/bin/python3.11").write_bytes(b"another")
    if reseals:
        write_sums(tmp_path / "toolset")
    file = io.BytesIO()
    write_tar(tmp_path / "toolset", file)
    file.seek(0)
    with pytest.raises(InputError, match=f"another one than {digest[:12]}"):
        unpack_checked(file, tmp_path / "out", digest=digest)


def _entry(name: str, kind: bytes, target: str = "", size: int = 0) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.size, entry.mode = kind, target, size, 0o4755
    return entry


def _tar(*entries: tarfile.TarInfo) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for entry in entries:
            tar.addfile(entry, io.BytesIO(bytes(entry.size)))
    return file.getvalue()


def _huge_header() -> bytes:
    header = _entry("././@LongLink", tarfile.GNUTYPE_LONGNAME)
    header.size = 1 << 32
    return header.tobuf(tarfile.GNU_FORMAT)


ATTACKS: dict[str, tuple[Callable[[], bytes], str]] = {
    "parent": (lambda: _tar(_entry("../a", tarfile.REGTYPE)), "leads out"),
    "absolute": (lambda: _tar(_entry("/tmp/a", tarfile.REGTYPE)), "leads out"),
    "link out": (lambda: _tar(_entry("a", tarfile.SYMTYPE, "/etc")), "not beside it"),
    "link up": (lambda: _tar(_entry("a", tarfile.SYMTYPE, "..")), "not beside it"),
    "through a link": (
        lambda: _tar(
            _entry("d", tarfile.DIRTYPE),
            _entry("l", tarfile.SYMTYPE, "d"),
            _entry("l/a", tarfile.REGTYPE, size=4),
        ),
        "in no folder",
    ),
    "hard link": (lambda: _tar(_entry("a", tarfile.LNKTYPE, "/etc/passwd")), "neither a file"),
    "device": (lambda: _tar(_entry("a", tarfile.CHRTYPE)), "neither a file"),
    "sparse": (lambda: _tar(_entry("a", tarfile.GNUTYPE_SPARSE)), "neither a file"),
    "twice": (
        lambda: _tar(_entry("a", tarfile.REGTYPE), _entry("a", tarfile.REGTYPE)),
        "two entries",
    ),
    "no folder": (lambda: _tar(_entry("a/b", tarfile.REGTYPE)), "in no folder"),
    "header": (_huge_header, "extended header"),
    "empty": (bytes, "damaged"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused(attack: str, tmp_path: Path) -> None:
    make, reason = ATTACKS[attack]
    with pytest.raises(InputError, match=reason):
        unpack_checked(io.BytesIO(make()), tmp_path / "out", digest="0" * 64)
    assert {path.name for path in tmp_path.iterdir()} <= {"out", "out.checked"}
    assert all(path.stat().st_mode & 0o6000 == 0 for path in (tmp_path / "out").rglob("*"))


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_damage_is_refused_or_changes_nothing(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("damage")
    digest = _toolset(folder / "toolset")
    file = io.BytesIO()
    write_tar(folder / "toolset", file)
    data, draws = bytearray(file.getvalue()), random.Random(seed)
    for _ in range(draws.randint(1, 4)):
        # Headers begin at multiples of 512 bytes.
        at = draws.randrange(len(data) // 512) * 512 + draws.randrange(512)
        data[at] = draws.randrange(256)
    try:
        unpack_checked(io.BytesIO(data), folder / "out", digest=digest)
    except InputError:
        pass
    else:
        assert contents_digest(folder / "out") == digest
    assert {path.name for path in folder.iterdir()} <= {"toolset", "out", "out.checked"}
