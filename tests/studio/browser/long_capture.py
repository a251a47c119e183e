"""A run with a capture of as many packets as wanted, put together instead of captured."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.analysis.packets.capture import Frame
from longfat.execution import run_case
from longfat.study import read_study
from tests.analysis.packets.made import START_NS
from tests.resealed import reseal

if TYPE_CHECKING:
    from collections.abc import Iterable

_STUDY = """\
title: A capture
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 10mbit, delay: 10ms, queue: 30KB}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 1s}
probes:
  seen: {kind: capture, of: h2-eth0, packets: 10}
"""


def run_with_capture(folder: Path, frames: Iterable[Frame]) -> Path:
    """Run a small study with a capture, replace the captured packets, and seal the run again."""
    (folder / "study.yaml").write_text(_STUDY)
    (planned,) = read_study(folder / "study.yaml").cases.values()
    run = run_case(planned.case, name="many", out=folder / "runs" / "many")
    path = run.raw / "seen.pcap"
    path.unlink()
    epoch_ns = round(run.epoch_s * 1e9)
    head = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)
    with path.open("wb") as file:
        file.write(head)
        for frame in frames:
            time_ns = frame.time_ns - START_NS + epoch_ns
            stamp = (time_ns // 10**9, time_ns % 10**9)
            length = (len(frame.content), frame.length)
            file.write(struct.pack("<IIII", *stamp, *length) + frame.content)
    reseal(run.folder)
    return run.folder
