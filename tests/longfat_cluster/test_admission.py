"""What a worker differs in, as it is reported."""

from __future__ import annotations

from typing import Any

import pytest

from longfat import __version__
from longfat.execution.runs import Tool
from longfat_cluster.admission import differences
from longfat_cluster.connection import version_differences
from longfat_cluster.worker import (
    code_digest,
    describe_worker,
    software,
    tool_differences,
)

IP = Tool(version="ip 6", digest="b" * 64)
IPERF3 = Tool(version="iperf 3.12", digest="a" * 64)
WANTED = {"ip": IP, "iperf3": IPERF3}


def test_versions() -> None:
    there = {"python": "3.12.1", "longfat": "1.0"}
    here = {"python": "3.11.2", "longfat": "1.0", "distributed": "2026.8.0"}
    assert version_differences(there, here) == [
        "distributed: not installed there, must be 2026.8.0 as here",
        "python: 3.12.1 there, must be 3.11.2 as here",
    ]
    assert version_differences(here, here) == []


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({}, []),
        (
            {"software": software() | {"dask": "1.0"}, "code": "e" * 64},
            [f"dask: 1.0 there, must be {software()['dask']} as here"],
        ),
        (
            {"loaded": "e" * 64},
            ["longfat was changed there since the worker was started; restart it"],
        ),
        (
            {"code": "e" * 64, "loaded": "e" * 64},
            [
                f"longfat has other code there (digest eeeeeeeeeeee), must be that here"
                f" ({code_digest()[:12]}), although both are {__version__}"
            ],
        ),
    ],
)
def test_code(changes: dict[str, Any], reported: list[str]) -> None:
    assert differences(describe_worker() | changes) == reported


@pytest.mark.parametrize(
    ("there", "reported"),
    [
        (WANTED, []),
        (
            WANTED | {"iperf3": Tool(version="iperf 3.16", digest="c" * 64)},
            ["iperf3: iperf 3.16 there, must be iperf 3.12 as here"],
        ),
        (
            WANTED | {"iperf3": Tool(version="iperf 3.12", digest="c" * 64)},
            [
                "iperf3, or a library that it loads, has other bytes there (digest cccccccccccc),"
                " must be those of iperf 3.12 here (aaaaaaaaaaaa)"
            ],
        ),
        (
            WANTED | {"jq": Tool(version="", digest="c" * 64)},
            ["jq is installed there, and must not be, as here"],
        ),
        ({"ip": IP}, ["iperf3 is not installed there, and must be, as here"]),
    ],
)
def test_tools(there: dict[str, Tool], reported: list[str]) -> None:
    assert tool_differences(there, WANTED) == reported
