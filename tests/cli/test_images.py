"""`longfat images`: what is unpacked, and removing it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from longfat.engine.images import find_image, is_unpacked
from longfat.model.host_root import HostRoot
from tests.command import longfat
from tests.engine.images.made import Entry, docker, layer, small

DAY_S = 86_400


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[HostRoot, HostRoot]:
    """An old image and a young one."""
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "cache"))
    made = []
    for name, age_days in (("old.tar", 40), ("young.tar", 1)):
        content = layer(Entry(path="name", content=name.encode()))
        (tmp_path / name).write_bytes(docker([small("sh"), content]))
        made.append(find_image(tmp_path / name, name=name))
        (source,) = (tmp_path / "cache/images").glob(f"*{made[-1].digest}/source")
        then_s = time.time() - age_days * DAY_S
        os.utime(source, (then_s, then_s))
    return made[0], made[1]


def test_list(two: tuple[HostRoot, HostRoot], tmp_path: Path) -> None:
    old, young = two
    done = longfat("images", "list", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    head, first, second = done.stdout.splitlines()
    assert head.split() == ["digest", "size", "used", "from"]
    assert first.split()[0] == young.digest[:12]
    assert "1 day ago" in first
    assert first.endswith(str(tmp_path / "young.tar"))
    assert second.split()[0] == old.digest[:12]
    assert "40 days ago" in second
    data = json.loads(longfat("images", "list", "--json", cwd=tmp_path).stdout)
    assert [one["digest"] for one in data] == [young.digest, old.digest]
    assert data[0]["size_bytes"] > 100_000


def test_remove(two: tuple[HostRoot, HostRoot], tmp_path: Path) -> None:
    old, young = two
    done = longfat("images", "remove", "nothing", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no image nothing in the cache" in done.stderr
    done = longfat("images", "remove", "old.tar", cwd=tmp_path)
    assert done.stdout.startswith(f"{old.digest[:12]} removed: ")
    assert (is_unpacked(old.digest), is_unpacked(young.digest)) == (False, True)
    done = longfat("images", "remove", "--json", young.digest[:8], cwd=tmp_path)
    assert [one["digest"] for one in json.loads(done.stdout)["removed"]] == [young.digest]
    assert "no image is unpacked" in longfat("images", "list", cwd=tmp_path).stderr
    assert not list((tmp_path / "cache/images").iterdir())


def test_gc(two: tuple[HostRoot, HostRoot], tmp_path: Path) -> None:
    old, young = two
    assert longfat("images", "gc", cwd=tmp_path).returncode == 2
    assert (
        "--older soon: not a time" in longfat("images", "gc", "--older=soon", cwd=tmp_path).stderr
    )
    done = longfat("images", "gc", "--older", "30d", "--dry-run", cwd=tmp_path)
    assert f"{old.digest[:12]} would be removed" in done.stdout
    assert is_unpacked(old.digest)
    longfat("images", "gc", "--older", "30d", cwd=tmp_path)
    assert (is_unpacked(old.digest), is_unpacked(young.digest)) == (False, True)
    done = longfat("images", "gc", "--keep", "1KB", cwd=tmp_path)
    assert f"{young.digest[:12]} removed" in done.stdout
    assert not is_unpacked(young.digest)


def test_an_image_that_was_removed_is_unpacked_again(
    two: tuple[HostRoot, HostRoot], tmp_path: Path
) -> None:
    longfat("images", "remove", two[0].digest, cwd=tmp_path)
    assert find_image(tmp_path / "old.tar", name="old.tar") == two[0]
    assert is_unpacked(two[0].digest)
