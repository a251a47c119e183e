"""The sampler's file: real ones, cut ones, and foreign ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.errors import MachineError
from longfat.model.probes.samples import attributes, growth, parse_samples, weights
from tests.paths import TESTS

DATA = TESTS / "data/probe"
NAMES = ("queue.samples", "tcp.samples", "rate.samples")


@pytest.mark.parametrize("name", ["queue.samples", "rate.samples"])
def test_times_are_those_of_the_ticks(name: str) -> None:
    messages = list(parse_samples((DATA / name).read_bytes(), name=name))
    *grid, end_s = sorted({message.time_s for message in messages})
    assert grid[0] == 0
    assert all(b - a == pytest.approx(0.1) for a, b in itertools.pairwise(grid))
    assert grid[-1] < end_s < grid[-1] + 0.1


@given(st.integers(1, 500), st.integers(0, 10**9 - 1), st.integers(1, 1000))
def test_each_sample_stands_for_the_time_since_the_one_before(
    count: int, rest_ns: int, every_ms: int
) -> None:
    every_ns = every_ms * 10**6
    times_ns = [
        *(tick * every_ns for tick in range(count + 1)),
        count * every_ns + rest_ns % every_ns,
    ]
    times_s = [time_ns / 1e9 for time_ns in dict.fromkeys(times_ns)]
    found = weights(times_s, every_s=every_ms / 1e3)
    assert found == pytest.approx(np.diff(times_s, prepend=0), abs=1e-9)
    # Where none but the last few samples are there, they stand for as much as before.
    assert list(weights(times_s[-2:], every_s=every_ms / 1e3)) == list(found[-2:])


def test_a_counter_that_began_anew_counts_on() -> None:
    assert growth([5, 7, 7, 2, 3], from_start=True) == 2 + 2 + 1
    assert growth([5, 7], from_start=False) == 7
    assert growth([9], from_start=True) == 0
    assert growth([], from_start=True) == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_file_gives_all_that_is_whole(name: str) -> None:
    content = (DATA / name).read_bytes()
    whole = [bytes(m.body) for m in parse_samples(content, name=name)]
    head = content.index(b"\n") + 1
    for end in range(head, len(content), 997):
        found = [bytes(m.body) for m in parse_samples(content[:end], name=name)]
        assert found == whole[: len(found)]


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"{}\n", b"[1]\n", b'{"every_ns": 1, "sources": [{}]}\n', b"\xff\xfe\n"]
)
def test_a_foreign_file_is_reported(content: bytes) -> None:
    with pytest.raises(MachineError, match=r"x\.samples: not a sampler's file"):
        list(parse_samples(content, name="x.samples"))


@given(st.binary(max_size=200))
def test_any_bytes_after_the_header_are_reported_or_left_out(tail: bytes) -> None:
    header = b'{"every_ns": 100, "sources": [{"node": "root", "interfaces": {}}]}\n'
    try:
        list(parse_samples(header + tail, name="x"))
    except MachineError as error:
        assert "source" in str(error)


@given(st.binary(max_size=200))
def test_any_bytes_are_attributes_or_left_out(content: bytes) -> None:
    assert sum(len(value) for value in attributes(memoryview(content)).values()) <= len(content)
