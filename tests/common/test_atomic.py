from __future__ import annotations

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from longfat.common.atomic import write_new


def test_a_new_file(tmp_path: Path) -> None:
    write_new(tmp_path / "new", b"text")
    assert (tmp_path / "new").read_bytes() == b"text"
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "new", b"other")
    assert (tmp_path / "new").read_bytes() == b"text"


@pytest.fixture
def limited_file_size() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("limited_file_size")
def test_a_file_that_cannot_be_written_whole_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="File too large"):
        write_new(tmp_path / "new", bytes(200_000))
    assert list(tmp_path.iterdir()) == []
