"""ECN marks of a qdisc that stands below a shaper, on real machines."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.compute as pc
import pytest

from longfat.analysis.verdict import evaluate
from longfat.execution import run_cases
from longfat.execution.runs import Run
from longfat.model.probes.queue import the_queue
from longfat.output.report.files import write_report
from longfat.study.read import parse_study
from tests.kernels import KERNELS

RED = "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 50mbit probability 0.02"
NEWER = ("fq ce_threshold 1ms", "dualpi2")  # 6.1 does not have them
STUDY = """\
title: Marks
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 50mbit, delay: 10ms, qdisc: %s}]]
setup:
  - [h1, h2]: sysctl -w net.ipv4.tcp_ecn=1
flows:
  bulk: {iperf3: h1 -> h2, time: 3s}
probes:
  queue: {of: s1-eth2, every: 50ms}
"""

# What h2's kernel says of packets that came with a mark, when all traffic has ended.
SEEN = r"""
  seen:
    program: h2 -> h1
    run: sleep 5; nstat -asz IpExtInCEPkts
    metrics: {marks: {regex: 'InCEPkts +(\d+)'}}
"""


def played(qdisc: str, out: Path) -> Run:
    (run,) = run_cases(parse_study(STUDY % qdisc, name="marks").cases, out=out)["default"]
    return run


def counts(run: Run, kind: str) -> tuple[int, int | None]:
    table = run.series("queue")
    last = table.filter(pc.equal(table["qdisc"].cast("string"), kind)).to_pylist()[-1]
    return last["drops"], last["marks"]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "qdisc"), [("red", f"{RED} ecn"), ("fq_codel", "fq_codel")])
def test_marks_below_a_shaper_are_counted(tmp_path: Path, kind: str, qdisc: str) -> None:
    run = played(qdisc, tmp_path)
    _, marks = counts(run, kind)
    assert marks is not None
    assert marks > 0
    assert counts(run, "wire")[1] is None  # the kernel does not count them there
    assert run.metrics["queue.marks"] == marks
    rows = the_queue(run.series("queue")).to_pylist()
    assert {row["qdisc"] for row in rows} == {"wire"}
    assert [row["time_s"] for row in rows] == sorted({row["time_s"] for row in rows})
    assert rows[-1]["marks"] == marks
    # Whoever draws the queue reads no other columns.
    few = ["time_s", "interface", "qdisc", "handle", "parent", "backlog_bytes"]
    assert the_queue(run.series("queue").select(few)).num_rows == len(rows)
    assert write_report(
        evaluate(parse_study(STUDY % qdisc, name="marks"), {"default": (run,)}), tmp_path
    )


@pytest.mark.parametrize(
    ("kind", "qdisc"), [("red", RED), ("codel", "codel"), ("pfifo", "pfifo limit 50")]
)
def test_a_shaper_counts_the_drops_below_it_once(tmp_path: Path, kind: str, qdisc: str) -> None:
    # At the queue's beginning (red, pfifo) and at its end (codel).
    run = played(qdisc, tmp_path)
    drops, _ = counts(run, kind)
    assert drops > 0
    assert counts(run, "wire")[0] == drops
    assert run.metrics["queue.drops"] == drops


@pytest.mark.slow
@pytest.mark.parametrize(
    "qdisc",
    [
        "codel ecn",
        "codel ecn target 500ms interval 1s ce_threshold 1ms",
        "fq_codel target 500ms interval 1s ce_threshold 1ms",
        pytest.param("fq ce_threshold 1ms", marks=pytest.mark.slow),
        "pie ecn",
        "fq_pie ecn",
        "sfb max 40 target 20",
        "cake bandwidth 45mbit",
        pytest.param("dualpi2", marks=pytest.mark.slow),
    ],
)
def test_each_discipline_counts_the_marks_that_arrive(tmp_path: Path, qdisc: str) -> None:
    # Of single frames: a mark on several that go together is one here, and several there.
    text = (STUDY % qdisc).replace("network:", "network:\n  frames: yes")
    if qdisc in NEWER:
        text = text.replace("6.1", KERNELS[-1])
    text = text.replace("probes:", f"{SEEN}probes:")
    (run,) = run_cases(parse_study(text, name="marks").cases, out=tmp_path)["default"]
    assert run.metrics["queue.marks"] == run.metrics["seen.marks"] > 0


def test_a_queue_that_counts_marks_beside_one_that_does_not(tmp_path: Path) -> None:
    both = (STUDY % "red").replace("of: s1-eth2", "of: [s1-eth1, s1-eth2]").replace("red", RED)
    (run,) = run_cases(parse_study(both, name="both").cases, out=tmp_path)["default"]
    assert run.metrics["queue.marks"] >= 0


def test_what_a_policer_at_ingress_drops_is_counted(tmp_path: Path) -> None:
    study = """\
title: Police
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  frames: yes
  links: [[h1, h2, {delay: 5ms}]]
setup:
  - h2: |
      tc qdisc add dev h2-eth0 handle ffff: ingress
      tc filter add dev h2-eth0 parent ffff: matchall action police rate 50mbit burst 64k drop
flows:
  bulk: {transfer: h1 -> h2, time: 1s}
probes:
  queue: {of: h2-eth0, every: 50ms}
events:
  - at: 900ms
    h2: tc -s filter show dev h2-eth0 parent ffff:; printf 'a\\033b\\n'
"""
    (run,) = run_cases(parse_study(study, name="police").cases, out=tmp_path)["default"]
    drops = run.metrics["queue.drops"]
    assert drops > 20
    # What lines print stands behind them, as comments that no terminal obeys.
    script = (run.folder / "commands.sh").read_text()
    (sent,) = re.findall(r"#>.*\(dropped (\d+), overlimits \d+ requeues 0\)", script)
    assert 20 < int(sent) <= drops
    assert "#> a b\n" in script
