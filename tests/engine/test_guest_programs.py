"""The program of a product in a machine: the core's, with the product's modules packed with it."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from longfat.common.checksum import folder_damage
from longfat.engine import init
from longfat.engine.guest_programs import _cached, product_folder, product_program
from longfat.engine.toolset import Toolset
from longfat.guest import boot


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "greeting" / "guest"
    folder.mkdir(parents=True)
    for path in (folder.parent, folder):
        (path / "__init__.py").touch()
    (folder / "main.py").write_text(
        "from longfat.guest import mounts\nfrom greeting.guest import b\n"
    )
    (folder / "b.py").write_text("import colorsys\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "cache"))
    for cached in (_cached, init._cached):
        cached.cache_clear()
    yield "greeting.guest"
    for name in [name for name in sys.modules if name.split(".")[0] == "greeting"]:
        del sys.modules[name]


def packed(folder: Path) -> set[str]:
    """Return the modules in the file that `longfat.guest.boot` reads."""
    data = (folder / boot.FILE).read_bytes()
    size = int.from_bytes(data[: boot.SIZE_BYTES], "big")
    return set(marshal.loads(data[boot.SIZE_BYTES :][:size]))


def test_its_modules_are_packed_with_the_core_s(package: str, toolset: Toolset) -> None:
    with (
        init.guest_folder(toolset=toolset) as core,
        product_folder(package, toolset=toolset) as folder,
    ):
        own = {"greeting", "greeting.guest", "greeting.guest.b", "greeting.guest.main", "colorsys"}
        assert packed(folder) - packed(core) == own
        assert packed(core) <= packed(folder)
        assert not folder_damage(folder)
        assert b"/run/longfat/guest/greeting/guest/main.py" in (folder / boot.FILE).read_bytes()
    with product_folder(package, toolset=toolset) as again:
        assert again == folder


def test_a_cache_that_cannot_be_written_to_changes_nothing(
    package: str, toolset: Toolset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with product_folder(package, toolset=toolset) as folder:
        kept = (folder / boot.FILE).read_bytes()
    (tmp_path / "file").touch()
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "file"))
    for cached in (_cached, init._cached):
        cached.cache_clear()
    with product_folder(package, toolset=toolset) as folder:
        assert (folder / boot.FILE).read_bytes() == kept


def test_the_kernel_starts_its_main(package: str) -> None:
    assert product_program(package)[:-1] == init.init_program()[:-1]
    assert product_program(package)[-1] == "greeting.guest.main"
