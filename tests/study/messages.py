"""What the tests of messages share: a small study, and reading one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.study import Study, read_study

BASE = """\
title: A study
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1]]
flows:
  ping: {ping: h1 -> h2}
  bulk: {iperf3: h1 -> h2}
"""
"""Eight lines: what a test adds starts in line 9."""


def read(text: str, folder: Path) -> Study:
    file = folder / "study.yaml"
    file.write_text(text, encoding="utf-8")
    return read_study(file)


def error(text: str, folder: Path) -> tuple[str, str]:
    """Return the place as `line:column: field`, and the message."""
    with pytest.raises(InputError) as caught:
        read(text, folder)
    place = caught.value.place
    assert place is not None
    return str(place).removeprefix(f"{folder / 'study.yaml'}:"), caught.value.message


GRID = """\
title: A grid
grid:
  wait: {from: 1ms, to: 100ms, steps: %d}
  size: [%s]
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {delay: $<wait>, rate: 10mbit, queue: $<size>KB}]]
flows:
  rtt: {ping: h1 -> h2}
"""


def grid(cases: int) -> str:
    """Return a study with a grid of so many cases."""
    sizes = 10 if cases >= 1000 else 1
    return GRID % (cases // sizes, ", ".join(str(64 + number) for number in range(sizes)))
