"""Charts of a grid: made-up runs whose medians, bands, cells and gaps are known."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from longfat.analysis.verdict import Verdict, evaluate
from longfat.execution.runs import Run, load_run
from longfat.model.metric import Unit
from longfat.output.plot.chart import Chart, ChartKind, Mark
from longfat.output.report.grid_charts import charts_of
from longfat.output.report.page_parts import undrawn_figures
from longfat.output.report.values import tally_lines
from longfat.study import Study, read_study
from tests.paths import TESTS

DATA = TESTS / "data" / "runs" / "seeded" / "lossy-seed1"

STUDY = """\
title: x
grid: {cc: [cubic, bbr], buffer: [1KB, 2KB, 4KB], rtt: [10ms, 40ms]}
let: {rate: 100mbit}
where: cc == cubic or buffer < 4KB
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
setup: [{h1: "echo $<cc> $<buffer> $<rtt> $<rate>"}]
flows: {bulk: {iperf3: h1 -> h2, parallel: 2}, rtt: {ping: h1 -> h2}}
claims:
  - all(bulk.receiver > 25mbit where cc == cubic)
  - median(bulk.receiver) > 0
figures:
  - Lines:
      lines: bulk.receiver / rate
      over: buffer
      by: cc
      each: rtt
      log: [x]
      range: {y: [0, ~]}
      labels: {y: utilisation}
      curves: {whole: buffer / 8KB, none: rate / rate * sqrt(2KB / 4KB - 1)}
      marks: {x: {bdp: 3KB}, y: {fair: 50ms / rtt}}
  - Heat: {heat: bulk.receiver, over: buffer, up: rtt, each: cc}
  - Median: {lines: rtt.avg, over: cc, median: [buffer, rtt]}
  - Points: {points: rtt.avg - rtt, against: bulk.receiver, by: cc}
  - Share: {lines: "bulk.receiver[cc = bbr] / bulk.receiver[cc = cubic]", over: buffer, by: rtt,
            where: [cc == bbr]}
  - Replies: {cdf: rtt.replies / 1ms, by: cc, where: rtt == 10ms}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    file = tmp_path_factory.mktemp("grid") / "study.yaml"
    file.write_text(STUDY, encoding="utf-8")
    return read_study(file)


def made_up(study: Study) -> dict[str, list[Run]]:
    """Three runs of a case: 10, 20 and 30 Mbit/s for each KB of buffer; bbr gets 1 more."""
    like = load_run(DATA)
    found = {}
    for name, planned in study.cases.items():
        one = planned.parameters
        assert one["buffer"].number is not None
        assert one["rtt"].number is not None
        more = 1e6 if one["cc"].text == "bbr" else 0.0
        found[name] = [
            dataclasses.replace(
                like,
                seed=seed,
                case=planned.case,
                metrics={
                    "bulk.receiver_bps": 10e6 * seed * one["buffer"].number / 1024 + more,
                    "rtt.avg_s": one["rtt"].number + 0.001 * seed,
                },
            )
            for seed in (1, 2, 3)
        ]
    return found


@pytest.fixture(scope="module")
def charts(study: Study) -> dict[str, Chart]:
    return {chart.title: chart for chart in charts_of(evaluate(study, made_up(study)))}


def test_lines(charts: dict[str, Chart]) -> None:
    chart = charts["Lines"]
    assert (chart.kind, chart.by) == (ChartKind.LINES, "cc")
    assert [facet.title for facet in chart.facets] == ["rtt: 10ms", "rtt: 40ms"]
    assert (chart.x.label, chart.x.unit, chart.x.log) == ("buffer", Unit.BYTES, True)
    assert (chart.y.label, chart.y.low, chart.y.high) == ("utilisation", 0.0, None)
    cubic, bbr, curve = chart.facets[0].series  # the curve without a value is not there
    assert (cubic.label, cubic.style_index, bbr.label, bbr.style_index) == ("cubic", 0, "bbr", 1)
    assert cubic.x.tolist() == [1024, 2048, 4096]
    assert cubic.y == pytest.approx([0.2, 0.4, 0.8])
    assert cubic.low == pytest.approx([0.11, 0.22, 0.44])
    assert cubic.high == pytest.approx([0.29, 0.58, 1.16])
    assert cubic.names == ("cubic-1KB-10ms", "cubic-2KB-10ms", "cubic-4KB-10ms")
    assert bbr.y == pytest.approx([0.21, 0.41])
    assert (curve.label, curve.style_index, curve.formula) == ("whole", 2, True)
    assert curve.y == pytest.approx(curve.x / 8192)
    assert chart.facets[1].marks == (
        Mark(label="bdp", at=3072, upright=True),
        Mark(label="fair", at=1.25, upright=False),
    )
    assert chart.note == "Median of 3 seeds, 5-95 %."


def test_heat(charts: dict[str, Chart]) -> None:
    chart = charts["Heat"]
    assert chart.x.ticks == ("1KB", "2KB", "4KB")
    assert chart.y.ticks == ("10ms", "40ms")
    assert chart.colour is not None
    assert chart.colour.unit is Unit.BPS
    cells = chart.facets[1].cells
    assert cells is not None
    assert cells[:, :2] == pytest.approx(np.array([[21e6, 41e6], [21e6, 41e6]]))
    assert np.isnan(cells[:, 2]).all()  # where left these cases out
    assert chart.note == "Median of 3 seeds."


def test_the_median_over_a_parameter_and_an_axis_of_texts(charts: dict[str, Chart]) -> None:
    chart = charts["Median"]
    assert chart.x.ticks == ("cubic", "bbr")
    (series,) = chart.facets[0].series
    assert series.x.tolist() == [0, 1]
    assert series.y == pytest.approx([0.027, 0.027])  # between 10 + 3 ms and 40 + 1 ms
    assert series.names == ("cubic-1KB-10ms and 5 more", "bbr-1KB-10ms and 3 more")
    assert "Median over buffer, rtt." in chart.note


def test_points(charts: dict[str, Chart]) -> None:
    cubic, bbr = charts["Points"].facets[0].series
    assert (len(cubic.x), len(bbr.x)) == (6, 4)
    assert cubic.x[:2] == pytest.approx([20e6, 20e6])
    assert cubic.y == pytest.approx([0.002] * 6)
    assert bbr.names[0] == "bbr-1KB-10ms"


def test_the_case_beside(charts: dict[str, Chart]) -> None:
    series = charts["Share"].facets[0].series
    assert [one.label for one in series] == ["10ms", "40ms"]
    assert series[0].y == pytest.approx([21 / 20, 41 / 40])


def test_a_cdf_of_replies(charts: dict[str, Chart]) -> None:
    chart = charts["Replies"]
    cubic, _ = chart.facets[0].series
    run = load_run(DATA)
    (ping,) = [flow for flow in run.case.flows if flow.tool == "ping"]
    assert ping.name == "rtt"
    replies = sorted(1e3 * reply.rtt_s for reply in ping.replies(run.raw))  # type: ignore[attr-defined]
    assert cubic.x == pytest.approx(np.sort(replies * 9))  # three cases of three seeds
    assert cubic.y[-1] == 1
    assert (np.diff(cubic.y) > 0).all()


def test_what_was_not_run_leaves_a_gap(study: Study) -> None:
    runs = made_up(study)
    del runs["cubic-2KB-10ms"]
    runs["cubic-4KB-10ms"] = runs["cubic-4KB-10ms"][:1]
    bare = {"rtt.avg_s": 0.01}
    runs["bbr-1KB-10ms"] = [dataclasses.replace(run, metrics=bare) for run in runs["bbr-1KB-10ms"]]
    charts = {chart.title: chart for chart in charts_of(evaluate(study, runs))}
    cubic, bbr, _ = charts["Lines"].facets[0].series
    assert np.isnan(cubic.y).tolist() == [False, True, False]
    assert cubic.low is not None
    assert cubic.low[2] == cubic.y[2]
    assert np.isnan(bbr.y).tolist() == [True, False]
    assert charts["Lines"].note == (
        "Median of 1 to 3 seeds, 5-95 %. 1 of 10 cases not run. 1 of 10 cases have no such number."
    )
    assert charts_of(evaluate(study, {})) == ()


def test_what_is_printed_of_a_claim(study: Study) -> None:
    def lines(verdict: Verdict, claim: int) -> list[str]:
        return [line for line, _ in tally_lines(verdict.claims[claim])]

    runs = made_up(study)
    verdict = evaluate(study, runs)
    assert [one.passed for one in verdict.claims] == [False, True]
    assert lines(verdict, 0) == [
        "holds in 4 of 6 cases",
        "cubic-1KB-10ms: bulk.receiver_bps = 20.0 Mbit/s",
        "cubic-1KB-40ms: bulk.receiver_bps = 20.0 Mbit/s",
    ]
    assert lines(verdict, 1) == ["40.0 Mbit/s, over 10 cases"]
    assert verdict.claims[0].seeds is not None
    assert (verdict.claims[0].seeds.holding, verdict.claims[0].seeds.count) == (1, 3)
    told = verdict.to_json()["claims"][0]["over_cases"][0]
    assert (told["holding"], told["cases"], told["not_run"]) == (4, 6, 0)
    assert told["examples"][0] == {
        "case": "cubic-1KB-10ms",
        "parameters": {"cc": "cubic", "buffer": "1KB", "rtt": "10ms"},
        "readings": {"cubic-1KB-10ms.bulk.receiver_bps": 20e6},
    }
    del runs["cubic-4KB-40ms"]
    verdict = evaluate(study, runs)
    assert [one.passed for one in verdict.claims] == [False, None]
    assert lines(verdict, 1) == ["40.0 Mbit/s, over 9 cases, 1 not run"]


PLAIN = """\
title: x
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
flows: {bulk: {iperf3: h1 -> h2, parallel: 2}, rtt: {ping: h1 -> h2}}
cases:
  deep: {title: a deep buffer}
  shallow: {title: a shallow buffer}
  other: {title: another}
figures:
  - Both: {bars: {goodput: bulk.receiver, RTT: rtt.avg}, cases: [deep, shallow]}
  - Parts: {bars: {rate: {sent: bulk.sender, received: bulk.receiver}}, cases: [shallow]}
  - Scales: {bars: {whole: bulk.receiver, part: bulk.receiver / 100}, marks: {x: {line: 20mbit}}}
  - Over time: {time: rtt.replies, cases: [deep, shallow]}
  - Nothing: {bars: bulk.receiver, cases: [other]}
"""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Verdict:
    file = tmp_path_factory.mktemp("plain") / "study.yaml"
    file.write_text(PLAIN, encoding="utf-8")
    study = read_study(file)
    run = load_run(DATA)
    runs = {}
    for name, receiver_bps in (("deep", 20e6), ("shallow", 10e6)):
        metrics = {**run.metrics, "bulk.receiver_bps": receiver_bps, "bulk.sender_bps": 30e6}
        runs[name] = (dataclasses.replace(run, name=name, metrics=metrics),)
    return evaluate(study, runs)


def chart_called(name: str, verdict: Verdict) -> Chart:
    (found,) = [chart for chart in charts_of(verdict) if chart.name == name]
    return found


def test_bars_of_other_units_have_facets_of_their_own(plain: Verdict) -> None:
    chart = chart_called("both", plain)
    assert chart.x.ticks == ("a deep buffer", "a shallow buffer")
    assert [(f.y.label, f.y.unit) for f in chart.facets if f.y] == [
        ("goodput", Unit.BPS),
        ("RTT", Unit.SECONDS),
    ]
    assert chart.facets[0].series[0].y.tolist() == [20e6, 10e6]


def test_bars_of_one_case_are_rows(plain: Verdict) -> None:
    chart = chart_called("parts", plain)
    assert chart.x.ticks == ("sent", "received")
    (facet,) = chart.facets
    (series,) = facet.series
    assert series.y.tolist() == [30e6, 10e6]


def test_bars_of_other_scales_have_facets_of_their_own(plain: Verdict) -> None:
    chart = chart_called("scales", plain)
    assert [[one.label for one in facet.series] for facet in chart.facets] == [["whole"], ["part"]]
    assert [[mark.at for mark in facet.marks] for facet in chart.facets] == [[20e6]] * 2
    assert np.isnan(chart.facets[0].series[0].y[2])
    assert chart.note == "1 of 3 cases not run."


def test_lines_over_time_begin_with_their_flow(plain: Verdict) -> None:
    chart = chart_called("over-time", plain)
    assert [facet.title for facet in chart.facets] == ["a deep buffer", "a shallow buffer"]
    run = plain.runs["deep"][0]
    (series,) = chart.facets[0].series
    assert 0 <= series.x.min() < 0.1
    assert series.x.max() < max(times.end_s for times in run.flow_times.values())
    assert np.isfinite(series.y).all()


def test_a_figure_without_values_is_no_chart(plain: Verdict) -> None:
    charts = charts_of(plain)
    assert "nothing" not in {chart.name for chart in charts}
    assert undrawn_figures(plain, charts) == ["Nothing"]
