"""Figures that contradict what the kernel counted."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from longfat.analysis.grading.checks import forged
from longfat.analysis.grading.play import watched
from longfat.analysis.grading.submission import Played
from longfat.execution.case_runner import run_case
from longfat.study.read import read_study

STUDY = """\
title: Transfers of known speed
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: 20mbit, delay: 10ms}]]
flows:
  timed: {iperf3: h1 -> h2, time: 2s, omit: 1s}
  sized: {iperf3: h1 -> h2, bytes: 2MB, after: timed}
  many: {iperf3: h1 -> h2, time: 1s, parallel: 3, after: sized}
probes:
  tcp: {of: [timed, sized, many], every: 100ms}
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder: Path = tmp_path_factory.mktemp("run")
    (folder / "study.yaml").write_text(STUDY)
    (planned,) = read_study(folder / "study.yaml").cases.values()
    run = run_case(planned.case, out=folder, name="it", study="it", parameters={})
    return Played(name="it", case=planned.case, run=run)


def test_honest_figures_are_believed(played: Played) -> None:
    assert list(forged(played)) == []


@pytest.mark.parametrize(
    ("flow", "name"),
    [
        *((flow, "received_bytes") for flow in ("timed", "sized", "many")),
        *((flow, "receiver_bps") for flow in ("timed", "many")),
    ],
)
def test_figures_beyond_what_was_carried_are_not(played: Played, flow: str, name: str) -> None:
    assert played.run is not None
    metrics = dict(played.run.metrics)
    metrics[f"{flow}.{name}"] *= 2
    altered = dataclasses.replace(played, run=dataclasses.replace(played.run, metrics=metrics))
    (words,) = forged(altered)
    assert words.startswith(f"{flow} reports ")
    assert "the kernel's sockets carried" in words


def test_a_probe_that_looks_seldom_has_a_finer_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY.replace("every: 100ms", "every: 1s"))
    (planned,) = read_study(tmp_path / "study.yaml").cases.values()
    case = watched(planned.case)
    run = run_case(case, out=tmp_path, name="it", study="it", parameters={})
    assert list(forged(Played(name="it", case=case, run=run))) == []
