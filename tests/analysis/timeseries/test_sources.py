"""Rows of reports: what a short one counts is not lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.analysis.timeseries.sources import whole_rows
from longfat.model.traffic.bulk import Interval


def row(start_s: float, end_s: float, moved: int, retransmits: int = 0) -> Interval:
    return Interval(
        start_s=start_s,
        end_s=end_s,
        bps=moved * 8 / (end_s - start_s),
        retransmits=retransmits,
        cwnd_bytes=14480,
        rtt_s=end_s,
        omitted=False,
        bytes=moved,
    )


def test_a_short_last_row_becomes_a_part_of_the_one_before() -> None:
    rows = [row(0, 1, 1000), row(1, 2, 1000, 1), row(2, 2.01, 500, 3)]
    first, last = whole_rows(rows)
    assert first == rows[0]
    assert (last.start_s, last.end_s, last.bytes, last.retransmits) == (1, 2.01, 1500, 4)
    assert last.bps == pytest.approx(1500 * 8 / 1.01)
    assert last.rtt_s == 2.01


def test_a_short_first_row_is_left_out() -> None:
    rows = [row(0, 0.00001, 10**6), row(0.00001, 1, 1000), row(1, 2, 1000)]
    assert whole_rows(rows) == rows[1:]


@given(
    st.lists(st.tuples(st.floats(1e-4, 2), st.integers(0, 10**6), st.integers(0, 9)), max_size=9)
)
def test_nothing_that_is_counted_is_lost(parts: list[tuple[float, int, int]]) -> None:
    rows, time_s = [row(0, 2, 1)], 2.0
    for length_s, moved, retransmits in parts:
        rows.append(row(time_s, time_s + length_s, moved, retransmits))
        time_s += length_s
    whole = whole_rows(rows)
    assert sum(one.bytes for one in whole) == sum(moved for _, moved, _ in parts) + 1
    assert sum(one.retransmits or 0 for one in whole) == sum(again for _, _, again in parts)
    assert [one.start_s for one in whole[1:]] == [one.end_s for one in whole[:-1]]
