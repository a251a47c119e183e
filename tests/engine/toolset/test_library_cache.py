from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from longfat.engine.toolset.library_cache import HOST_LIST, library_cache, with_list


def test_the_list_is_read_by_the_systems_ldconfig(tmp_path: Path) -> None:
    names = ["libz.so.1", "libc.so.6", "liba10.so.2", "liba9.so.2", "lib.so", "libssl.so.3", "liba"]
    libraries = {name: f"/longfat/lib/{name}" for name in names}
    file = tmp_path / "cache"
    file.write_bytes(library_cache(libraries))
    ldconfig = shutil.which("ldconfig", path="/usr/sbin:/sbin")
    assert ldconfig is not None
    shown = subprocess.run([ldconfig, "-C", file, "-p"], capture_output=True, text=True, check=True)
    first, *lines = shown.stdout.splitlines()
    assert first.startswith(f"{len(names)} libs found")
    pairs = dict(
        line.strip().replace(" (libc6,x86-64)", "").split(" => ") for line in lines if "=>" in line
    )
    assert pairs == libraries


def test_the_order_of_names_does_not_matter() -> None:
    names = [f"lib{name}.so.{number}" for name in ("a", "b10", "b9", "_") for number in (1, 10, 2)]
    wanted = library_cache({name: name for name in names})
    random.Random(1).shuffle(names)
    assert library_cache({name: name for name in names}) == wanted
    # Numbers are compared by their values, and the last comes first: the loader's own search.
    places = [
        wanted.index(name.encode() + b"\0") for name in ("libb10.so.1", "libb9.so.10", "libb9.so.2")
    ]
    assert places == sorted(places)


def test_a_loader_has_one_list() -> None:
    assert with_list(b"a" + HOST_LIST + b"b", "/longfat/ldcache") == b"a/longfat/ldcache\0b"
    for loader, path in (
        (b"ab", "/longfat/ldcache"),
        (HOST_LIST * 2, "/longfat/ldcache"),
        (HOST_LIST, "/x"),
    ):
        with pytest.raises(ValueError, match="list"):
            with_list(loader, path)
