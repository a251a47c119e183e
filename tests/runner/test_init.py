"""The guest's program: the same for every machine, however it is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longfat import guest
from longfat.case import Case
from longfat.checksum import folder_damage
from longfat.runner import run_case
from longfat.runner.init import guest_folder
from longfat.traffic import Ping

SOURCES = Path(guest.__file__).resolve().parent


@pytest.fixture(autouse=True)
def looked_at_anew() -> Iterator[None]:
    guest_folder.cache_clear()
    yield
    guest_folder.cache_clear()


def test_bytecode_in_the_installed_folder_decides_nothing(
    tmp_path: Path, make_case: Callable[..., Case]
) -> None:
    case = make_case(Ping(name="rtt", source="h1", target="h2", count=2))
    bytecode = SOURCES / "__pycache__"
    shutil.rmtree(bytecode, ignore_errors=True)
    without = run_case(case, name="a", out=tmp_path)
    guest_folder.cache_clear()
    bytecode.mkdir()
    for path in SOURCES.glob("*.py"):  # older than its source, and nothing that can be loaded
        stale = bytecode / f"{path.stem}.cpython-311.pyc"
        stale.write_bytes(b"stale")
        os.utime(stale, (1, 1))
    try:
        assert run_case(case, name="b", out=tmp_path).digest == without.digest
    finally:
        shutil.rmtree(bytecode)
    text = [(without.folder.parent / f"{name}-seed1/commands.sh").read_text() for name in "ab"]
    assert text[0] == text[1]


def test_a_damaged_copy_is_made_anew() -> None:
    place = guest_folder()
    assert guest_folder() == place
    (file,) = place.glob("__pycache__/main.*.pyc")
    file.write_bytes(b"x")
    guest_folder.cache_clear()
    assert guest_folder() == place
    assert not folder_damage(place)
    assert [path.name for path in place.parent.iterdir() if path.name.startswith(".")] == []
