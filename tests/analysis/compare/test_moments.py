"""When the series of two runs part, on real runs."""

from __future__ import annotations

import dataclasses
import json

import pyarrow as pa
import pytest

from longfat.analysis.compare.moments import Seen, _moment, series_moments
from longfat.execution.runs import load_run
from longfat.model.probes.columns import REAL, TEXT, TIME, WHOLE, Column, make_table
from tests.analysis.compare.conftest import SEEDED

COLUMNS = (
    TIME,
    Column("flow", TEXT),
    Column("stream", WHOLE),
    Column("cwnd_bytes", WHOLE, "bytes"),
    Column("rtt_s", REAL, "s"),
)


def table(*rows: tuple[float, str, int, int | None, float]) -> pa.Table:
    names = [column.name for column in COLUMNS]
    return make_table(COLUMNS, (dict(zip(names, row, strict=True)) for row in rows))


ROWS = ((0.1, "bulk", 0, 100, 0.01), (0.2, "bulk", 0, 200, 0.02), (0.3, "bulk", 0, 300, 0.03))


def test_the_first_row_that_differs() -> None:
    other = (ROWS[0], (0.2, "bulk", 0, 150, 0.02), (0.3, "bulk", 0, 1, 0.5))
    found = _moment("tcp", table(*ROWS), table(*other))
    assert (found.time_s, found.equal_rows, found.about) == (0.2, 1, "bulk")
    assert found.seen == (Seen("cwnd_bytes", "200 bytes", "150 bytes"),)


def test_nothing_is_no_number() -> None:
    other = (ROWS[0], (0.2, "bulk", 0, None, 0.02001), ROWS[2])
    found = _moment("tcp", table(*ROWS), table(*other))
    assert found.seen == (
        Seen("cwnd_bytes", "200 bytes", "none"),
        Seen("rtt_s", "20ms", "20.01ms"),
    )


def test_a_row_that_the_other_lacks() -> None:
    found = _moment("tcp", table(*ROWS), table(*ROWS[:2]))
    assert (found.time_s, found.seen, found.equal_rows) == (0.3, (), 2)
    found = _moment("tcp", table(*ROWS), table(ROWS[0], ROWS[2]))
    assert (found.time_s, found.seen, found.equal_rows) == (0.2, (), 1)
    assert _moment("tcp", table(*ROWS), table()).time_s == 0.1


def test_equal_series() -> None:
    assert _moment("tcp", table(*ROWS), table(*ROWS)).time_s is None
    assert _moment("tcp", table(), table()).time_s is None


def test_several_streams_are_distinguished() -> None:
    rows = ((0.1, "bulk", 0, 1, 0.1), (0.1, "bulk", 1, 1, 0.1))
    other = (rows[0], (0.1, "bulk", 1, 2, 0.1))
    assert _moment("tcp", table(*rows), table(*other)).about == "bulk stream 1"


def test_real_runs() -> None:
    a, b = (load_run(SEEDED / f"lossy-seed{seed}") for seed in (1, 2))
    found = {one.series: one for one in series_moments(a, b)}
    reports = [
        json.loads((run.raw / "bulk.client.json").read_text())["intervals"] for run in (a, b)
    ]
    first = next(
        index
        for index, rows in enumerate(zip(*reports, strict=False))
        if rows[0]["sum"]["bits_per_second"] != rows[1]["sum"]["bits_per_second"]
    )
    time_s = a.flow_times["bulk"].start_s + reports[0][first]["sum"]["end"]
    assert found["bulk"].time_s == pytest.approx(time_s, abs=0.01)
    assert [one.time_s for one in series_moments(a, a)] == [None, None]


def test_what_only_one_run_has_is_left_out() -> None:
    run = load_run(SEEDED / "clean-seed1")
    alone = dataclasses.replace(run, case=dataclasses.replace(run.case, flows=run.case.flows[:1]))
    assert [one.series for one in series_moments(run, alone)] == ["rtt"]
