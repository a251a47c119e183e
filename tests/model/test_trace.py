"""Traces: their two forms, what is wrong with others, and what the kernel is given."""

from __future__ import annotations

import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from longfat.errors import InputError
from longfat.model.trace import MAX_ROWS, Row, Trace, parse_trace
from longfat.model.trace_models import LENGTH_S, MODELS, make_trace


def test_moments_of_mahimahi_are_opportunities() -> None:
    trace = parse_trace(b"0\n3\n3\n10\n")
    assert trace == Trace(
        is_rates=False,
        rows=(Row(0, 1504), Row(3_000_000, 3008), Row(10_000_000, 1504)),
        end_ns=10_000_000,
    )
    assert trace.text(repeats=True) == (
        "opportunities repeat -10 10000000\n0 1504 0 0\n3000000 3008 0 0\n10000000 1504 0 0\n"
    )


def test_a_table_has_units_in_its_names_and_begins_at_its_first_row() -> None:
    trace = parse_trace(
        b"time_s,rate_mbps,delay_ms,loss_percent\n100.5,8,1.5,50\n101,0,0,0\n102.5,1,2,100\n"
    )
    assert trace.rows == (
        Row(0, 1_000_000, 1_500_000, 2**31),
        Row(500_000_000, 0, 0, 0),
        # A share of 1 is all that a draw can be below.
        Row(2_000_000_000, 125_000, 2_000_000, 2**32 - 1),
    )
    assert trace.end_ns == 3_500_000_000
    assert trace.text(repeats=False).startswith("rates once 0 3500000000\n0 1000000 1500000 ")


def test_parquet_is_the_same_table() -> None:
    out = io.BytesIO()
    columns = {"time_ms": [0, 20], "rate_kbps": [800.0, 80.0]}
    parquet.write_table(pa.table(columns), out)
    text = b"time_ms,rate_kbps\n0,800\n20,80\n"
    assert parse_trace(out.getvalue()) == parse_trace(text)


def test_without_a_rate_nothing_waits() -> None:
    (row,) = parse_trace(b"time_s,delay_ms\n0,30\n").rows
    assert row == Row(0, 10**10, 30_000_000, 0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "this trace is empty"),
        ("1\n2\nx\n", "line 3 of this trace holds 'x', where a whole number of milliseconds"),
        ("1\n2.5\n", "line 2 of this trace holds '2.5', where a whole number"),
        ("-1\n", "line 1 of this trace holds '-1', where a whole number"),
        ("5\n3\n", "line 2 of this trace goes back in time, from 5 to 3 ms"),
        ("0\n", "this trace ends at 0 ms"),
        ("1\n900000000\n", "row 2 of this trace is later than a day"),
        ("time,rate_mbps\n", "a trace has no column 'time'"),
        ("time_s,rate_mpbs\n", "no column 'rate_mpbs'; did you mean 'rate_mbps'?"),
        ("time_s,time_ms,loss\n", "this trace has two columns of time"),
        ("rate_mbps,loss\n", "this trace has no column of times"),
        ("time_s\n1\n", "no column of rates, delays or losses"),
        ("time_s,loss\n", "this trace has names and no rows"),
        ("time_s,loss\n0,1.5\n", "line 2 of this trace has the loss 1.5, which cannot be"),
        ("time_s,rate_bps\n0,-1\n", "line 2 of this trace has the rate -1, which cannot be"),
        ("time_s,rate_bps\n0,1\n0,2\n", "line 3 of this trace is not later than the one before"),
        ("time_s,rate_bps\n0,nan\n", "line 2 of this trace has 'nan' as its rate: no number"),
        ("time_s,rate_bps\n0,1,2\n", "line 2 of this trace has 3 values, and 2 are needed"),
        ('time_s,rate_bps\n0,"1\n', "this trace is no CSV"),
        ("PAR1 and so on", "this trace is no Parquet that can be read"),
    ],
)
def test_what_is_no_trace_says_where_and_why(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_trace(text.encode())
    assert words in str(caught.value)


def test_a_trace_may_have_gaps() -> None:
    trace = parse_trace(b"1\n2\n50000\n")
    assert sum(row.value for row in trace.rows) == 3 * 1504
    assert trace.end_ns == 50 * 10**9


def test_a_trace_has_an_end() -> None:
    with pytest.raises(InputError, match="more than 1000000 rows"):
        parse_trace(b"1\n" * (MAX_ROWS + 1))


@given(
    st.binary(max_size=200)
    | st.text(alphabet="0123456789.,\n-e_tmspralosd", max_size=200).map(str.encode)
)
def test_any_bytes_are_a_trace_or_a_located_error(data: bytes) -> None:
    try:
        trace = parse_trace(data)
    except InputError:
        return
    times = [row.at_ns for row in trace.rows]
    assert times == sorted(times)
    assert 0 <= times[0] <= times[-1] <= trace.end_ns
    assert all(0 <= row.loss < 2**32 and row.value >= 0 for row in trace.rows)


@given(st.lists(st.integers(min_value=1, max_value=10_000), min_size=1, max_size=100))
def test_no_opportunity_is_lost_in_reading(moments: list[int]) -> None:
    trace = parse_trace("".join(f"{ms}\n" for ms in sorted(moments)).encode())
    assert sum(row.value for row in trace.rows) == 1504 * len(moments)
    assert trace.end_ns == max(moments) * 10**6


@pytest.mark.parametrize("name", MODELS)
def test_made_up_traces_are_traces_of_a_minute(name: str) -> None:
    trace = parse_trace(make_trace(name))
    assert trace.end_ns == LENGTH_S * 10**9
    assert make_trace(name) == make_trace(name)


def test_the_made_up_lte_wanders_about_its_rate() -> None:
    rows = parse_trace(make_trace("lte-like")).rows
    by_second = [0] * LENGTH_S
    for row in rows:
        by_second[min(row.at_ns // 10**9, LENGTH_S - 1)] += row.value * 8
    assert sum(by_second) / LENGTH_S == pytest.approx(12e6 * 1.2, rel=0.4)
    assert max(by_second) > 4 * min(by_second)
