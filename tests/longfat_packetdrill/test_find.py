from __future__ import annotations

from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat_packetdrill.find import find_scripts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "b.pkt").write_text("--ip_version=ipv6\n")
    (tmp_path / "a" / "c.pkt").write_text("")
    (tmp_path / "a" / "other.txt").write_text("")
    return tmp_path


def test_a_folder_is_what_its_scripts_see(folder: Path) -> None:
    found = find_scripts([folder])
    assert [one.path.name for one in found] == ["c.pkt", "b.pkt"]
    assert {one.root for one in found} == {folder}


def test_a_file_sees_its_own_folder(folder: Path) -> None:
    (found,) = find_scripts([folder / "a" / "c.pkt"])
    assert found.root == folder / "a"
    (found,) = find_scripts([folder / "a" / "c.pkt"], root=folder)
    assert found.root == folder


def test_each_script_is_there_once(folder: Path) -> None:
    assert len(find_scripts([folder, folder / "b.pkt", folder / "a"])) == 2


def test_a_script_tells_its_version_of_ip(folder: Path) -> None:
    versions = [one.ip_version() for one in find_scripts([folder])]
    assert versions == [None, "ipv6"]


@pytest.mark.parametrize("name", ["none", "a/other"])
def test_what_is_not_there(folder: Path, name: str) -> None:
    with pytest.raises(InputError, match="there is no such file or folder"):
        find_scripts([folder / name])


def test_a_folder_without_scripts(folder: Path) -> None:
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match="there is no script"):
        find_scripts([folder / "empty"])


def test_a_script_outside_of_the_root(folder: Path) -> None:
    with pytest.raises(InputError, match="outside of the root"):
        find_scripts([folder / "b.pkt"], root=folder / "a")
