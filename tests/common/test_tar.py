"""Headers of tar archives are checked, by whichever method a Python reads them."""

from __future__ import annotations

import io
import tarfile
from typing import Any

import pytest

from longfat.common.tar import CheckedHeader


class NoLinks(CheckedHeader):
    def check(self) -> None:
        if self.issym():
            raise ValueError(self.name)


def archive(*kinds: bytes) -> io.BytesIO:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as tar:
        for number, kind in enumerate(kinds):
            member = tarfile.TarInfo(f"member{number}")
            member.type = kind
            tar.addfile(member)
    target.seek(0)
    return target


def newer(cls: Any, tar: Any) -> Any:
    """Do what `TarInfo.fromtarfile` does in newer Pythons."""
    found = cls._frombuf(tar.fileobj.read(tarfile.BLOCKSIZE), tar.encoding, tar.errors)
    found.offset = tar.fileobj.tell() - tarfile.BLOCKSIZE
    return found._proc_member(tar)


@pytest.mark.parametrize("is_newer", [False, True])
def test_each_header_is_checked(monkeypatch: pytest.MonkeyPatch, is_newer: bool) -> None:
    if is_newer and not hasattr(tarfile.TarInfo, "_frombuf"):
        older = tarfile.TarInfo.__dict__["frombuf"]
        monkeypatch.setattr(tarfile.TarInfo, "_frombuf", older, raising=False)
        monkeypatch.setattr(tarfile.TarInfo, "fromtarfile", classmethod(newer))
    with tarfile.open(fileobj=archive(tarfile.REGTYPE, tarfile.DIRTYPE), tarinfo=NoLinks) as tar:
        assert tar.getnames() == ["member0", "member1"]
    whole = archive(tarfile.REGTYPE, tarfile.SYMTYPE)
    with tarfile.open(fileobj=whole, tarinfo=NoLinks) as tar, pytest.raises(ValueError, match="1"):
        tar.getnames()
