"""Which programs of the host a case names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longfat.engine.toolset import Toolset
from longfat.execution.host_programs import host_programs
from longfat.model.case import Case, Command, File
from longfat.model.network import Network

CASE = Case(kernel="6.1", network=Network(hosts=(), switches=(), links=()))


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("/usr/bin/python3 x.py | /bin/grep a; /sbin/tc qdisc", []),
        ("perl -e 1; nosuchprogram", ["perl"]),
        ("/usr/bin/perl -e 1 && sudo -n /bin/perl", ["/bin/perl", "/usr/bin/perl"]),
        ("python3 /opt/bin/perl ./bin/perl a/usr/bin/perl /usr/local/bin/nosuchprogram", []),
        ("echo perl", []),
    ],
)
def test_programs_of_lines(line: str, names: list[str], toolset: Toolset) -> None:
    case = replace(CASE, setup=(Command(node="root", line=line),))
    assert sorted(host_programs(case, toolset=toolset)) == names


@pytest.mark.parametrize(
    ("first", "names"),
    [
        ("#!/bin/bash", []),
        ("#! /usr/bin/env python3", []),
        ("#!/usr/bin/env -S perl -w", ["perl"]),
        ("#! /usr/bin/perl -w", ["/usr/bin/perl"]),
        ("#!/opt/lab/own", []),
        ("echo", []),
        ("#!", []),
    ],
)
def test_programs_of_scripts(first: str, names: list[str], toolset: Toolset) -> None:
    file = File(path="/opt/lab/x", content=f"{first}\n".encode(), executable=True)
    assert sorted(host_programs(replace(CASE, files=(file,)), toolset=toolset)) == names
    file = replace(file, executable=False)
    assert host_programs(replace(CASE, files=(file,)), toolset=toolset) == {}
