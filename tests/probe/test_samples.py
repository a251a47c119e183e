"""The sampler's file: real ones, cut ones, and foreign ones."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.errors import MachineError
from longfat.probe.samples import attributes, parse_samples

DATA = Path(__file__).resolve().parents[1] / "data/probe"
NAMES = ("queue.samples", "tcp.samples", "rate.samples")


@pytest.mark.parametrize("name", NAMES)
def test_times_are_those_of_the_ticks(name: str) -> None:
    messages = list(parse_samples((DATA / name).read_bytes(), name=name))
    times = sorted({message.time_s for message in messages})
    assert times[0] == pytest.approx(0.1)
    assert all(b - a == pytest.approx(0.1) for a, b in itertools.pairwise(times))


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
def test_a_foreign_file_is_told(content: bytes) -> None:
    with pytest.raises(MachineError, match=r"x\.samples: not a sampler's file"):
        list(parse_samples(content, name="x.samples"))


@given(st.binary(max_size=200))
def test_any_bytes_after_the_header_are_told_or_left_out(tail: bytes) -> None:
    header = b'{"every_ns": 100, "sources": [{"node": "root", "interfaces": {}}]}\n'
    try:
        list(parse_samples(header + tail, name="x"))
    except MachineError as error:
        assert "source" in str(error)


@given(st.binary(max_size=200))
def test_any_bytes_are_attributes_or_left_out(content: bytes) -> None:
    assert sum(len(value) for value in attributes(memoryview(content)).values()) <= len(content)
