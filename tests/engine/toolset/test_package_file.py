from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.engine.toolset.package_file import PackedFile, package_files
from longfat.errors import InputError


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A package that the distribution's own program has made."""
    root = tmp_path_factory.mktemp("package")
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(
        "Package: p\nVersion: 1\nArchitecture: amd64\nMaintainer: m <m@example.org>\n"
        "Description: d\n"
    )
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin/program").write_bytes(b"program")
    (root / "usr/bin/program").chmod(0o755)
    (root / "usr/bin/other").symlink_to("program")
    (root / "usr/bin/same").hardlink_to(root / "usr/bin/program")
    (root / "usr/data").write_bytes(b"data")
    (root / "usr/data").chmod(0o644)
    made = root.with_suffix(".deb")
    if shutil.which("dpkg-deb") is None:
        pytest.skip("dpkg-deb is not installed")
    subprocess.run(["dpkg-deb", "-Zxz", "--build", root, made], check=True, capture_output=True)
    return made.read_bytes()


def test_the_files_of_a_package(package: bytes) -> None:
    files = {file.path: file for file in package_files(package, name="p")}
    assert files == {
        "usr/bin/other": PackedFile(path="usr/bin/other", target="program"),
        "usr/bin/program": PackedFile(
            path="usr/bin/program", content=b"program", is_executable=True
        ),
        "usr/bin/same": PackedFile(path="usr/bin/same", content=b"program", is_executable=True),
        "usr/data": PackedFile(path="usr/data", content=b"data"),
    }


@pytest.mark.parametrize("data", [b"", b"!<arch>\n", b"#!/bin/sh\n", b"!<arch>\n" + 60 * b"x"])
def test_what_is_no_package_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="p: not a package"):
        list(package_files(data, name="p"))


@settings(max_examples=50)
@given(st.data())
def test_a_damaged_package_is_read_or_refused(package: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(package)))
    damage = data.draw(st.binary(max_size=8))
    damaged = package[:at] + damage + package[at + len(damage) :]
    try:
        list(package_files(damaged, name="p"))
    except InputError as error:
        assert "p: not a package" in str(error)
