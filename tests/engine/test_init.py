"""The guest's program: the same for every machine, however it is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longfat import guest
from longfat.common.checksum import folder_damage
from longfat.engine import init, kernel
from longfat.engine.init import _cached, guest_folder
from longfat.engine.toolset import Toolset
from longfat.execution import run_case
from longfat.execution.tools import Toolbox
from longfat.model.case import Case
from longfat.model.traffic import Ping

SOURCES = Path(guest.__file__).resolve().parent


@pytest.fixture(autouse=True)
def looked_at_anew() -> Iterator[None]:
    _cached.cache_clear()
    yield
    _cached.cache_clear()


def test_bytecode_in_the_installed_folder_decides_nothing(
    tmp_path: Path, make_case: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = make_case(Ping(name="rtt", source="h1", target="h2", count=2))
    installed = tmp_path / "guest"
    shutil.copytree(SOURCES, installed, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(init, "_SOURCES", installed)
    without = run_case(case, name="a", out=tmp_path)
    _cached.cache_clear()
    bytecode = installed / "__pycache__"
    bytecode.mkdir()
    for path in installed.glob("*.py"):  # older than its source, and nothing that can be loaded
        stale = bytecode / f"{path.stem}.cpython-311.pyc"
        stale.write_bytes(b"stale")
        os.utime(stale, (1, 1))
    assert run_case(case, name="b", out=tmp_path).digest == without.digest
    text = [(without.folder.parent / f"{name}-seed1/commands.sh").read_text() for name in "ab"]
    assert text[0] == text[1]


def test_a_damaged_copy_is_made_anew(
    tmp_path: Path, toolset: Toolset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path))
    with guest_folder(toolset=toolset) as place:
        file = place / "modules"
    file.write_bytes(b"x")
    _cached.cache_clear()
    with guest_folder(toolset=toolset) as again:
        assert again == place
    assert not folder_damage(place)
    assert [path.name for path in place.parent.iterdir() if path.name.startswith(".")] == []


def test_a_cache_that_cannot_be_written_to_changes_no_result(
    tmp_path: Path, make_case: Callable[..., Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = make_case(Ping(name="rtt", source="h1", target="h2", count=2))
    kept = run_case(case, name="a", out=tmp_path)
    found, toolbox = kernel.find(case.kernel), Toolbox()
    assert toolbox.toolset.digest
    _cached.cache_clear()
    (tmp_path / "file").touch()
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "file"))
    assert (
        run_case(case, name="b", out=tmp_path, kernel=found, toolbox=toolbox).digest == kept.digest
    )


def test_its_modules_do_not_depend_on_where_the_host_keeps_them(
    tmp_path: Path, toolset: Toolset, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for name in ("a-cache", "another-cache-of-the-host"):
        monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / name))
        _cached.cache_clear()
        with guest_folder(toolset=toolset) as place:
            made.append((place / "modules").read_bytes())
    assert made[0] == made[1]
    assert os.fsencode(tmp_path) not in made[0]
    assert b"/run/longfat/guest/longfat/guest/main.py" in made[0]
