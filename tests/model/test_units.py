"""Units: tables of what tc and iperf3 write, exact messages, and round trips."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.errors import InputError
from longfat.model.kinds import Integer, Kind, Rate, Share, Size, Time
from longfat.model.metric import Unit
from longfat.model.units import (
    MAX_INTEGER,
    Literal,
    format_quantity,
    format_range,
    parse_count,
    parse_fraction,
    parse_literal,
    parse_quantity,
    parse_rate_bps,
    parse_size_bytes,
    parse_time_s,
    quantity_pattern,
)


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("10gbit", 10_000_000_000),
        ("10Gbit", 10_000_000_000),
        ("2.5 Gbit/s", 2_500_000_000),
        ("3.28 Gbits/sec", 3_280_000_000),
        ("100kbit", 100_000),
        ("1tbit", 10**12),
        ("1kibit", 1024),
        ("1gibit", 1024**3),
        ("7bit", 7),
        ("1.5bit", 2),
        ("10G", 10**10),
        ("500M", 5 * 10**8),
        ("0", 0),
        ("1e3kbit", 10**6),
    ],
)
def test_rates_as_tc_and_iperf3_write_them(text: str, bps: int) -> None:
    assert parse_rate_bps(text) == bps


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("16777216", 16_777_216),
        ("25MB", 25 * 1024**2),
        ("25m", 25 * 1024**2),
        ("25MiB", 25 * 1024**2),
        ("18.1 MBytes", 18_979_226),
        ("64K", 65_536),
        ("1gb", 1024**3),
        ("1500b", 1500),
        ("0.5k", 512),
        ("0", 0),
    ],
)
def test_sizes_are_powers_of_1024(text: str, size: int) -> None:
    assert parse_size_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("20ms", 0.02),
        ("20.092 msec", 0.020092),
        ("42us", 42e-6),
        ("42 µs", 42e-6),
        ("5usecs", 5e-6),
        ("7ns", 7e-9),
        ("90s", 90.0),
        ("90secs", 90.0),
        ("1.5min", 90.0),
        ("0", 0.0),
    ],
)
def test_times(text: str, seconds: float) -> None:
    assert parse_time_s(text) == seconds


def test_a_bare_time_is_seconds_where_ping_and_iperf3_take_it_so() -> None:
    assert parse_time_s("10", bare_seconds=True) == 10


def test_fractions_and_counts() -> None:
    assert parse_fraction("0.01%") == 0.0001
    assert parse_fraction("15 %") == 0.15
    assert parse_fraction("0") == 0
    assert parse_count("315") == 315


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (
            parse_rate_bps,
            "10mbps",
            "'10mbps': tc reads mbps as bytes per second and most people as bits; write mbit for "
            "bits per second, or 8 times as much mbit for bytes",
        ),
        (
            parse_rate_bps,
            "10",
            "'10' has no unit: write a number with bit, kbit, mbit, gbit or tbit, such as 10gbit",
        ),
        (
            parse_rate_bps,
            "10ms",
            "'10ms' is not a rate: write a number with bit, kbit, mbit, gbit or tbit, "
            "such as 10gbit",
        ),
        (parse_rate_bps, "-1gbit", "'-1gbit' is negative: a rate cannot be less than 0"),
        (
            parse_rate_bps,
            "1e19bit",
            f"'1e19bit' is too large: at most {MAX_INTEGER}",
        ),
        (
            parse_size_bytes,
            "10mbit",
            "'10mbit' is not a size: write a number of bytes, or one with KB (1,024 bytes), "
            "MB or GB, such as 25MB",
        ),
        (
            parse_time_s,
            "20",
            "'20' has no unit: write a number with s, ms, us, ns or min, such as 20ms",
        ),
        (parse_time_s, "1e10s", "'1e10s' is too long: at most 1000000000s"),
        (
            parse_fraction,
            "0.5",
            "'0.5' is not a percentage: write a percentage from 0% to 100%, such as 0.01%",
        ),
        (
            parse_fraction,
            "101%",
            "'101%' is more than all: write a percentage from 0% to 100%, such as 0.01%",
        ),
        (
            parse_count,
            "3x",
            "'3x' is not a plain number: write a number without a unit, such as 315",
        ),
        (
            parse_literal,
            "10G",
            "'10G' could be a rate or a size: write 10Gbit for bits per second, or 10GB for bytes",
        ),
        (
            parse_literal,
            "5parsec",
            "'5parsec' has an unknown unit 'parsec': rates have bit, kbit, mbit, gbit, tbit; "
            "sizes B, KB, MB, GB; times s, ms, us, ns, min; fractions %",
        ),
    ],
)
def test_messages_say_what_is_allowed(
    parse: Callable[[str], object], text: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        parse(text)
    assert caught.value.message == message


@pytest.mark.parametrize("text", ["", "nan", "inf", "1e999999999gbit", "1_000", "0x10", "٣", "1 2"])
@pytest.mark.parametrize("unit", list(Unit))
def test_what_is_no_finite_number_is_refused(text: str, unit: Unit) -> None:
    with pytest.raises(InputError):
        parse_quantity(text, unit)


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("150ms", Literal(0.15, Unit.SECONDS)),
        ("900mbit", Literal(9e8, Unit.BPS)),
        ("25MB", Literal(25 * 1024**2, Unit.BYTES)),
        ("150%", Literal(1.5, Unit.FRACTION)),
        ("2.5", Literal(2.5, Unit.COUNT)),
    ],
)
def test_a_unit_tells_the_kind(text: str, literal: Literal) -> None:
    assert parse_literal(text) == literal


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (3.28e9, Unit.BPS, "3.28 Gbit/s"),
        (0, Unit.BPS, "0 bit/s"),
        (999_600, Unit.BPS, "1.00 Mbit/s"),
        (999_400, Unit.BPS, "999 kbit/s"),
        (9.996e9, Unit.BPS, "10.0 Gbit/s"),
        (16.1 * 1024**2, Unit.BYTES, "16.1 MB"),
        (512, Unit.BYTES, "512 B"),
        (1023.9 * 1024, Unit.BYTES, "1.00 MB"),
        (0.02, Unit.SECONDS, "20.0 ms"),
        (42e-6, Unit.SECONDS, "42.0 µs"),
        (90, Unit.SECONDS, "90.0 s"),
        (0, Unit.SECONDS, "0 s"),
        (-0.02, Unit.SECONDS, "-20.0 ms"),
        (0.0001, Unit.FRACTION, "0.01 %"),
        (0.4, Unit.FRACTION, "40 %"),
        (1 / 3, Unit.FRACTION, "33.3 %"),
        (1, Unit.FRACTION, "100 %"),
        (315, Unit.COUNT, "315"),
        (19668, Unit.COUNT, "19668"),
        (2.5, Unit.COUNT, "2.5"),
        (math.nan, Unit.BPS, "nan"),
        (-math.inf, Unit.SECONDS, "-inf"),
    ],
)
def test_values_as_people_read_them(value: float, unit: Unit, text: str) -> None:
    assert format_quantity(value, unit) == text


@pytest.mark.parametrize(
    ("low", "high", "like", "unit", "text"),
    [
        (3.2e9, 3.31e9, 3.28e9, Unit.BPS, "3.20-3.31"),
        (86.4e6, 1.02e9, 1.0e9, Unit.BPS, "0.0864-1.02"),
        (0, 9e6, 8e6, Unit.BPS, "0-9.00"),
        (935e6, 1.02e9, 980e6, Unit.BPS, "935-1020"),
        (0, 5e6, 0, Unit.BPS, "0-5.00 Mbit/s"),
        (15.8 * 1024**2, 16.2 * 1024**2, 16 * 1024**2, Unit.BYTES, "15.8-16.2"),
        (100, 200, 150, Unit.BYTES, "100-200"),
        (0.0201, 0.2, 0.1928, Unit.SECONDS, "20.1-200"),
        (0, 0, 0, Unit.SECONDS, "0-0"),
        (0.0001, 0.01, 0.001, Unit.FRACTION, "0.01-1"),
        (0, 0.01, 0, Unit.FRACTION, "0-1 %"),
        (19000.5, 21000, 20000, Unit.COUNT, "19000-21000"),
    ],
)
def test_ranges_take_the_unit_of_what_they_stand_beside(
    low: float, high: float, like: float, unit: Unit, text: str
) -> None:
    assert format_range(low, high, unit, like=like) == text


VALUES = {
    Unit.BPS: st.integers(0, 10**15).map(float),
    Unit.BYTES: st.integers(0, 2**50).map(float),
    Unit.SECONDS: st.floats(1e-9, 1e6),
    Unit.FRACTION: st.floats(0, 1),
    Unit.COUNT: st.floats(0, 1e9),
}


@given(st.sampled_from(list(Unit)).flatmap(lambda unit: st.tuples(st.just(unit), VALUES[unit])))
def test_what_is_formatted_can_be_read_back(pair: tuple[Unit, float]) -> None:
    unit, value = pair
    text = format_quantity(value, unit)
    if "e-" in text and len(text.partition("e-")[2].split()[0]) > 2:
        return  # smaller than what a person would write
    again = parse_quantity(text, unit)
    # Three significant digits; a bit, a byte or a plain number may be rounded to a whole.
    assert math.isclose(again, value, rel_tol=0.0051, abs_tol=1e-11)
    assert format_quantity(again, unit) == text


@given(st.integers(0, MAX_INTEGER))
def test_whole_numbers_are_read_exactly(value: int) -> None:
    assert parse_size_bytes(str(value)) == value
    assert parse_rate_bps(f"{value}bit") == value


@given(st.floats(0, 1e6))
def test_times_are_read_exactly(value: float) -> None:
    text = f"{value:.20f}"
    assert parse_time_s(f"{text}s") == float(text)


@given(st.text(max_size=30), st.sampled_from(list(Unit)))
def test_any_text_is_read_or_refused(text: str, unit: Unit) -> None:
    with contextlib.suppress(InputError):
        assert math.isfinite(parse_quantity(text, unit))
    with contextlib.suppress(InputError):
        assert math.isfinite(parse_literal(text).value)


@given(st.data(), st.sampled_from(list(Unit)))
def test_the_pattern_of_the_schema_is_that_of_the_reader(data: st.DataObject, unit: Unit) -> None:
    text = data.draw(st.from_regex(quantity_pattern(unit), fullmatch=True))
    try:
        parse_quantity(text, unit)
    except InputError as error:
        assert re.search("has no unit|too l|more than all", error.message), text


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        *(
            (text, Unit.BPS)
            for text in ("10gbit", "2.5 Gbit/s", "3.28 Gbits/sec", "1e3KIBIT", "7g")
        ),
        *((text, Unit.BYTES) for text in ("25MB", "64k", "1 KiB", "3 Bytes", "16777216")),
        *((text, Unit.SECONDS) for text in ("20ms", "1.5MIN", "3 usecs", "5µs", "0")),
        *((text, Unit.FRACTION) for text in ("0.01%", "5 %")),
        ("315", Unit.COUNT),
    ],
)
def test_the_pattern_of_the_schema_fits_what_the_reader_takes(text: str, unit: Unit) -> None:
    parse_quantity(text, unit)
    assert re.fullmatch(quantity_pattern(unit), text)


@pytest.mark.parametrize("kind", [Rate(), Size(), Time(), Share(), Integer(maximum=10)])
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 10**400])
def test_numbers_of_a_program_are_finite(kind: Kind[float], value: float) -> None:
    with pytest.raises(InputError):
        kind.of(value)
