"""Results that somebody else may have forged are not believed where they decide about points."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.execution.cache import ResultCache, check_private
from longfat.execution.runs import Run
from longfat.execution.runs.run import MANIFEST
from tests.execution.cache.test_store import get, run  # noqa: F401  a fixture

NOBODY = 65534


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A cache's folder that is the user's alone, whatever the umask."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    return folder


def test_a_folder_that_others_can_write_is_not_private(private: Path) -> None:
    check_private(private)
    check_private(private / "not" / "there")
    for mode in (0o777, 0o702, 0o1777):
        private.chmod(mode)
        with pytest.raises(InputError, match="can be written by others"):
            check_private(private)
    private.chmod(0o700)
    # Whoever can write the folder above can put another one there.
    (private / "a" / "b").mkdir(parents=True)
    (private / "a").chmod(0o777)
    with pytest.raises(InputError, match="a can be written by others"):
        check_private(private / "a" / "b")
    (private / "a").chmod(0o1777)
    check_private(private / "a" / "b")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to other groups")
def test_only_a_group_of_the_users_own_may_write(private: Path) -> None:
    private.chmod(0o770)
    check_private(private)  # root's own group
    os.chown(private, -1, NOBODY)
    with pytest.raises(InputError, match="can be written by others"):
        check_private(private)


def test_a_link_is_not_private(private: Path) -> None:
    (private / "real").mkdir(mode=0o700)
    (private / "link").symlink_to(private / "real")
    with pytest.raises(InputError, match="symbolic link"):
        check_private(private / "link")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to others")
def test_what_belongs_to_another_user_is_not_private(private: Path, run: Run) -> None:  # noqa: F811
    cache = ResultCache(private, private=True)
    cache.put(run)
    for path in (
        cache.place(run.key),
        cache.place(run.key) / MANIFEST,
        cache.place(run.key).parent,
    ):
        assert get(cache, run.key, private.parent / "out") is not None
        os.chown(path, NOBODY, -1)
        reports: list[str] = []
        again = ResultCache(private, private=True, report=reports.append)
        assert get(again, run.key, private.parent / "out") is None
        assert "belongs to another user" in reports[0]
        os.chown(path, 0, -1) if path.exists() else None
        cache.put(run)
    os.chown(private, NOBODY, -1)
    with pytest.raises(InputError, match="belongs to another user"):
        check_private(private)


def test_a_result_that_others_can_write_is_not_used(private: Path, run: Run) -> None:  # noqa: F811
    cache = ResultCache(private, private=True)
    cache.put(run)
    (cache.place(run.key) / MANIFEST).chmod(0o666)
    assert get(ResultCache(private), run.key, private.parent / "out") is not None
    assert get(cache, run.key, private.parent / "out") is None
