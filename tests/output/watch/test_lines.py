"""One line a virtual second, whenever it was read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longfat.analysis.timeseries.live import LiveRun, Plan
from longfat.output.watch.lines import SecondRows, row_text
from tests.analysis.timeseries.conftest import Growing


def lines_in_steps(plan: Plan, folder: Path, steps: int) -> list[str]:
    growing = Growing(folder)
    live = LiveRun(plan)
    live.folder = growing.folder
    seconds = SecondRows(live, case="x")
    lines: list[str] = []
    for step in range(1, steps + 1):
        growing.grow(step / steps)
        live.poll()
        lines += map(row_text, seconds.new())
    for _ in range(2):
        lines += map(row_text, seconds.new(ended=True))
    return lines


def test_lines_do_not_depend_on_when_they_are_read(plan: Plan, tmp_path: Path) -> None:
    at_once = lines_in_steps(plan, tmp_path / "once", 1)
    assert lines_in_steps(plan, tmp_path / "many", 30) == at_once
    times_s = [float(line.split()[0]) for line in at_once]
    assert times_s[0] == 1
    assert times_s == sorted(set(times_s))
    # The last second is not a whole one.
    assert times_s[-1] == pytest.approx(1.4, abs=0.2)


def test_a_line_has_every_quantity(plan: Plan, tmp_path: Path) -> None:
    first = lines_in_steps(plan, tmp_path / "run", 3)[0]
    size, time = r"[\d.]+ (K|M)?B", r"[\d.]+ ms"
    assert re.fullmatch(
        rf" {{5}}1 s  \|  s1-eth1 {size}, \d+ drops  \|  s2-eth1 0 B"
        rf"  \|  one [\d.]+ Mbit/s  RTT {time}  cwnd {size}, \d+ resent"
        rf"  \|  other [\d.]+ Mbit/s  RTT {time}  cwnd {size}(, \d+ resent)?"
        rf"  \|  back [\d.]+ Mbit/s  RTT {time}  cwnd {size}(, \d+ resent)?",
        first,
    )
    rate = re.search(r"one ([\d.]+) Mbit/s", first)
    assert rate is not None
    assert 20 < float(rate[1]) < 50


def test_what_is_not_known_is_a_hyphen(plan: Plan, growing: Growing) -> None:
    growing.grow(1)
    live = LiveRun(plan)
    live.folder = growing.folder
    live.poll()
    for flow in live.flows.values():
        flow.rtt.times_s.clear()
        flow.rtt.values.clear()
    first = row_text(next(SecondRows(live, case="x").new()))
    assert first.count("RTT -  cwnd") == 3
