"""How far a short text may expand, and what is reported where it would go further."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.study.check import check_text
from longfat.study.expansion import DEFAULT_LIMITS, ExpansionLimits
from longfat.study.read import parse_study
from tests.study.messages import BASE, error, grid, read

SETUP = "setup:\n" + "".join(f"  - h1: echo {number}\n" for number in range(2000))


def test_the_cases_of_a_grid_hold_a_limited_number_of_values(tmp_path: Path) -> None:
    place, message = error(grid(50_000) + SETUP, tmp_path)
    assert place == "3:3: grid"
    assert message.startswith("here are 50,000 cases of 6,0")
    assert "all cases together may hold at most 2,000,000 values" in message


def test_a_grid_that_is_too_large_is_refused_before_its_cases_are_made() -> None:
    began_s = time.process_time()
    (finding,) = check_text(grid(100_000) + SETUP, name="g.yaml").findings
    assert time.process_time() - began_s < 5
    assert "100,000 cases" in finding.error.message


def test_conditions_leave_out_cases_before_they_are_counted(tmp_path: Path) -> None:
    where = "where: wait < 1.1ms\n"
    assert len(read(grid(5_000) + where + SETUP, tmp_path).cases) == 10


def test_the_combinations_of_a_grid_have_a_limited_number_of_conditions(tmp_path: Path) -> None:
    where = "where:\n" + "".join(f"  - wait < {number}s\n" for number in range(1, 100))
    place, message = error(grid(50_000) + where, tmp_path)
    assert place == "3:3: grid"
    assert "here are 50,000 combinations with 101 parameters, derived values and" in message


def test_a_grid_with_too_many_values_is_not_read_to_its_end(tmp_path: Path) -> None:
    more = "".join(f"  p{number}: {{from: 1, to: 2e6, steps: 10000}}\n" for number in range(60))
    began_s = time.process_time()
    _, message = error(grid(100_000).replace("network:", f"{more}network:"), tmp_path)
    assert time.process_time() - began_s < 20
    assert "at most 100,000 are possible" in message


def test_cases_that_are_written_one_by_one_are_limited_likewise(tmp_path: Path) -> None:
    cases = "cases:\n" + "".join(f"  c{number}:\n" for number in range(2000))
    place, message = error(BASE + SETUP + cases, tmp_path)
    assert place == "2011:3: cases"
    assert "here are 2,000 cases of 6,0" in message


def test_nodes_and_links_count() -> None:
    limits = ExpansionLimits(max_values=250)
    text = grid(10)
    with pytest.raises(InputError, match="more values, nodes, links and events than the 250"):
        parse_study(text, name="g", limits=limits)
    assert len(parse_study(text, name="g", limits=DEFAULT_LIMITS).cases) == 10


def test_who_reads_a_study_may_end_the_reading() -> None:
    calls: list[None] = []

    def on_case() -> None:
        calls.append(None)
        if len(calls) == 30:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        parse_study(grid(20), name="g", limits=ExpansionLimits(on_case=on_case))


@pytest.mark.parametrize(
    ("field", "place"),
    [
        ("setup:\n  - ? [%s]\n    : [%s]\n", "11:7: setup[0]."),
        ("events:\n  - ? at\n    : 1s\n    ? [%s]\n    : [%s]\n", "13:7: events[0]."),
    ],
)
def test_lines_times_nodes_are_limited(field: str, place: str, tmp_path: Path) -> None:
    names, lines = (f"h{number % 3 + 1}" for number in range(200)), ["ls"] * 200
    found, message = error(BASE + field % (", ".join(names), ", ".join(lines)), tmp_path)
    assert found.startswith(place)
    assert message.startswith("here are 40,000 lines to type, counting each node of each line")


def test_lines_of_many_entries_are_limited_together(tmp_path: Path) -> None:
    entry = f"  - [h1, h2]: [{', '.join(['ls'] * 60)}]\n"
    place, message = error(f"{BASE}setup:\n{entry * 170}", tmp_path)
    assert place == "176:5: setup[166]"
    assert "here are 20,040 lines" in message


LONG = BASE.replace("iperf3: h1 -> h2}", "iperf3: h1 -> h2, time: 86400s}").replace(
    "  ping: {ping: h1 -> h2}\n", ""
)


@pytest.mark.parametrize(
    ("event", "count"),
    [
        ("h1: echo", 30_000),
        ("link: [h1, s1], rate: 5mbit", 40_000),
        ("link: [h1, s1], down: yes, for: 1ms", 40_000),
        ("partition: [[h1], [s1]], for: 1ms", 40_000),
    ],
)
def test_how_often_events_happen_is_limited(event: str, count: int, tmp_path: Path) -> None:
    events = "".join(
        f"  - {{at: {number}s, every: 4s, times: 10000, {event}}}\n" for number in range(1, 4)
    )
    place, message = error(f"{LONG}events:\n{events}", tmp_path)
    assert place.endswith(".times")
    assert f"so often that {count:,} lines are typed, and at most 20,000 are possible" in message


def test_an_event_that_happens_ten_thousand_times_is_played_quickly(tmp_path: Path) -> None:
    events = "  - {at: 1s, every: 4s, times: 10000, link: [h1, s1], rate: 5mbit}\n"
    began_s = time.process_time()
    read(f"{LONG}events:\n{events}", tmp_path)
    assert time.process_time() - began_s < 8


def test_aliases_do_not_multiply_a_text(tmp_path: Path) -> None:
    bombs = "".join(
        f"  a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 9)}]\n"
        for number in range(1, 9)
    )
    _, message = error(f"title: x\nlists:\n  a0: &a0 [lol]\n{bombs}", tmp_path)
    assert message == "more than 20000 values, counting what aliases repeat"
