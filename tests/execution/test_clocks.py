"""Studies whose hosts have wrong clocks: what is seen, and that nothing else changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.execution import run_case
from longfat.execution.runs import Run
from longfat.model.case import Case
from longfat.model.events import ClockChange
from longfat.model.network.clock import ClockKind, HostClock
from longfat.study.formats.convert import convert_text
from longfat.study.formats.write import study_text
from tests.kernels import CLOCK_KERNEL
from tests.study.messages import error, read

STUDY = f"""\
title: Clocks
kernel: {CLOCK_KERNEL}
memory: 512MB
network:
  hosts: {{h1: {{address: 10.0.0.1/8, clock: {{offset: -1.5s, drift: 1000ppm}}}}, h2: 10.0.0.2/8}}
  links: [[h1, h2, {{rate: 10mbit, delay: 10ms, loss: 1%}}]]
flows:
  bulk: {{transfer: h1 -> h2, time: 8s}}
  rtt: {{ping: h2 -> h1, count: 9}}
  here:
    program: h1 -> h2
    run: &dates "sh -c 'for i in 1 2 3 4 5 6; do date +%s.%N; sleep 1; done'"
  there: {{program: h2 -> h1, run: *dates}}
events:
  - {{at: 4s, clock: h1, offset: 1min, drift: 0}}
"""


def case_of(text: str, folder: Path) -> Case:
    return read(text, folder).cases["default"].case


def dates_s(run: Run, flow: str) -> list[float]:
    return [float(line) for line in (run.raw / f"{flow}.client.txt").read_text().split()]


@pytest.mark.slow
def test_programs_see_their_hosts_clock_and_events_set_it(tmp_path: Path) -> None:
    run = run_case(case_of(STUDY, tmp_path), name="clocks", out=tmp_path)
    ahead_s = [h - t for h, t in zip(dates_s(run, "here"), dates_s(run, "there"), strict=True)]
    # The clock has gained since the network was built, before the traffic began.
    assert ahead_s[0] == pytest.approx(-1.5, abs=0.01)
    assert ahead_s[3] - ahead_s[0] == pytest.approx(0.003, abs=1e-4)
    assert ahead_s[4:] == pytest.approx([60, 60], abs=1e-3)
    assert (
        "sysctl -qw net.host_clock.offset_ns=-1500000000"
        in (run.folder / "commands.sh").read_text()
    )


@pytest.mark.slow
def test_a_wrong_clock_changes_nothing_else(tmp_path: Path) -> None:
    wrong = case_of(STUDY, tmp_path)
    (h1, h2) = wrong.network.hosts
    hosts = (replace(h1, clock=HostClock()), h2)
    right = replace(wrong, network=replace(wrong.network, hosts=hosts))
    (event,) = wrong.events
    assert isinstance(event, ClockChange)
    right = replace(right, events=(replace(event, offset_s=0.0),))
    runs = [
        run_case(case, name=name, out=tmp_path)
        for name, case in (("wrong", wrong), ("right", right))
    ]
    # The processes of both cases are the same, and so are the random numbers that they take.
    first, second = ({path.name: path.read_bytes() for path in run.raw.iterdir()} for run in runs)
    assert {name for name in first if first[name] != second[name]} == {"here.client.txt"}


@pytest.mark.slow
def test_it_is_the_same_each_time(tmp_path: Path) -> None:
    case = case_of(STUDY, tmp_path)
    digests = {run_case(case, name=name, out=tmp_path).digest for name in ("one", "two")}
    assert len(digests) == 1


def test_other_kernels_have_one_clock(tmp_path: Path) -> None:
    case = case_of(STUDY.replace(CLOCK_KERNEL, '"6.1"'), tmp_path)
    with pytest.raises(InputError, match=r"clock of h1 .* kernel 6\.1.* have one clock"):
        run_case(case, name="clocks", out=tmp_path)


def test_a_clock_is_written_as_it_is_read(tmp_path: Path) -> None:
    case = case_of(STUDY, tmp_path)
    text = study_text(case=case, title="Clocks")
    assert "clock: {offset: -1.5s, drift: 1000ppm}" in text
    assert case_of(text, tmp_path) == case
    assert Case.from_json(case.to_json()) == case


@pytest.mark.parametrize(
    "clock",
    [
        HostClock(),
        HostClock(offset_s=-1.5),
        HostClock(drift_ppm=0.25),
        HostClock(offset_s=86_400.000000001, drift_ppm=-100.0),
    ],
)
def test_a_clock_as_a_text_is_the_same_clock(clock: HostClock) -> None:
    kind = ClockKind()
    assert kind.parse(kind.text(clock)) == clock
    assert kind.of(kind.plain(clock)) == clock


def test_a_right_clock_leaves_a_case_its_digest(tmp_path: Path) -> None:
    case = case_of(STUDY, tmp_path)
    host = replace(case.network.hosts[0], clock=None)
    plain = replace(case, network=replace(case.network, hosts=(host, case.network.hosts[1])))
    assert "clock" not in str(plain.to_json()["network"])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("drift: 1000ppm", "drift: 1000", "a drift, such as 100ppm"),
        ("offset: -1.5s", "offset: 10000000min", "315360000s"),
        ("offset: -1.5s", "ofset: 1s", "offset"),
        ("clock: h1, offset: 1min, drift: 0", "clock: h1", "write offset, drift or both"),
        ("clock: h1,", "clock: h9,", "there is no host 'h9'"),
    ],
)
def test_what_is_wrong_with_a_clock(tmp_path: Path, old: str, new: str, words: str) -> None:
    place, message = error(STUDY.replace(old, new), tmp_path)
    assert place
    assert words in message


def test_mininet_has_no_clocks(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    converted = convert_text(tmp_path / "study.yaml", suffix=".py", case=None)
    assert any("the clocks of h1 are left out" in one for one in converted.warnings)
    assert "clock" not in converted.text
