from __future__ import annotations

import io
import random
import stat
import struct
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.common import zip_archive
from longfat.common.checksum import SUMS
from longfat.common.zip_archive import Member, open_archive, write_archive
from longfat.errors import InputError

MEMBERS = {
    "study/study.yaml": Member.of_text("title: one\n"),
    "study/bin/run.sh": Member(content=b"#!/bin/sh\n", executable=True),
    "results/empty": Member(content=b""),
    "results/a.parquet": Member(content=bytes(range(256)) * 40),
}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "one.zip"
    write_archive(path, MEMBERS)
    return path


def test_two_archives_of_the_same_members_are_equal(tmp_path: Path, archive: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"title: one\n")
    members = dict(reversed(MEMBERS.items())) | {"study/study.yaml": Member(content=file)}
    digest = write_archive(tmp_path / "two.zip", members)
    assert (tmp_path / "two.zip").read_bytes() == archive.read_bytes()
    assert digest == write_archive(archive, MEMBERS)
    assert {path.name for path in tmp_path.iterdir()} == {"one.zip", "two.zip", "file"}


def test_what_was_written_comes_out(tmp_path: Path, archive: Path) -> None:
    with open_archive(archive) as opened:
        sums = opened.sums()
        assert opened.damage(sums) == []
        assert sums["results/empty"].size_bytes == 0
        opened.extract("study/", tmp_path / "out", max_bytes=1000)
        assert opened.read("study/study.yaml", max_bytes=11) == b"title: one\n"
        with pytest.raises(InputError, match="larger than 10 bytes"):
            opened.read("study/study.yaml", max_bytes=10)
        with pytest.raises(InputError, match="at most 20 are unpacked"):
            opened.extract("study/", tmp_path / "other", max_bytes=20)
    assert not (tmp_path / "other").exists()
    assert (tmp_path / "out/study.yaml").read_text() == "title: one\n"
    assert (tmp_path / "out/bin/run.sh").stat().st_mode & 0o777 == 0o700


def test_other_programs_read_it(tmp_path: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        assert file.testzip() is None
        file.extractall(tmp_path / "out")
    done = subprocess.run(["sha256sum", "-c", "--quiet", SUMS], cwd=tmp_path / "out", check=False)
    assert done.returncode == 0


def test_a_name_that_would_be_refused_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="leads out of the folder"):
        write_archive(tmp_path / "one.zip", {"../a": Member(content=b"")})
    assert list(tmp_path.iterdir()) == []


def test_a_changed_byte_is_named(tmp_path: Path, archive: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        contents = {name: file.read(name) for name in file.namelist()}
    contents["study/study.yaml"] = b"title: two\n"
    del contents["results/empty"]
    contents["results/more"] = b""
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as file:
        for name, content in contents.items():
            file.writestr(zipfile.ZipInfo(name), content)
    with open_archive(tmp_path / "two.zip") as opened:
        assert opened.damage(opened.sums()) == [
            "results/empty: it is missing",
            f"results/more: it is not listed in {SUMS}",
            f"study/study.yaml: its bytes are not those in {SUMS}",
        ]


def _zip(path: Path, *entries: zipfile.ZipInfo | str, content: bytes = b"x") -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for entry in entries:
            file.writestr(entry, content)
    return path


def _named(name: str) -> Callable[[Path], Path]:
    return lambda path: _zip(path, name)


def _of_mode(mode: int) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        entry = zipfile.ZipInfo("link")
        entry.create_system = 3
        entry.external_attr = mode << 16
        return _zip(path, entry, content=b"/etc/passwd")

    return make


def _twice(path: Path) -> Path:
    with pytest.warns(UserWarning, match="Duplicate"):
        return _zip(path, "a", "a")


def _patched(before: bytes, after: bytes) -> Callable[[Path], Path]:
    """Return what makes an archive with other bytes in its index."""

    def make(path: Path) -> Path:
        _zip(path, "aaaa", "bbbb")
        data = path.read_bytes()
        index = data.index(b"PK\1\2")
        assert before in data[index:]
        path.write_bytes(data[:index] + data[index:].replace(before, after))
        return path

    return make


def _field(offset: int, form: str, value: int) -> Callable[[Path], Path]:
    """Return what makes an archive whose first member has another value in the index."""

    def make(path: Path) -> Path:
        _zip(path, "aaaa", "bbbb")
        data = bytearray(path.read_bytes())
        struct.pack_into(form, data, data.index(b"PK\1\2") + offset, value)
        path.write_bytes(data)
        return path

    return make


def _many(path: Path) -> Path:
    return _zip(path, *(str(number) for number in range(6)))


ATTACKS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "parent": (_named("../../home/user/.bashrc"), "leads out of the folder"),
    "parent inside": (_named("study/../../a"), "leads out of the folder"),
    "absolute": (_named("/etc/passwd"), "leads out of the folder"),
    "backslash": (_named("..\\a"), "leads out of the folder"),
    "dot": (_named("./a"), "leads out of the folder"),
    "empty part": (_named("a//b"), "leads out of the folder"),
    "folder": (_named("a/"), "leads out of the folder"),
    "escape": (_named("a\x1b[2J"), "cannot be printed"),
    "deep": (_named("/".join("a" * 100)), "too long"),
    "long": (_named("a" * 300), "too long"),
    "nul": (_patched(b"aaaa", b"a\0aa"), "a byte that ends it"),
    "link": (_of_mode(stat.S_IFLNK | 0o777), "not a regular file"),
    "device": (_of_mode(stat.S_IFCHR | 0o666), "not a regular file"),
    "pipe": (_of_mode(stat.S_IFIFO | 0o666), "not a regular file"),
    "twice": (_twice, "two of its members have one name"),
    "file and folder": (lambda path: _zip(path, "a", "a/b"), "both a file and a folder"),
    "encrypted": (_field(8, "<H", 1), "encrypted"),
    "bzip2": (_field(10, "<H", 12), "neither 0 nor deflate"),
    "size": (_field(24, "<I", 0xFFFFFFFE), "at most 1,000,000 are read"),
    "overlap": (_field(20, "<I", 60), "also those of another member"),
    "beyond": (_field(42, "<I", 10_000), "beyond its index"),
    "many": (_many, "at most 5 are read"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused(attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "MAX_TOTAL_BYTES", 1_000_000)
    monkeypatch.setattr(zip_archive, "MAX_MEMBERS", 5)
    make, reason = ATTACKS[attack]
    path = make(tmp_path / "bad.zip")
    with pytest.raises(InputError, match=reason), open_archive(path):
        pass


@pytest.mark.parametrize("size", [0, 3, 1000])
def test_a_size_that_is_not_kept_to_is_found(size: int, tmp_path: Path) -> None:
    path = _zip(tmp_path / "bad.zip", "aaaa", content=b"x" * 50)
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\1\2") + 24, size)
    path.write_bytes(data)
    with open_archive(path) as opened, pytest.raises(InputError, match="aaaa is damaged"):
        opened.read("aaaa", max_bytes=1000)


def test_a_member_that_expands_is_read_in_pieces(tmp_path: Path) -> None:
    """Of a member that says it is small, no more is decompressed than that."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("aaaa", bytes(200 << 20))
    data = bytearray(content.getvalue())
    struct.pack_into("<I", data, data.index(b"PK\1\2") + 24, 1000)
    (tmp_path / "bad.zip").write_bytes(data)
    with open_archive(tmp_path / "bad.zip") as opened, pytest.raises(InputError, match="damaged"):
        opened.extract("", tmp_path / "out", max_bytes=1000)
    assert sum(path.stat().st_size for path in (tmp_path / "out").iterdir()) <= 1000


def test_a_large_index_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "_MAX_INDEX_BYTES", 100_000)
    path = _zip(tmp_path / "bad.zip", *(f"{'a' * 200}{number}" for number in range(500)))
    with pytest.raises(InputError, match="its index is larger"), open_archive(path):
        pass


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive\n" * 100])
def test_what_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "no.zip").write_bytes(content)
    with pytest.raises(InputError, match="not a zip file"), open_archive(tmp_path / "no.zip"):
        pass
    with pytest.raises(InputError, match="cannot be read"), open_archive(tmp_path):
        pass


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_damage_is_found_or_changes_nothing(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever bytes change, the members are those that were written, or an error says not."""
    folder = tmp_path_factory.mktemp("damage")
    draws = random.Random(seed)
    write_archive(folder / "one.zip", MEMBERS)
    data = bytearray((folder / "one.zip").read_bytes())
    # The index is where damage does most.
    index = data.rindex(b"PK\1\2", 0, data.index(b"PK\5\6")) - 400
    for _ in range(draws.randint(1, 4)):
        at = draws.randrange(index if draws.random() < 0.7 else 0, len(data))
        data[at] = draws.randrange(256)
    if draws.random() < 0.1:
        del data[draws.randrange(len(data)) :]
    (folder / "one.zip").write_bytes(data)
    try:
        with open_archive(folder / "one.zip") as opened:
            problems = opened.damage(opened.sums())
            if not problems:
                for name, member in MEMBERS.items():
                    assert opened.read(name, max_bytes=1 << 20) == member.content
            opened.extract("", folder / "out", max_bytes=1 << 20)
    except InputError:
        pass
    assert {path.name for path in folder.iterdir()} <= {"one.zip", "out"}
