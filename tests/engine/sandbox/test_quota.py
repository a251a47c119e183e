from __future__ import annotations

from pathlib import Path

import pytest

from longfat.engine.sandbox.quota import Quota, QuotaWatch, current_quota, read_quota
from longfat.errors import InputError, MachineError


def test_what_is_not_named_keeps_its_default() -> None:
    assert read_quota("") == Quota()
    assert read_quota("disk=2GB, wall=90min,files=7,") == Quota(disk=2 << 30, wall=5400, files=7)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("disc=2GB", "there is no quota 'disc'; there are disk, files, processes, memory"),
        ("disk", "disk: "),
        ("disk=lots", "disk: 'lots'"),
        ("wall=0s", "wall: must be above 0, but is 0s"),
        ("files=-3", "files: "),
    ],
)
def test_what_is_no_quota(text: str, words: str) -> None:
    with pytest.raises(InputError, match=f"LONGFAT_QUOTA: {words}"):
        read_quota(text)


def test_the_environment_sets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFAT_QUOTA", "processes=12")
    assert current_quota() == Quota(processes=12)


def test_a_memory_over_the_quota() -> None:
    Quota(memory=1 << 30).check_memory(1 << 30)
    with pytest.raises(InputError, match=r"memory of 2.00 GB is over the quota of 1.00 GB"):
        Quota(memory=1 << 30).check_memory(2 << 30)


def test_a_sparse_file_counts_by_its_length(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    with (tmp_path / "deep" / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(MachineError, match=r"has written 1.00 TB, but its quota is 50.0 GB"):
        QuotaWatch(Quota(), folders=[tmp_path]).check(1 << 22)  # no process has this number


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "large").write_bytes(bytes(1 << 20))
    (tmp_path / "run" / "link").symlink_to(tmp_path)
    QuotaWatch(Quota(disk=1 << 19), folders=[tmp_path / "run"]).check(1 << 22)


def test_a_folder_that_goes_away_is_no_error(tmp_path: Path) -> None:
    QuotaWatch(Quota(), folders=[tmp_path / "gone"]).check(1 << 22)


def test_a_quota_within_another_takes_the_less_of_each() -> None:
    one, other = Quota(disk=1, files=9), Quota(disk=5, files=2, wall=7)
    assert one.within(other) == Quota(disk=1, files=2, wall=7)
