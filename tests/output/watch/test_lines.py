"""One row a virtual second, whenever it was read."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from longfat.output.watch.lines import SecondRows, row_text
from longfat.output.watch.live import LiveRun
from longfat.output.watch.plan import Plan
from tests.output.watch.conftest import Growing


def rows_in_steps(plan: Plan, folder: Path, steps: int) -> list[dict[str, Any]]:
    growing = Growing(folder)
    with LiveRun(plan) as live:
        live.begin(growing.folder)
        rows = SecondRows(live, case="red")
        told: list[dict[str, Any]] = []
        for step in range(1, steps + 1):
            growing.grow(step / steps)
            live.poll()
            told += rows.new()
        return told + list(rows.new(ended=True)) + list(rows.new(ended=True))


def test_rows_do_not_depend_on_when_they_are_read(plan: Plan, tmp_path: Path) -> None:
    at_once = rows_in_steps(plan, tmp_path / "once", 1)
    assert rows_in_steps(plan, tmp_path / "many", 30) == at_once
    times = [row["time_s"] for row in at_once]
    assert times[0] == 1
    assert times == sorted(set(times))
    # The last second is not a whole one.
    assert times[-1] % 1 != 0
    assert all(later - sooner <= 1 for sooner, later in pairwise(times))


def test_a_row_has_every_quantity(plan: Plan, tmp_path: Path) -> None:
    row = rows_in_steps(plan, tmp_path / "run", 3)[0]
    assert set(row) == {"case", "time_s", "queues", "flows"}
    queue = row["queues"]["s1-eth1"]
    assert set(queue) == {"backlog_bytes", "limit_bytes", "drops", "marks"}
    assert queue["limit_bytes"] == 100_000
    assert queue["drops"] > 0
    flow = row["flows"]["one"]
    assert set(flow) == {"throughput_bps", "rtt_s", "cwnd_bytes", "retransmits"}
    assert 20e6 < flow["throughput_bps"] < 50e6
    assert 0.01 <= flow["rtt_s"] < 0.1
    text = row_text(row)
    assert text.startswith("     1 s  |  s1-eth1 ")
    assert "  |  one " in text
    assert " Mbit/s  RTT " in text
    assert "\n" not in text
