"""The timing of hosts: how a study says it, what comes of it, and each kind of error."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.model.case import Case
from longfat.model.network import (
    PROFILES,
    ROOT_NAMESPACE,
    Batch,
    CpuCosts,
    HostTiming,
    build_batches,
    timing_from,
)
from longfat.study.choose import on_testbed
from longfat.study.formats.convert import convert_text
from longfat.study.formats.write import study_text
from longfat.study.timing import format_testbed, parse_testbed
from tests.study.messages import error, read

STUDY = """\
title: A study
network:
  hosts: {h1: HOST, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1]]
"""

ALL = "timer_latency: 50us, cpu: {syscall: 300ns, copy: 80ps/B, packet: 436ns, wakeup: 1us}"

TIMING = HostTiming(
    timer_latency_s=5e-5,
    cpu=CpuCosts(syscall_s=3e-7, copy_s=8e-11, packet_s=4.36e-7, wakeup_s=1e-6),
)


def case_of(folder: Path, host: str = "10.0.0.1/8", more: str = "") -> Case:
    text = STUDY.replace("HOST", host) + more
    (planned,) = read(text, folder).cases.values()
    return planned.case


@pytest.mark.parametrize(
    ("fields", "timing"),
    [
        (ALL, TIMING),
        ("timer_latency: 50us", HostTiming(timer_latency_s=5e-5)),
        ("cpu: {copy: 80 ps/B}", HostTiming(cpu=CpuCosts(copy_s=8e-11))),
        ("profile: vm-2020", PROFILES["vm-2020"]),
        (
            "profile: vm-2020, timer_latency: 27us, cpu: {packet: 0}",
            HostTiming(
                timer_latency_s=2.7e-5,
                cpu=CpuCosts(
                    syscall_s=PROFILES["vm-2020"].cpu.syscall_s,
                    copy_s=PROFILES["vm-2020"].cpu.copy_s,
                    wakeup_s=PROFILES["vm-2020"].cpu.wakeup_s,
                ),
            ),
        ),
        ("timer_latency: 0", None),
        ("timer_latency: , cpu: , profile: ", None),
    ],
)
def test_a_timing_is_read_and_written(
    tmp_path: Path, fields: str, timing: HostTiming | None
) -> None:
    case = case_of(tmp_path, f"{{address: 10.0.0.1/8, {fields}}}")
    assert case.network.hosts[0].timing == timing
    again = study_text(title="A study", case=case)
    (planned,) = read(again, tmp_path).cases.values()
    assert planned.case == case
    assert Case.from_json(case.to_json()) == case


def test_a_testbed_is_read_and_written(tmp_path: Path) -> None:
    case = case_of(tmp_path, more=f"  testbed: {{{ALL}}}\n")
    assert case.network.testbed == TIMING
    assert [host.timing for host in case.network.hosts] == [None, None]
    (planned,) = read(study_text(title="A study", case=case), tmp_path).cases.values()
    assert planned.case == case
    assert Case.from_json(case.to_json()) == case
    assert case_of(tmp_path, more="  testbed:\n").network.testbed is None


@pytest.mark.parametrize(
    ("text", "timing"),
    [
        ("vm-2020", PROFILES["vm-2020"]),
        ("{timer_latency: 50us}", HostTiming(timer_latency_s=5e-5)),
        (
            "{timer_latency: 27us, cpu: {copy: 80ps/B}}",
            HostTiming(timer_latency_s=2.7e-5, cpu=CpuCosts(copy_s=8e-11)),
        ),
        ("{}", HostTiming()),
    ],
)
def test_a_command_line_names_a_testbed(text: str, timing: HostTiming) -> None:
    assert parse_testbed(text) == timing
    assert format_testbed(timing) == text


def test_a_study_is_put_on_a_testbed(tmp_path: Path) -> None:
    case = case_of(tmp_path, more="  testbed: {timer_latency: 1us}\n")
    assert on_testbed(case, PROFILES["vm-2020"]).network.testbed == PROFILES["vm-2020"]
    assert on_testbed(case, parse_testbed("{timer_latency: 0}")).network.testbed is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vm-2021", "there is no profile 'vm-2021'; did you mean 'vm-2020'?"),
        ("{timer: 1us}", "unknown field 'timer'"),
        ("{timer_latency: 50}", "'50' has no unit"),
        ("{timer_latency: 1us", "--testbed:1:20: not YAML"),
    ],
)
def test_a_command_lines_testbed_has_errors(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        parse_testbed(text)


@pytest.mark.parametrize("suffix", [".mn", ".py"])
def test_what_has_no_timing_is_warned_of(tmp_path: Path, suffix: str) -> None:
    def warnings(text: str) -> tuple[str, ...]:
        (tmp_path / "study.yaml").write_text(text)
        return convert_text(tmp_path, suffix=suffix).warnings

    timed = f"{tmp_path}: the timing of hosts is left out: Mininet has none"
    plain = STUDY.replace("HOST", "10.0.0.1/8")
    assert timed not in warnings(plain)
    assert timed in warnings(STUDY.replace("HOST", "{timer_latency: 50us}"))
    assert timed in warnings(plain + "  testbed: {profile: vm-2020}\n")


def test_a_case_without_timing_keeps_its_digest(tmp_path: Path) -> None:
    plain = case_of(tmp_path)
    assert "timing" not in str(plain.to_json())
    assert "testbed" not in plain.to_json()["network"]
    timed = case_of(tmp_path, "{address: 10.0.0.1/8, timer_latency: 1us}")
    testbed = case_of(tmp_path, more="  testbed: {timer_latency: 1us}\n")
    assert len({plain.digest, timed.digest, testbed.digest}) == 3


def test_hosts_get_their_timing(tmp_path: Path) -> None:
    def lines(case: Case) -> list[Batch]:
        return [batch for batch in build_batches(case.network) if batch.program == "sh"]

    assert lines(case_of(tmp_path)) == []
    values = "net.host_cpu.timer_latency_ns=50000 net.host_cpu.syscall_ns=300 "
    values += "net.host_cpu.copy_ps=80 net.host_cpu.packet_ns=436 net.host_cpu.wakeup_ns=1000"
    own = case_of(tmp_path, f"{{address: 10.0.0.1/8, {ALL}}}")
    assert lines(own) == [Batch("sh", "h1", (f"sysctl -qw {values}",))]
    both = case_of(tmp_path, "{address: 10.0.0.1/8, timer_latency: 1us}", f"  testbed: {{{ALL}}}\n")
    shared = f"sysctl -qw {values} net.host_cpu.shared=1"
    assert lines(both) == [
        Batch("sh", "h1", ("sysctl -qw net.host_cpu.timer_latency_ns=1000",)),
        Batch("sh", "h2", (shared,)),
        Batch("sh", ROOT_NAMESPACE, (shared,)),
    ]


@pytest.mark.parametrize(
    ("host", "place", "message"),
    [
        (
            "{timer_latency: 50}",
            "3:31: network.hosts.h1.timer_latency",
            "'50' has no unit: write a number with s, ms, us, ns or min, such as 20ms",
        ),
        (
            "{timer_latency: 1s}",
            "3:31: network.hosts.h1.timer_latency",
            "1s is outside of what is allowed: 0s to 10ms",
        ),
        (
            "{cpu: 300ns}",
            "3:21: network.hosts.h1.cpu",
            "found '300ns', expected a mapping of what a CPU's work costs (such as "
            "{syscall: 300ns, copy: 80ps/B})",
        ),
        (
            "{cpu: {sycall: 300ns}}",
            "3:22: network.hosts.h1.cpu.sycall",
            "unknown field 'sycall'; did you mean 'syscall'? (there are: syscall, copy, "
            "packet, wakeup)",
        ),
        (
            "{cpu: {copy: 80ns}}",
            "3:28: network.hosts.h1.cpu.copy",
            "found '80ns', expected a time for each byte, such as 80ps/B",
        ),
        (
            "{cpu: {copy: 200000ps/B}}",
            "3:28: network.hosts.h1.cpu.copy",
            "200000ps/B is outside of what is allowed: 0ps/B to 100000ps/B",
        ),
        (
            "{profile: vm-2021}",
            "3:25: network.hosts.h1.profile",
            "there is no profile 'vm-2021'; did you mean 'vm-2020'? (there are: vm-2020)",
        ),
    ],
)
def test_a_wrong_timing_is_rejected_where_it_is_written(
    tmp_path: Path, host: str, place: str, message: str
) -> None:
    assert error(STUDY.replace("HOST", host), tmp_path) == (place, message)


def test_a_program_gives_a_timing() -> None:
    assert timing_from() is None
    assert timing_from(timer_latency="50us") == HostTiming(timer_latency_s=5e-5)
    assert timing_from(timer_latency=5e-5, cpu={"copy": 8e-11}) == HostTiming(
        timer_latency_s=5e-5, cpu=CpuCosts(copy_s=8e-11)
    )
    assert timing_from(profile="vm-2020", cpu={"packet": 0}) != PROFILES["vm-2020"]
    with pytest.raises(InputError, match="has no 'timer_latancy'"):
        timing_from(timer_latancy="50us")
    with pytest.raises(InputError, match="no profile 'x'"):
        timing_from(profile="x")
