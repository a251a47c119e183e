"""Which typed lines give iperf3 its library."""

from __future__ import annotations

import pytest

from longfat.model.traffic.preload import preloaded

LIBRARY = "LD_PRELOAD=/run/longfat/kernel/iperf3_lean.so"


@pytest.mark.parametrize("line", ["iperf3", " iperf3 -s &", "iperf3\t-c h2", "iperf3 -J | wc"])
def test_iperf3_gets_it(line: str) -> None:
    assert preloaded(line) == f"{LIBRARY} {line.lstrip()}"


@pytest.mark.parametrize(
    "line", ["", "iperf", "iperf3.sh", "echo iperf3", "sleep 1; iperf3 -s", "./iperf3"]
)
def test_others_do_not(line: str) -> None:
    assert preloaded(line) == line
