import dataclasses
from pathlib import Path

import pytest

from longfat.analysis.verdict import Verdict, evaluate
from longfat.execution import run_case
from longfat.model.flow_path import egress_interfaces
from longfat.model.network import Host, Link, Network, Switch
from longfat.output.report.windows import FlowWindow, flow_windows, window_grid, window_notes
from tests.study.messages import read


@pytest.fixture(scope="module")
def windows(lab08: Verdict) -> dict[str, FlowWindow]:
    found, omissions = flow_windows(lab08)
    assert omissions == ()
    return {window.case: window for window in found}


def test_lab08_path(windows: dict[str, FlowWindow]) -> None:
    assert list(windows) == ["default", "tuned"]
    for window in windows.values():
        assert window.path.rate_bps == 10e9
        assert window.path.rate_source == "s1-eth2"
        assert window.path.rate_origin == "a set-up line"
        assert window.path.rtt_s == 0.02
        assert window.path.rtt_source == "the least of the flow ping"
        assert window.bdp_bytes == 25_000_000
        assert window.buffer_needed_bytes == 50_000_000


def test_lab08_windows(windows: dict[str, FlowWindow]) -> None:
    default, tuned = windows["default"], windows["tuned"]
    assert (default.allowed_bytes, tuned.allowed_bytes) == (8_388_608, 26_214_400)
    assert default.allowed_bps == pytest.approx(3.3554e9, rel=1e-4)
    assert tuned.allowed_bps == 10e9
    for window in windows.values():
        assert window.measured_bps is not None
        assert window.allowed_bps is not None
        assert 0.93 < window.measured_bps / window.allowed_bps < 1
    assert default.in_flight_bytes == pytest.approx(default.allowed_bytes, rel=0.03)


def test_grid(lab08: Verdict) -> None:
    grid = window_grid(flow_windows(lab08)[0])
    cells = {row.label: row.cells for row in grid.rows}
    assert grid.columns == ("default", "tuned")
    assert cells["BDP = bottleneck x RTT"] == ("25,000,000 B", "25,000,000 B")
    assert cells["window scale shift for it"] == ("9", "9")
    assert cells["tcp_rmem, max at h2"] == ("16,777,216 B", "52,428,800 B")
    assert cells["window allowed, rmem / 2"] == ("8,388,608 B", "26,214,400 B")
    assert cells["which allows at most"] == ("3.36 Gbit/s", "10.0 Gbit/s")
    assert cells["measured at the receiver"] == ("3.27 Gbit/s", "9.36 Gbit/s")


def test_no_half_rule_since_6_6(lab08: Verdict) -> None:
    runs = {
        name: [dataclasses.replace(run, kernel={**run.kernel, "release": "6.12.1"})]
        for name, run in lab08.first_runs.items()
    }
    found, omissions = flow_windows(evaluate(lab08.study, runs))
    assert all(w.allowed_bytes is None and w.buffer_needed_bytes is None for w in found)
    assert all(w.bdp_bytes == 25_000_000 for w in found)
    assert "Since 6.6" in " ".join(window_notes(found, omissions))


def test_smaller_send_buffer_leaves_the_window_open(windows: dict[str, FlowWindow]) -> None:
    window = dataclasses.replace(windows["tuned"], send_buffer_bytes=1_000_000)
    assert window.allowed_bytes is None
    assert window.allowed_bps is None


def test_parallel_streams_share_the_bottleneck(windows: dict[str, FlowWindow]) -> None:
    two = dataclasses.replace(windows["default"], streams=2)
    many = dataclasses.replace(windows["default"], streams=8)
    assert two.allowed_bps == pytest.approx(6.71e9, rel=1e-3)
    assert many.allowed_bps == 10e9
    assert any("a stream" in row.label for row in window_grid([two]).rows)


def test_missing_metrics_leave_gaps(lab08: Verdict) -> None:
    runs = {
        name: [
            dataclasses.replace(
                run, metrics={k: v for k, v in run.metrics.items() if not k.startswith("bulk")}
            )
        ]
        for name, run in lab08.first_runs.items()
    }
    grid = window_grid(flow_windows(evaluate(lab08.study, runs))[0])
    labels = [row.label for row in grid.rows]
    assert "largest cwnd" not in labels
    assert "BDP = bottleneck x RTT" in labels


def test_what_several_seeds_measured_counts_with_its_median(seeded: Verdict) -> None:
    by_case = {window.case: window for window in flow_windows(seeded)[0]}
    assert (by_case["lossy"].seeds, by_case["clean"].seeds) == (5, 1)
    values = sorted(run.metrics["bulk.receiver_bps"] for run in seeded.runs["lossy"])
    assert by_case["lossy"].measured_bps == values[2]
    notes = window_notes(list(by_case.values()), [])
    assert "What was measured is the median over 5 seeds." in notes


def test_odd_cases(many: Verdict) -> None:
    found, omissions = flow_windows(many)
    by_case = {window.case: window for window in found}
    # UDP has no window; its set-up line could not be read either.
    assert list(by_case) == ["parallel", "reversed", "c5"]
    assert omissions == ()
    assert by_case["parallel"].path.rtt_source == "the delay that they add"
    assert by_case["parallel"].path.rtt_s == pytest.approx(0.01)
    assert by_case["reversed"].path.rate_bps == 80e6
    assert (by_case["reversed"].sender, by_case["reversed"].receiver) == ("h2", "h1")
    c5 = by_case["c5"]
    assert c5.measured_bps is not None
    assert c5.allowed_bps == pytest.approx(52.4e6, rel=1e-3)
    assert c5.measured_bps < 52.4e6


def test_what_is_not_understood_is_reported(lab08: Verdict) -> None:
    planned = lab08.study.cases["tuned"]
    line = dataclasses.replace(planned.case.setup[0], line="tc class add dev s1-eth2 htb")
    case = dataclasses.replace(planned.case, setup=(line, *planned.case.setup[1:]))
    cases = {**lab08.study.cases, "tuned": dataclasses.replace(planned, case=case)}
    study = dataclasses.replace(lab08.study, cases=cases)
    found, omissions = flow_windows(dataclasses.replace(lab08, study=study))
    assert [window.case for window in found] == ["default"]
    assert "tuned.bulk: `tc class add dev s1-eth2 htb` is not understood" in " ".join(
        window_notes(found, omissions)
    )


def test_way_through_switches() -> None:
    network = Network(
        hosts=tuple(Host(name=f"h{n}", address=f"10.0.0.{n}/8") for n in (1, 2, 3)),
        switches=(Switch(name="s1"), Switch(name="s2")),
        links=(Link(a="h1", b="s1"), Link(a="s1", b="s2"), Link(a="s2", b="h2")),
    )
    way = [("h1", "h1-eth0"), ("root", "s1-eth2"), ("root", "s2-eth2")]
    assert egress_interfaces(network, "h1", "h2") == way
    assert egress_interfaces(network, "h1", "h3") is None


def test_hosts_do_not_forward() -> None:
    network = Network(
        hosts=tuple(Host(name=f"h{n}", address=f"10.0.0.{n}/8") for n in (1, 2, 3)),
        switches=(),
        links=(Link(a="h1", b="h2"), Link(a="h2", b="h3")),
    )
    assert egress_interfaces(network, "h1", "h3") is None


CHANGING = """\
title: A link that slows down
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 8mbit, delay: 10ms}]]
flows: {bulk: {transfer: h1 -> h2, time: 8s}}
events: [{at: 6s, link: [s1, h2], rate: 4mbit}]
"""


def test_a_rate_that_events_change(tmp_path: Path) -> None:
    study = read(CHANGING, tmp_path)
    run = run_case(study.cases["default"].case, name="default", out=tmp_path)
    found, _ = flow_windows(evaluate(study, {"default": [run]}))
    (window,) = found
    assert (window.path.rate_bps, window.least_bps) == (8e6, 4e6)
    assert window.mean_bps == pytest.approx(6.8e6, rel=0.04)  # it ends when its queue is empty
    cells = {row.label: row.cells for row in window_grid(found).rows}
    assert cells["bottleneck"] == ("8.00 Mbit/s",)
    assert cells["its least rate"] == ("4.00 Mbit/s",)
    assert "the rate that its link gives s1-eth2" in window_notes(found, ())[0]
    assert any("Events changed the bottleneck's rate" in note for note in window_notes(found, ()))
