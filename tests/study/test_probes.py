"""The `probes` field: what is read, what is refused and where."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.model.case import Case
from longfat.model.probes import Capture, Probe, Queue, Rate, Tcp
from longfat.study import read_study

STUDY = """\
title: x
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1]]
flows:
  bulk: {iperf3: h1 -> h2}
  other: {iperf3: h2 -> h1}
  datagrams: {iperf3: h1 -> h2, udp: true}
  rtt: {ping: h1 -> h2}
"""


def read(text: str, folder: Path, case: str = "default") -> Case:
    file = folder / "study.yaml"
    file.write_text(STUDY + text, encoding="utf-8")
    return read_study(file).cases[case].case


@pytest.mark.parametrize(
    ("text", "probe"),
    [
        ("queue: {of: s1-eth2}", Queue(name="queue", of=("s1-eth2",))),
        (
            "near: {kind: queue, of: [s1-eth1, h1-eth0], every: 1ms}",
            Queue(name="near", of=("s1-eth1", "h1-eth0"), every_s=0.001),
        ),
        ("tcp: {of: bulk, every: 1s}", Tcp(name="tcp", of=("bulk",), every_s=1.0)),
        ("tcp: {of: [other, bulk]}", Tcp(name="tcp", of=("other", "bulk"))),
        ("rate: {of: h2-eth0}", Rate(name="rate", of=("h2-eth0",))),
        ("capture: {of: h2-eth0}", Capture(name="capture", of="h2-eth0")),
        (
            "w: {kind: capture, of: h2-eth0, filter: tcp port 5201, snap: 96B, packets: 10}",
            Capture(name="w", of="h2-eth0", filter="tcp port 5201", snap_bytes=96, packets=10),
        ),
    ],
)
def test_a_probe_is_read(text: str, probe: Probe, tmp_path: Path) -> None:
    case = read(f"probes:\n  {text}\n", tmp_path)
    assert case.probes == (probe,)
    # What is written into a manifest comes back as the same value.
    assert Case.from_json(json.loads(json.dumps(case.to_json()))) == case


def test_a_case_replaces_adds_and_leaves_out(tmp_path: Path) -> None:
    text = """\
probes: {queue: {of: s1-eth1}, rate: {of: s1-eth1}}
cases:
  a: {probes: {queue: {of: s1-eth2}, tcp: {of: bulk}, rate: }}
"""
    probes = read(text, tmp_path, "a").probes
    assert [(one.name, one.kind) for one in probes] == [("queue", "queue"), ("tcp", "tcp")]
    assert probes[0] == Queue(name="queue", of=("s1-eth2",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("queue: {of: s1-eth3}", "there is no interface 's1-eth3'"),
        ("queue: {every: 1ms}", "has no of: write of"),
        ("queue: {of: []}", "an interface"),
        ("queue: {of: [s1-eth1, s1-eth1]}", "written twice"),
        ("queue: {of: s1-eth1, every: 0.5ms}", "1ms to 1s"),
        ("queue: {of: s1-eth1, every: 2s}", "1ms to 1s"),
        ("queue: {of: s1-eth1, snap: 96B}", "snap"),
        ("near: {of: s1-eth1}", "there is no kind of probe 'near'"),
        ("near: {kind: quee, of: s1-eth1}", "there is no kind of probe 'quee'"),
        ("tcp: {of: bluk}", "there is no flow 'bluk'"),
        ("tcp: {of: rtt}", "no TCP sockets"),
        ("tcp: {of: datagrams}", "no TCP sockets"),
        ("bulk: {kind: queue, of: s1-eth1}", "has the name of a flow"),
        ("capture: {of: [s1-eth1, s1-eth2]}", "an interface"),
        ("capture: {of: s1-eth1, filter: -w /tmp/x}", "hyphen"),
        ("capture: {of: s1-eth1, snap: 10B}", "64 to 256KB"),
        ("capture: {of: s1-eth1, packets: 0}", "1"),
        ("queue:", "none of that name"),
    ],
)
def test_a_wrong_probe_is_refused_where_it_is_written(
    text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read(f"probes:\n  {text}\n", tmp_path)
    assert caught.value.place is not None
    assert caught.value.place.line == 12


def test_claims_and_published_figures_know_a_probes_metrics(tmp_path: Path) -> None:
    text = """\
probes: {queue: {of: s1-eth2}, w: {kind: capture, of: h1-eth0}}
claims: [default.queue.peak < 1MB and default.w.window_shift == 9]
published: {source: x, default: {queue.peak: 1MB, w.window_raw: 16129}}
"""
    read(text, tmp_path)
    with pytest.raises(InputError, match="peek"):
        read(text.replace("queue.peak < 1MB", "queue.peek < 1MB"), tmp_path)
