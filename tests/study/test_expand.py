"""How the common fields and a case's own become a case, and that equal meaning is equal bytes."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from longfat.model.case import Case, Command
from longfat.model.metric import Unit
from longfat.model.traffic import Iperf3, Ping
from longfat.study import DEFAULT_CASE, Planned, known_metrics, read_study
from longfat.study.file_reader import empty_files
from tests.paths import REPOSITORY

NETWORK = """\
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1]]
"""


def plan(text: str, folder: Path) -> dict[str, Planned]:
    file = folder / "study.yaml"
    file.write_text(f"title: x\n{NETWORK}{text}", encoding="utf-8")
    return dict(read_study(file).cases)


def case_of(text: str, folder: Path, name: str = DEFAULT_CASE) -> Case:
    return plan(text, folder)[name].case


def test_a_study_without_cases_has_one(tmp_path: Path) -> None:
    cases = plan("", tmp_path)
    assert list(cases) == ["default"]
    assert cases["default"].title == "x"
    case = cases["default"].case
    assert (case.kernel, case.seed, case.memory_bytes) == ("newest", 1, 2 * 1024**3)
    assert case.setup == () == case.flows


def test_the_kernel_is_what_was_typed(tmp_path: Path) -> None:
    assert case_of("kernel: 6.10\n", tmp_path).kernel == "6.10"
    assert case_of('kernel: "6.1"\n', tmp_path).kernel == "6.1"
    assert case_of("kernel: 6.12.3\n", tmp_path).kernel == "6.12.3"


def test_setup_is_appended_and_written_out_host_by_host(tmp_path: Path) -> None:
    text = """\
setup:
  - root: "tc qdisc add dev s1-eth1 root handle 1: netem"
cases:
  a:
    setup:
      - [h2, h1]: [first, second]
  b:
"""
    cases = plan(text, tmp_path)
    tc = Command(node="root", line="tc qdisc add dev s1-eth1 root handle 1: netem")
    assert cases["b"].case.setup == (tc,)
    assert cases["a"].case.setup == (
        tc,
        Command(node="h2", line="first"),
        Command(node="h1", line="first"),
        Command(node="h2", line="second"),
        Command(node="h1", line="second"),
    )
    places = [(p.line, p.column, p.field) for p in cases["a"].places.setup]
    assert places == [
        (7, 11, "setup[0].root"),
        (11, 20, "cases.a.setup[0].[h2, h1][0]"),
        (11, 20, "cases.a.setup[0].[h2, h1][0]"),
        (11, 27, "cases.a.setup[0].[h2, h1][1]"),
        (11, 27, "cases.a.setup[0].[h2, h1][1]"),
    ]


def test_flows_are_merged_by_name(tmp_path: Path) -> None:
    text = """\
flows:
  one: {ping: h1 -> h2, count: 9}
  two: {iperf3: h1 -> h2, time: 5s, parallel: 8}
  three: {ping: h2 -> h1}
cases:
  same:
  changed:
    flows:
      four: {ping: h2 -> h1, after: two}
      three:
      two: {time: , bytes: 1MB}
      one: {iperf3: h2 -> h1}
"""
    cases = plan(text, tmp_path)
    assert [flow.name for flow in cases["same"].case.flows] == ["one", "two", "three"]
    assert cases["changed"].case.flows == (
        Iperf3(name="one", source="h2", target="h1", time_s=10.0),
        Iperf3(name="two", source="h1", target="h2", bytes=1024**2, parallel=8),
        Ping(name="four", source="h2", target="h1", after="two"),
    )


def test_settings_are_replaced(tmp_path: Path) -> None:
    text = """\
kernel: "6.1"
seed: 4
cases:
  a: {kernel: "6.6", seed: 5, memory: 1GB, title: the first}
  b: {network: {hosts: {x: 192.168.0.1/24}}}
"""
    cases = plan(text, tmp_path)
    a, b = cases["a"], cases["b"]
    assert (a.case.kernel, a.case.seed, a.case.memory_bytes) == ("6.6", 5, 1024**3)
    assert (a.title, b.title) == ("the first", "b")
    assert [host.name for host in b.case.network.hosts] == ["x"]
    assert b.case.seed == 4


def test_seeds(tmp_path: Path) -> None:
    text = "seed: 4\nseeds: 3\ncases: {a: , b: {seeds: 1}, c: {seed: 9, seeds: '2'}}\n"
    cases = plan(text, tmp_path)
    seeds = {name: [case.seed for case in p.seeded()] for name, p in cases.items()}
    assert seeds == {"a": [4, 5, 6], "b": [4], "c": [9, 10]}
    assert cases["a"].seeds == 3
    # The first is the case itself, and the number of seeds is no part of any.
    assert cases["a"].seeded()[0] == cases["a"].case == cases["b"].case
    assert plan("", tmp_path)["default"].seeds == 1


SAME = [
    ("flows: {a: {ping: h1 -> h2, count: 4}}", "flows: {a: {ping: h1->h2}}"),
    (
        "flows: {a: {ping: h1 -> h2, count: 5, size: 1KB}}",
        "flows: {a: {size: '1024', count: '5', ping: h1 -> h2}}",
    ),
    (
        "flows: {a: {iperf3: h1 -> h2, time: 90s, rate: 1gbit}}",
        "flows: {a: {rate: 1000 Mbit/s, time: 1.5min, iperf3: h1 -> h2}}",
    ),
    ("flows: {a: {iperf3: h1 -> h2}}", "flows: {a: {iperf3: h1 -> h2, time: 10, start: 0ms}}"),
    ("memory: 2GB\nseed: 1", "seed: 1\nkernel: newest\nmemory: 2048m"),
    ("setup: [{[h1, h2]: ls}]", "setup: [{h1: ls}, {h2: [ls]}]"),
    ("seed: 3", "cases: {default: {seed: 3, title: y}}"),
    (
        "flows: {a: {ping: h1 -> h2, count: 7}}",
        "flows: {a: {ping: h1 -> h2}}\ncases: {default: {flows: {a: {count: 7}}}}",
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_meaning_is_an_equal_digest(one: str, other: str, tmp_path: Path) -> None:
    assert case_of(one, tmp_path).digest == case_of(other, tmp_path).digest


DIFFERENT = [
    ("seed: 1", "seed: 2"),
    ("kernel: 6.1", "kernel: 6.10"),
    ("setup: [{h1: a}, {h1: b}]", "setup: [{h1: b}, {h1: a}]"),
    ("flows: {a: {ping: h1 -> h2}}", "flows: {b: {ping: h1 -> h2}}"),
    (
        "flows: {a: {ping: h1 -> h2}, b: {ping: h1 -> h2}}",
        "flows: {b: {ping: h1 -> h2}, a: {ping: h1 -> h2}}",
    ),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_decides_the_result_decides_the_digest(one: str, other: str, tmp_path: Path) -> None:
    assert case_of(one, tmp_path).digest != case_of(other, tmp_path).digest


def blocks(text: str) -> list[str]:
    """Split a file into its top-level fields."""
    found: list[str] = []
    for line in text.splitlines(keepends=True):
        if line[:1].isalpha():
            found.append(line)
        elif found:
            found[-1] += line
    return found


@pytest.mark.parametrize("file", ["labs/lab08/study.yaml", "tests/study/data/everything.yaml"])
def test_the_order_of_fields_makes_no_difference(file: str, tmp_path: Path) -> None:
    text = (REPOSITORY / file).read_text(encoding="utf-8")
    digests = {name: p.case.digest for name, p in read_study(REPOSITORY / file).cases.items()}
    parts = blocks(text)
    # An alias must follow its anchor.
    for seed in range(10):
        random.Random(seed).shuffle(parts)
        if "*line" in text:
            parts.sort(key=lambda part: part.startswith("cases"))
        (tmp_path / "study.yaml").write_text("".join(parts), encoding="utf-8")
        cases = read_study(tmp_path).cases
        assert {name: planned.case.digest for name, planned in cases.items()} == digests


def test_lab_8() -> None:
    study = read_study(REPOSITORY / "labs/lab08")
    assert study.name == "lab08"
    assert list(study.cases)[:3] == ["unshaped", "default", "tuned"]
    unshaped = study.cases["unshaped"]
    assert len(unshaped.case.setup) == unshaped.network_lines == 4  # the source's TCP buffers
    assert [flow.name for flow in study.cases["unshaped"].case.flows] == ["ping"]
    tuned = study.cases["tuned"]
    assert len(tuned.case.setup) == len(tuned.places.setup) == 4 + 6
    assert tuned.case.setup[:4] == unshaped.case.setup
    assert tuned.case.flows[1].after == "ping"
    assert known_metrics(tuned.case)["bulk.receiver_bps"].unit is Unit.BPS
    assert study.published is not None
    figures = {(f.case, f.metric): f.value for f in study.published.figures}
    assert figures["default", "bulk.sender_bps"] == 3.16e9
    assert figures["default", "ping.avg_s"] == 0.025353
    assert figures["tuned", "bulk.retransmits"] == 45
    assert len(study.claims) >= 8
    assert {case for claim in study.claims for case in claim.cases} == set(study.cases)


OVER_CASES = """\
grid: {cc: [cubic, bbr], buffer: [100KB, 1MB], loss: [0, 1%]}
let: {rate: 10mbit, bdp: rate * 20ms}
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: $<rate>, loss: $<loss>, queue: $<buffer>}]]
flows:
  bulk: {iperf3: h1 -> h2, congestion: $<cc>}
  a: {iperf3: h1 -> h2}
  b: {iperf3: h1 -> h2}
  rtt: {ping: h1 -> h2}
"""


FIGURES_BASE = """\
title: the figures' study
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
flows:
  first: {iperf3: h1 -> h2}
  second: {iperf3: h1 -> h2}
  rtt: {ping: h1 -> h2}
probes: {queue: {of: h1-eth0}}
cases: {bdp1: , bdp10: , bdp10-bbr: , drop-tail: , red: }
"""


def reference_blocks() -> list[str]:
    text = (REPOSITORY / "docs/study-format.md").read_text(encoding="utf-8")
    return re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)


def test_the_reference_shows_networks_that_can_be_read(tmp_path: Path) -> None:
    networks = [block for block in reference_blocks() if block.startswith("network:")]
    assert len(networks) == 15
    found = []
    for network in networks:
        linked = "links:" in network and "flows:" not in network
        flow = "flows: {x: {ping: h1 -> h2}}\n" if linked else ""
        (tmp_path / "network.yaml").write_text(f"title: x\n{network}{flow}", encoding="utf-8")
        # The image that a host is shown with is nowhere.
        beside = empty_files if "root:" in network else None
        study = read_study(tmp_path / "network.yaml", beside=beside)
        found.append(study.cases["default"].case.network)
    assert len(found[0].links) == 4
    assert any(network.frames for network in found)
    assert any(network.testbed for network in found)
    assert any(host.nat for network in found for host in network.hosts)
    assert any(host.clock for network in found for host in network.hosts)
    assert any(link.a_to_b.trace for network in found for link in network.links)


def test_the_reference_shows_what_can_be_read(tmp_path: Path) -> None:
    # The figures of grids are those of several studies.
    whole, files, pinned, typed, _failing, *others = (
        block for block in reference_blocks() if not block.startswith("network:")
    )
    requests, program, probes, events, flows, published, *others = others
    layout, drawing, coupled, figures, _grid_figures, claims, over_seeds, over_cases = others
    (tmp_path / "study.yaml").write_text(FIGURES_BASE + figures, encoding="utf-8")
    assert len(read_study(tmp_path / "study.yaml").figures) == 3
    assert [line.line[:14] for line in case_of(typed, tmp_path).setup] == 2 * ["tc qdisc add d"]
    (tmp_path / "daemons").write_text("zebra=yes\n", encoding="utf-8")
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts/server.py").write_text("#!/usr/bin/python3\n", encoding="utf-8")
    assert [one.name for one in case_of(pinned, tmp_path).packages] == ["pylsqpack"]
    served = {file.path: file for file in case_of(files, tmp_path).files}
    assert served["/etc/frr/daemons"].content == b"zebra=yes\n"
    assert served["/opt/lab/server.py"].executable
    (tmp_path / "study.yaml").write_text(whole, encoding="utf-8")
    assert list(read_study(tmp_path).cases) == ["drop-tail", "small-buffer"]
    assert [flow.name for flow in plan(flows, tmp_path)["short"].case.flows] == ["bulk"]
    (web,) = case_of(requests, tmp_path).flows
    assert web.tool == "requests"
    (page,) = case_of(program, tmp_path).flows
    assert [metric.name for metric in page.metrics][:2] == ["load_s", "rate_bps"]
    links = "network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, switches: [s1, s2], "
    links += "links: [[h1, s1], [s1, s2], [s2, h2]]}\n"
    file = tmp_path / "events.yaml"
    three = "network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8}, "
    three += "switches: [s1, s2], "
    three += "links: [[h1, s1], [h2, s1], [s1, s2], [s2, h3, {delay: 10ms}]]}\n"
    traffic = "flows: {bulk: {iperf3: h1 -> h3}, rtt: {ping: h1 -> h3, count: 61}}\n"
    file.write_text(f"title: x\n{three}{traffic}{events}", encoding="utf-8")
    assert len(read_study(file).cases["default"].case.events) == 8
    file = tmp_path / "layout.yaml"
    file.write_text(f"title: x\n{links}{layout}", encoding="utf-8")
    assert read_study(file).layout == {"h1": (120, 80), "s1": (240.5, 80), "h2": (360, 80)}
    file.write_text(f"title: x\n{links}{drawing}", encoding="utf-8")
    assert [note.text for note in read_study(file).drawing.notes] == ["the bottleneck"]
    file = tmp_path / "probes.yaml"
    file.write_text(f"title: x\n{links}flows: {{bulk: {{iperf3: h1 -> h2}}}}\n{probes}")
    assert len(read_study(file).cases["default"].case.probes) == 4
    common = "flows: {bulk: {iperf3: h1 -> h2}, ping: {ping: h1 -> h2}}\n"
    plan(f"{common}cases: {{default: , tuned: }}\n{claims}", tmp_path)
    plan(f"{common}cases: {{reno: , cubic: }}\n{over_seeds}", tmp_path)
    two = "flows: {short: {iperf3: h1 -> h2}, long: {iperf3: h1 -> h2}}\n"
    plan(f"{two}cases: {{bbr: , cubic: }}\n{published}", tmp_path)
    file = tmp_path / "coupled.yaml"
    queue = "setup: [{root: tc qdisc add dev s1-eth2 root $<line>}]\n"
    file.write_text(f"title: x\n{coupled}{links}{queue}flows: {{x: {{ping: h1 -> h2}}}}\n")
    assert next(iter(read_study(file).cases)) == "drop-tail-100KB"
    file = tmp_path / "over.yaml"
    file.write_text(f"title: x\n{OVER_CASES}{over_cases}")
    assert len(read_study(file).claims) == 5
