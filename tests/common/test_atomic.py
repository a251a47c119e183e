from __future__ import annotations

import os
import resource
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from longfat.common.atomic import write_new, write_over


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


def test_what_is_written_over_stays_what_it_was(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"before")
    target.chmod(0o640)
    link.symlink_to("target")
    write_over(link, b"after")
    assert link.is_symlink()
    assert target.read_bytes() == b"after"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(tmp_path.iterdir()) == [link, target]


def test_a_link_to_what_is_not_there_yet(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_over(tmp_path / "link", b"text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"text"


def test_a_named_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_over(pipe, b"text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_circle_of_links_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        write_over(tmp_path / "a", b"text")
    assert (tmp_path / "a").is_symlink()
