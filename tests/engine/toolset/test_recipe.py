from __future__ import annotations

import re

import pytest

from longfat.engine.toolset.recipe import (
    build_packages,
    pinned_date,
    pinned_packages,
    place_of,
    read_packages,
)
from longfat.errors import HostError

LINE = f"bash 5.2 100 {64 * 'a'} pool/main/b/bash/bash_5.2_amd64.deb"


def test_a_list_of_packages() -> None:
    (package,) = read_packages(f"# a comment\n\n{LINE}\n")
    assert (package.name, package.version, package.size_bytes) == ("bash", "5.2", 100)
    assert package.path.endswith("bash_5.2_amd64.deb")


@pytest.mark.parametrize(
    "line", ["bash", LINE.replace("100", "x"), LINE.replace("aa", "A"), f"{LINE} x"]
)
def test_a_wrong_line_is_named(line: str) -> None:
    with pytest.raises(HostError, match="list, line 2: not a package"):
        read_packages(f"{LINE}\n{line}\n", name="list")


def test_all_packages_are_pinned() -> None:
    packages = (*pinned_packages(), *build_packages())
    assert {"iperf3", "iproute2", "iputils-ping", "python3.11-minimal", "tcc"} <= {
        p.name for p in packages
    }
    assert len({package.name for package in packages}) == len(packages)
    assert re.fullmatch(r"\d{8}T\d{6}Z", pinned_date())
    headers = {p.name: p.version for p in packages if p.name in {"iperf3", "libiperf-dev"}}
    assert len(set(headers.values())) == 1
    for package in packages:
        file = rf"{re.escape(package.name)}_\S+\.deb"
        assert re.fullmatch(rf"pool/(updates/)?main/\S+/{file}", package.path)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("bin/ping", "bin/ping"),
        ("usr/sbin/tcpdump", "bin/tcpdump"),
        ("bin/su", ""),
        ("usr/lib/x86_64-linux-gnu/libz.so.1", "lib/libz.so.1"),
        ("lib/x86_64-linux-gnu/ld-linux-x86-64.so.2", "ld.so"),
        ("usr/lib/x86_64-linux-gnu/tc/normal.dist", "lib/tc/normal.dist"),
        ("usr/lib/python3.11/os.py", "lib/python3.11/os.py"),
        ("usr/lib/python3.11/pydoc_data/topics.py", ""),
        ("usr/share/doc/bash/copyright", "licences/bash/copyright"),
        ("usr/share/doc/bash/README", ""),
        ("usr/share/man/man1/bash.1.gz", ""),
        ("etc/iproute2/rt_tables", "etc/iproute2/rt_tables"),
    ],
)
def test_where_a_file_goes(path: str, place: str) -> None:
    assert place_of(path, is_executable=True, is_link=False) == place


def test_only_programs_are_in_the_folder_of_programs() -> None:
    assert place_of("usr/bin/notes.txt", is_executable=False, is_link=False) == ""
    assert place_of("usr/bin/sh", is_executable=False, is_link=True) == "bin/sh"
