"""Grids: what cases they make, what they are called, and what is written into them."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from longfat.model.metric import Unit
from longfat.model.network import LinkImpairments
from longfat.model.probes import Queue
from longfat.model.traffic import Iperf3
from longfat.study import Study, read_study
from tests.paths import REPOSITORY
from tests.study.messages import read

STUDY = """\
title: Buffers
grid:
  cc: [cubic, bbr]
  buffer: [0.5 bdp, 2 bdp]
  rtt: [10ms, 50ms]
  loss: [0, 0.01%]
  flows: [1, 8]
let: {rate: 100mbit, bdp: rate * rtt}
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: $<rate>, delay: $<rtt / 2>, loss: $<loss>, queue: $<buffer>}]]
setup:
  - h1: sysctl -w net.ipv4.tcp_congestion_control=$<cc>
  - root: tc qdisc add dev s1-eth1 root tbf rate $<rate> burst $<rate * 4ms> limit $<bdp>
flows:
  bulk: {iperf3: h1 -> h2, time: 5s, parallel: $<flows>}
"""


def small(folder: Path, grid: str, line: str, *, more: str = "") -> Study:
    text = f"""\
title: x
grid: {grid}
network:
  hosts: {{h1: 10.0.0.1/8, h2: 10.0.0.2/8}}
  links: [[h1, h2]]
setup:
  - h1: {line}
{more}"""
    return read(text, folder)


def lines(study: Study) -> list[str]:
    return [planned.case.setup[0].line for planned in study.cases.values()]


def test_the_cases_are_the_product(tmp_path: Path) -> None:
    study = read(STUDY, tmp_path)
    assert study.grid is not None
    assert study.grid.product == 32 == len(study.cases)
    assert [one.name for one in study.grid.parameters] == ["cc", "buffer", "rtt", "loss", "flows"]
    assert study.grid.parameters[1].values == ("0.5 bdp", "2 bdp")
    assert list(study.cases)[:3] == [
        "cubic-0_5bdp-10ms-loss0-flows1",
        "cubic-0_5bdp-10ms-loss0-flows8",
        "cubic-0_5bdp-10ms-loss0_01pct-flows1",
    ]
    assert len({planned.case.digest for planned in study.cases.values()}) == 32
    assert study.common is None


def test_expressions_are_written_as_tools_read_them(tmp_path: Path) -> None:
    planned = read(STUDY, tmp_path).cases["bbr-2bdp-50ms-loss0_01pct-flows8"]
    assert planned.case.network.links[1].a_to_b == LinkImpairments(
        rate_bps=100_000_000, delay_s=0.025, loss=0.0001, queue_bytes=1_250_000
    )
    assert [command.line for command in planned.case.setup] == [
        "sysctl -w net.ipv4.tcp_congestion_control=bbr",
        "tc qdisc add dev s1-eth1 root tbf rate 100mbit burst 50000 limit 625000",
    ]
    (flow,) = planned.case.flows
    assert isinstance(flow, Iperf3)
    assert flow.parallel == 8
    assert planned.places.setup[1].line == 15


def test_a_case_knows_its_parameters(tmp_path: Path) -> None:
    parameters = read(STUDY, tmp_path).cases["bbr-2bdp-50ms-loss0-flows8"].parameters
    assert {name: one.text for name, one in parameters.items()} == {
        "cc": "bbr",
        "buffer": "2 bdp",
        "rtt": "50ms",
        "loss": "0",
        "flows": "8",
    }
    assert (parameters["buffer"].number, parameters["buffer"].unit) == (1_250_000, Unit.BYTES)
    assert (parameters["cc"].number, parameters["cc"].unit) == (None, None)


def test_a_case_of_a_grid_is_the_case_that_a_person_would_write(tmp_path: Path) -> None:
    grid = small(tmp_path, "{size: [25MB, 1500B]}", "echo $<size> $<2 * size>")
    written = read(
        """\
title: x
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2]]
setup: [{h1: echo 26214400 52428800}]
""",
        tmp_path,
    )
    assert grid.cases["size25MB"].case.digest == written.cases["default"].case.digest


@pytest.mark.parametrize(
    ("expression", "word"),
    [
        ("10gbit * 20ms", "25000000"),
        ("rate / 3", "33333333bit"),
        ("rtt / 3", "3333333ns"),
        ("rtt / 1ms", "10"),
        ("rate * rtt / 1500B", "83.3333333333"),
        ("round(rate * rtt / 1500B)", "83"),
        ("ceil(2.1) + floor(2.9)", "5"),
        ("25MB / rate", "2097152us"),
        ("1MB / 1s", "8388608bit"),
        ("bdp / sqrt(n)", "31250"),
        ("sqrt(2)", "1.41421356237"),
        ("max(bdp, 1MB)", "1048576"),
        ("n * -1", "-16"),
        ("share * 100", "1"),
        ("share", "1%"),
        ("rate", "100mbit"),
        ("version", "6.10"),
        ("word", "fq_codel limit 100"),
    ],
)
def test_what_an_expression_gives(tmp_path: Path, expression: str, word: str) -> None:
    study = small(
        tmp_path,
        "{rtt: [10 msec], rate: [0.1 Gbit/s], n: [16], share: [1.0%], version: [6.10], "
        "word: [fq_codel limit 100]}",
        f"echo '$<{expression}>' $<rtt>$<rate>$<n>$<share>$<version>$<word>$<bdp>",
        more="let: {bdp: rate * rtt}\n",
    )
    assert lines(study)[0].split("'")[1] == word


def test_text_that_is_no_expression_stays(tmp_path: Path) -> None:
    line = "awk '$1 < 3 && $2 > 4' f; echo ${HOME} $(ls) $x $$<cc> $<cc>"
    study = small(tmp_path, "{cc: [a, b]}", line)
    assert lines(study) == [
        "awk '$1 < 3 && $2 > 4' f; echo ${HOME} $(ls) $x $<cc> a",
        "awk '$1 < 3 && $2 > 4' f; echo ${HOME} $(ls) $x $<cc> b",
    ]


def test_without_a_grid_nothing_is_an_expression(tmp_path: Path) -> None:
    text = """\
title: x
network: {hosts: {h1: 10.0.0.1/8}}
setup: [{h1: echo $<cc>}]
"""
    assert lines(read(text, tmp_path)) == ["echo $<cc>"]


def test_any_field_of_a_case_can_vary(tmp_path: Path) -> None:
    text = """\
title: x
kernel: $<kernel>
seed: $<n>
seeds: $<n * 2>
memory: $<n * 256MB>
grid: {kernel: [6.1, 6.10], n: [1, 2]}
case_title: Linux $<kernel>, $<n * 256MB> of memory
network:
  hosts: {h1: 10.0.0.$<n>/8, h2: 10.0.0.9/8}
  links: [[h1, h2]]
probes:
  queue: {of: h1-eth0, every: $<n * 10ms>}
"""
    study = read(text, tmp_path)
    assert list(study.cases) == [
        *("kernel6_1-n1", "kernel6_1-n2", "kernel6_10-n1", "kernel6_10-n2"),
    ]
    planned = study.cases["kernel6_10-n2"]
    case = planned.case
    assert (case.kernel, case.seed, planned.seeds, case.memory_bytes) == ("6.10", 2, 4, 2**29)
    assert case.network.hosts[0].address == "10.0.0.2/8"
    assert planned.title == "Linux 6.10, 512 MB of memory"
    assert case.probes == (Queue(name="queue", of=("h1-eth0",), every_s=0.02),)


def test_filters_leave_combinations_out(tmp_path: Path) -> None:
    study = small(
        tmp_path,
        "{cc: [cubic, drop-tail], rtt: [1ms, 20ms, 300ms]}",
        "echo $<cc> $<rtt>",
        more="where: [cc == cubic or rtt < 100ms, not (cc != 'drop-tail' and rtt < 10ms)]\n",
    )
    assert list(study.cases) == ["cubic-20ms", "cubic-300ms", "drop-tail-1ms", "drop-tail-20ms"]
    assert study.grid is not None
    assert study.grid.product == 6


def test_a_condition_without_a_value_does_not_hold(tmp_path: Path) -> None:
    study = small(tmp_path, "{n: [0, 1]}", "echo $<n>", more="where: 1 / n > 0\n")
    assert list(study.cases) == ["n1"]


@pytest.mark.parametrize(
    ("written", "texts"),
    [
        ("{from: 1ms, to: 300ms, steps: 3, scale: log}", ("1ms", "17.3ms", "300ms")),
        ("{from: 0s, to: 1s, steps: 5}", ("0s", "250ms", "500ms", "750ms", "1s")),
        ("{from: 1, to: 1000, steps: 4, scale: log}", ("1", "10", "100", "1000")),
        ("{from: 1000, to: 1002, steps: 3, scale: linear}", ("1000", "1001", "1002")),
        ("{from: 10mbit, to: 1gbit, steps: 3, scale: log}", ("10mbit", "100mbit", "1gbit")),
        ("{from: 100KB, to: 25MB, steps: 3, scale: log}", ("100KB", "1.56MB", "25MB")),
        ("{from: 0, to: 1%, steps: 3}", ("0", "0.5%", "1%")),
        ("{from: 0.5, to: 2, steps: 3, scale: log, unit: base}", ("0.5 base", "1 base", "2 base")),
        ("{from: 300, to: 1, steps: 2, unit: ms}", ("300 ms", "1 ms")),
        ("{values: [1, 2.5], unit: base}", ("1 base", "2.5 base")),
        ("{values: [1, 2.5], unit: '%'}", ("1%", "2.5%")),
        ("[2base, 1 base]", ("2base", "1 base")),
        ("few", ("1", "2", "3")),
    ],
)
def test_values_are_lists_ranges_and_names(
    tmp_path: Path, written: str, texts: tuple[str, ...]
) -> None:
    more = "let: {base: 10ms}\n" if "base" in written else ""
    more += "lists: {few: [1, 2, 3]}\n" if written == "few" else ""
    study = small(tmp_path, f"{{x: {written}}}", "echo $<x>", more=more)
    assert study.grid is not None
    assert study.grid.parameters[0].values == texts
    assert len(set(lines(study))) == len(texts)


def test_one_list_for_two_parameters(tmp_path: Path) -> None:
    study = small(
        tmp_path, "{one: ccs, two: ccs}", "echo $<one> $<two>", more="lists: {ccs: [cubic, bbr]}\n"
    )
    assert list(study.cases) == ["cubic-cubic", "cubic-bbr", "bbr-cubic", "bbr-bbr"]


def test_derived_values_in_any_order_and_as_texts(tmp_path: Path) -> None:
    study = small(
        tmp_path,
        "{n: [1, 2]}",
        "$<line> $<double>",
        more="let: {line: tc qdisc add dev $<dev> root, dev: h1-eth$<n - 1>, double: n * 2}\n",
    )
    assert lines(study) == [
        "tc qdisc add dev h1-eth0 root 2",
        "tc qdisc add dev h1-eth1 root 4",
    ]


def test_names_stay_safe_and_differ(tmp_path: Path) -> None:
    study = small(tmp_path, "{line: [a b, a-b, a.b, ../x, ключ, explained]}", "echo $<line>")
    names = list(study.cases)
    assert names[2] == "a_b"
    assert len(set(names)) == 6
    long = small(tmp_path, f"{{line: [{'a' * 90}, {'a' * 91}]}}", "echo $<line>")
    for name in [*names, *long.cases]:
        assert len(name) <= 64
        assert name[0].isalpha()
        assert all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    assert "explained" not in names


def test_a_name_stays_when_values_are_added(tmp_path: Path) -> None:
    few = small(tmp_path, "{a: [x, y], n: [1, 2]}", "echo $<a> $<n>")
    many = small(tmp_path, "{a: [x, z, y], n: [3, 1, 2]}", "echo $<a> $<n>")
    assert set(few.cases) < set(many.cases)


def test_what_does_not_vary_is_not_in_the_name(tmp_path: Path) -> None:
    assert list(small(tmp_path, "{a: [x], n: [1, 2]}", "echo $<a> $<n>").cases) == ["n1", "n2"]
    assert list(small(tmp_path, "{a: [x]}", "echo $<a>").cases) == ["default"]


def test_claims_and_figures_speak_of_a_grids_cases(tmp_path: Path) -> None:
    text = f"""\
{STUDY}
claims:
  - cubic-2bdp-10ms-loss0-flows1.bulk.receiver > cubic-0_5bdp-10ms-loss0-flows1.bulk.receiver
published:
  source: nobody
  bbr-2bdp-10ms-loss0-flows1: {{bulk.receiver: 90mbit}}
"""
    study = read(text, tmp_path)
    assert study.claims[0].cases == {
        "cubic-2bdp-10ms-loss0-flows1",
        "cubic-0_5bdp-10ms-loss0-flows1",
    }
    assert study.published is not None


def test_reading_twice_gives_the_same(tmp_path: Path) -> None:
    first, second = read(STUDY, tmp_path), read(STUDY, tmp_path)
    assert first.cases == second.cases
    assert list(first.cases) == list(second.cases)


def test_a_grid_of_thousands_is_read_in_seconds(tmp_path: Path) -> None:
    text = STUDY.replace("rtt: [10ms, 50ms]", "rtt: {from: 10ms, to: 90ms, steps: 320}")
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    start = time.process_time()
    study = read_study(tmp_path)
    assert len(study.cases) == 5120
    # 2 s where it was written; ten times that would be noticed by a person.
    assert time.process_time() - start < 15


def test_the_reference_shows_what_can_be_read(tmp_path: Path) -> None:
    text = (REPOSITORY / "docs/study-format.md").read_text(encoding="utf-8")
    (grid,) = re.findall(r"```yml\n(.*?)```", text, re.DOTALL)
    study = read(grid, tmp_path)
    assert len(study.cases) == 165
    planned = study.cases["cubic-0_5bdp-10ms-loss0-flows8"]
    assert planned.title == "cubic, 8 flows, buffer 0.5 bdp, 10ms"
    assert planned.case.setup[1].line == (
        "tc qdisc add dev s2-eth2 root tbf rate 100mbit burst 50000 limit 62500"
    )
