from __future__ import annotations

from typing import Any

import pytest

from longfat.execution.cluster.admission import Wanted, differences

IPERF3 = ["iperf 3.12", "a" * 64]
WANTED = Wanted(
    software={"python": "3.11.2", "longfat": "1.0", "distributed": "2026.8.0"},
    longfat="f" * 64,
    tools=[{"ip": ["ip 6", "b" * 64], "iperf3": IPERF3}],
    kernels={"d" * 64: "content"},
)


def answer(**other: Any) -> dict[str, Any]:
    return {
        "software": dict(WANTED.software),
        "longfat": WANTED.longfat,
        "loaded": WANTED.longfat,
        "host": "x",
        "missing": "",
        "tools": [dict(tools) for tools in WANTED.tools],
        "kernels": {},
        "storage": "",
        **other,
    }


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({}, []),
        (
            {"software": {"python": "3.12.1", "longfat": "1.0"}},
            [
                "distributed is not installed there, 2026.8.0 here",
                "python 3.12.1 there, 3.11.2 here",
            ],
        ),
        ({"missing": "no bubblewrap"}, ["no bubblewrap"]),
        (
            {"longfat": "e" * 64, "loaded": "e" * 64},
            ["longfat has other code there, although both are 1.0"],
        ),
        (
            {"loaded": "e" * 64},
            ["longfat was changed there since the worker was started; restart it"],
        ),
        (
            {"tools": [{"ip": ["ip 6", "b" * 64], "iperf3": ["iperf 3.16", "c" * 64]}]},
            ["iperf3: iperf 3.16 there, iperf 3.12 here"],
        ),
        (
            {"tools": [{"ip": ["ip 6", "b" * 64], "iperf3": ["iperf 3.12", "c" * 64]}]},
            [
                "iperf3, or a library that it loads, has other bytes there, although both are"
                " iperf 3.12"
            ],
        ),
        (
            {"tools": [{"iperf3": IPERF3, "ip": ["ip 6", "b" * 64], "jq": ["", "c" * 64]}]},
            ["jq is installed there but not here"],
        ),
        ({"kernels": {"d" * 64: "content"}}, []),
        (
            {"kernels": {"d" * 64: "other"}},
            [
                "kernel dddddddddddd has other bytes there; run there: longfat kernel remove"
                " dddddddddddd"
            ],
        ),
    ],
)
def test_a_difference_is_told(other: dict[str, Any], told: list[str]) -> None:
    assert differences(answer(**other), WANTED) == told
