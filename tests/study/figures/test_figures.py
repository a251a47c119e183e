"""The field `figures`: what is read, and what is refused with its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from longfat.model.metric import Unit
from longfat.study.figures.spec import FigureKind, FigureSpec
from longfat.study.figures.theory import curve_points
from tests.study.messages import error, read

STUDY = """\
title: x
grid:
  [aqm, line]: [[drop-tail, pfifo], [codel, codel]]
  buffer: {values: [0.5, 1, 2], unit: bdp}
  rtt: [10ms, 40ms]
  n: [1, 4]
  loss: [0, 1%]
let: {rate: 10mbit, bdp: rate * rtt}
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
setup: [{h1: "echo $<line> $<buffer> $<rtt> $<n> $<loss>"}]
flows: {bulk: {iperf3: h1 -> h2}, rtt: {ping: h1 -> h2}}
probes: {queue: {of: h1-eth0}}
figures:
"""
"""Thirteen lines: a figure stands in line 14."""

REST = "by: n, each: [aqm, rtt], where: loss == 0"


def figure(fields: str, folder: Path, title: str = "A figure") -> FigureSpec:
    (found,) = read(f"{STUDY}  - {title}: {{{fields}}}\n", folder).figures
    return found


def test_lines(tmp_path: Path) -> None:
    spec = figure(f"lines: bulk.receiver / rate, over: buffer / bdp, {REST}, log: x", tmp_path)
    assert (spec.name, spec.title, spec.kind) == ("a-figure", "A figure", FigureKind.LINES)
    assert (spec.by, spec.each) == (("n",), ("aqm", "rtt"))
    assert spec.log == {"x"}
    assert spec.over is not None
    assert (spec.what.unit, spec.over.unit, len(spec.at)) == (Unit.COUNT, Unit.COUNT, 24)
    bare = figure(f"lines: bulk.receiver, over: buffer, {REST}", tmp_path)
    assert bare.over is not None
    assert (bare.what.label, bare.what.unit, bare.over.unit) == (
        *("bulk receiver", Unit.BPS, Unit.BYTES),
    )


def test_versions_of_the_kernel_are_texts_and_no_scale(tmp_path: Path) -> None:
    text = STUDY.replace("title: x\n", "title: x\nkernel: $<version>\n").replace(
        "  n: [1, 4]\n", '  version: ["6.1", "6.12", "7.2"]\n  n: [1, 4]\n'
    )
    (spec,) = read(
        f"{text}  - x: {{lines: bulk.receiver, over: version, median: [n, buffer], each: "
        "[aqm, rtt, loss]}\n",
        tmp_path,
    ).figures
    assert spec.over is not None
    assert (spec.over.term, spec.over.parameter) == (None, "version")


def test_other_kinds(tmp_path: Path) -> None:
    heat = figure("heat: rtt.avg, over: rtt, up: loss, median: [n, buffer], each: aqm", tmp_path)
    assert (heat.up, heat.median) == ("loss", ("n", "buffer"))
    points = figure("points: rtt.avg - rtt, against: bulk.receiver / rate, by: aqm", tmp_path)
    assert (points.kind, points.what.unit) == (FigureKind.POINTS, Unit.SECONDS)
    cdf = figure("cdf: rtt.replies - rtt, by: aqm, range: {x: [0, 100ms]}", tmp_path)
    assert (cdf.what.samples, cdf.ranges) == ("rtt.replies", {"x": (0.0, 0.1)})
    assert figure("cdf: queue.backlogs / bdp, by: aqm", tmp_path).what.samples == "queue.backlogs"
    loss = figure("lines: bulk.loss, over: loss, by: aqm, median: [buffer, rtt, n]", tmp_path)
    assert loss.over is not None
    assert (loss.what.unit, loss.over.unit) == (Unit.FRACTION, Unit.FRACTION)
    texts = figure("lines: rtt.avg, over: aqm, median: [buffer, rtt, n, loss]", tmp_path)
    assert texts.over is not None
    assert texts.over.term is None


def test_names_of_files_differ(tmp_path: Path) -> None:
    entry = f"{{lines: bulk.receiver, over: buffer, {REST}}}"
    text = f"{STUDY}  - RTT!: {entry}\n  - rtt: {entry}\n  - {entry}\n"
    assert [(one.name, one.title) for one in read(text, tmp_path).figures] == [
        ("rtt", "RTT!"),
        ("rtt-2", "rtt"),
        ("bulk-receiver-over-buffer", "bulk.receiver over buffer"),
    ]


def test_curves_and_marks(tmp_path: Path) -> None:
    spec = figure(
        "lines: bulk.receiver, over: rtt, by: n, each: [aqm, buffer], where: loss == 0, log: x, "
        "curves: {buffer: buffer / 1s, share: rate / n}, "
        "marks: {x: {half: 20ms}, y: {fair: rate / n}}",
        tmp_path,
    )
    whole, by_series = spec.curves
    assert (whole.each_series, by_series.each_series) == (False, True)
    assert [(one.axis, one.each_series) for one in spec.marks] == [("x", False), ("y", True)]
    twice = [row for row in spec.at.tolist() if "codel-2bdp" in spec.rows.cases[row]]
    x, y = curve_points(spec, whole, np.array(twice))
    assert (x[0], x[-1], len(x)) == (pytest.approx(0.01), pytest.approx(0.04), 200)
    assert np.allclose(np.diff(np.log(x)), np.log(4) / 199)
    assert np.allclose(y, 2 * 10e6 * x)  # two BDPs, which grow with the RTT


def test_a_curve_over_multiples(tmp_path: Path) -> None:
    spec = figure(
        f"lines: bulk.receiver / rate, over: buffer / bdp, {REST}, curves: {{x: buffer / bdp / 2}}",
        tmp_path,
    )
    of_one = [row for row in spec.at.tolist() if "10ms-n1" in spec.rows.cases[row]][:3]
    x, y = curve_points(spec, spec.curves[0], np.array(of_one))
    assert (x[0], x[-1]) == (pytest.approx(0.5), pytest.approx(2))
    assert np.allclose(y, x / 2)


WRONG = [
    (
        "over: rtt, by: n",
        "",
        "a figure shows one of lines, points, heat, cdf, bars, time, and here is none",
    ),
    ("lines: rtt.avg, heat: rtt.avg", "", "and here is lines and heat"),
    ("lines: rtt.avg, by: n", "", "the figure has no 'over', which lines need"),
    ("lines: rtt.avg, over: rtt, up: n", ".up", "unknown field 'up'"),
    ("lines: jain(rtt.avg, rtt.min), over: rtt", ".rtt.min)", "must be quoted"),
    (f"lines: rtt.avgg, over: buffer, {REST}", ".lines", "did you mean 'avg'?"),
    (f"lines: rtt + 1ms, over: buffer, {REST}", ".lines", "this is no result"),
    (f"lines: rtt.avg * rtt.avg, over: buffer, {REST}", ".lines", "which no axis shows"),
    (f"lines: rtt.avg + rate, over: buffer, {REST}", ".lines", "a time and a rate"),
    (f"lines: rtt.replies, over: buffer, {REST}", ".lines", "no metric of 'rtt' called 'replies'"),
    (f"lines: rtt.avg, over: bufer, {REST}", ".over", "did you mean 'buffer'?"),
    (f"lines: rtt.avg, over: rate, {REST}", ".over", "the same in all cases"),
    (f"lines: rtt.avg, over: rtt.avg, {REST}", ".over", "points go against one"),
    ("lines: rtt.avg, over: buffer, by: m2", ".by", "there is no parameter 'm2'"),
    ("lines: rtt.avg, over: buffer, by: rate", ".by", "there is no parameter 'rate'"),
    ("lines: rtt.avg, over: buffer, by: [n, n]", ".by[1]", "is here twice"),
    ("lines: rtt.avg, over: buffer, by: buffer", ".by", "is in 'over' and in 'by'"),
    (
        "lines: rtt.avg, over: buffer, by: n, each: [aqm, rtt]",
        "",
        "the figure does not place 'loss', so drop-tail-0_5bdp-10ms-n1-loss0 and "
        "drop-tail-0_5bdp-10ms-n1-loss1pct would be at one place",
    ),
    ("lines: rtt.avg, over: buffer / bdp, by: n, each: aqm, where: loss == 0", "", "place 'rtt'"),
    ("heat: rtt.avg, over: rtt, up: loss, each: aqm, median: n", "", "not place 'buffer'"),
    ("heat: rtt.avg, over: rtt, up: [loss, n]", ".up", "one parameter each"),
    ("heat: rtt.avg, over: rtt / 2, up: loss", ".over", "axes of a heat map are parameters"),
    ("points: rtt.avg, against: rtt, by: aqm", ".against", "this is no result"),
    ("cdf: rtt.replies + queue.backlogs / rate", ".cdf", "at a time"),
    (f"lines: rtt.avg, over: buffer, {REST}, log: z", ".log", "x or y"),
    ("lines: rtt.avg, over: loss, by: n, each: [aqm, rtt, buffer], log: x", ".log", "loss > 0"),
    ("lines: rtt.avg, over: aqm, median: [buffer, rtt, n, loss], log: x", ".log", "no logarithm"),
    (f"lines: rtt.avg, over: buffer, {REST}, range: {{y: [0, 1mbit]}}", ".range.y[1]", "a rate"),
    (f"lines: rtt.avg, over: buffer, {REST}, range: {{y: [1s, 1s]}}", ".range.y", "or before"),
    (f"lines: rtt.avg, over: buffer, {REST}, range: {{y: 1s}}", ".range.y", "the two ends"),
    (f"lines: rtt.avg, over: buffer, {REST}, range: {{z: [1, 2]}}", ".range.z", "unknown field"),
    (f"lines: rtt.avg, over: buffer, {REST}, curves: {{a: rate}}", ".curves.a", "shows a time"),
    (
        f"lines: rtt.avg, over: buffer, {REST}, curves: {{a: rtt.avg}}",
        ".curves.a",
        "not of results",
    ),
    (
        "lines: rtt.avg, over: buffer / bdp, by: n, each: aqm, median: rtt, where: loss == 0, "
        "curves: {a: rtt}",
        ".curves.a",
        "the formula depends on 'rtt', which has several values where it is drawn",
    ),
    (
        f"lines: rtt.avg, over: buffer, {REST}, marks: {{x: {{a: buffer}}}}",
        ".marks.x.a",
        "the formula depends on 'buffer'",
    ),
    (f"lines: rtt.avg, over: buffer, {REST}, marks: {{x: {{a: rate}}}}", ".marks.x.a", "a size"),
    ("cdf: rtt.replies, where: rtt.avg > 1ms", ".where", "by their parameters, not by"),
    ("cdf: rtt.replies, where: n > 9", ".where", "this leaves no case"),
    ("cdf: rtt.replies, where: cc == 1", ".where", "there is no parameter 'cc'"),
]


@pytest.mark.parametrize(("fields", "field", "message"), WRONG)
def test_what_is_refused(tmp_path: Path, fields: str, field: str, message: str) -> None:
    where, said = error(f"{STUDY}  - {{{fields}}}\n", tmp_path)
    assert message in said
    assert where.startswith("14:")
    if "shows one of" not in message:
        assert where.endswith(f": figures[0]{field}")


PLAIN = """\
title: x
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
flows: {bulk: {iperf3: h1 -> h2}, rtt: {ping: h1 -> h2}}
probes: {queue: {of: h1-eth0}}
cases:
  fifo: {title: drop tail}
  red: {title: RED}
  idle: {title: no transfer, flows: {bulk: }}
figures:
"""
"""Nine lines: a figure stands in line 10."""


def plain_figure(fields: str, folder: Path) -> FigureSpec:
    (spec,) = read(f"{PLAIN}  - A figure: {{{fields}}}\n", folder).figures
    return spec


def names_of(spec: FigureSpec) -> list[str]:
    return [spec.rows.cases[row] for row in spec.at]


def test_bars_are_of_the_cases_of_a_study_without_a_grid(tmp_path: Path) -> None:
    spec = plain_figure("bars: bulk.receiver, marks: {x: {line: 100mbit}}", tmp_path)
    assert (spec.kind, spec.shown[0].unit) == (FigureKind.BARS, Unit.BPS)
    assert spec.over is not None
    assert spec.over.parameter == "case"
    assert names_of(spec) == ["fifo", "red"]  # the third has no transfer
    both = plain_figure("bars: {goodput: bulk.receiver, RTT: rtt.avg}", tmp_path)
    assert [(one.label, one.unit) for one in both.shown] == [
        ("goodput", Unit.BPS),
        ("RTT", Unit.SECONDS),
    ]
    assert names_of(both) == ["fifo", "red", "idle"]


def test_a_figure_chooses_orders_and_labels_cases(tmp_path: Path) -> None:
    spec = plain_figure("bars: rtt.avg, cases: {red: early, fifo: late}", tmp_path)
    assert names_of(spec) == ["red", "fifo"]
    assert [row.settings["case"].text for row in spec.rows.grid] == ["early", "late"]
    spec = plain_figure("bars: rtt.avg, cases: [red, idle]", tmp_path)
    assert [row.settings["case"].text for row in spec.rows.grid] == ["RED", "no transfer"]
    spec = plain_figure("cdf: rtt.replies, by: case, where: case != idle", tmp_path)
    assert (names_of(spec), spec.by) == (["fifo", "red"], ("case",))


def test_lines_over_time_have_a_multiple_for_each_case(tmp_path: Path) -> None:
    spec = plain_figure("time: queue.backlogs, range: {x: [1s, 5s]}", tmp_path)
    assert (spec.kind, spec.each, spec.by) == (FigureKind.TIME, ("case",), ())
    assert spec.ranges == {"x": (1.0, 5.0)}
    assert plain_figure("time: bulk.cwnds, by: case", tmp_path).each == ()


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ("bars: rtt.avg, cases: [rde]", ".cases", "there is no case 'rde'; did you mean 'red'?"),
        ("bars: rtt.avg, cases: {red: x, fifo: x}", ".cases", "two cases have the same label"),
        ("bars: rtt.avg, cases: []", ".cases", "there is at least one"),
        ("bars: {a: rtt.average}", ".bars.a", "there is no metric of 'rtt' called 'average'"),
        ("time: rtt.avg", ".time", "lines over time are of what a run has many of: "),
        ("time: {a: rtt.replies, b: queue.backlogs}", ".time", "have one unit"),
        ("bars: rtt.avg, marks: {x: {line: 1mbit}}", ".marks.x.line", "the axis shows a time"),
    ],
)
def test_errors_of_figures_of_cases(tmp_path: Path, fields: str, field: str, message: str) -> None:
    where, said = error(f"{PLAIN}  - {{{fields}}}\n", tmp_path)
    assert message in said
    assert where.startswith("10:")
    assert where.endswith(f": figures[0]{field}")


def test_bars_of_a_grid_are_over_a_parameter(tmp_path: Path) -> None:
    spec = figure(
        "bars: bulk.receiver, over: aqm, each: [rtt, n], median: [buffer, loss]", tmp_path
    )
    assert spec.over is not None
    assert spec.over.parameter == "aqm"
    _, said = error(f"{STUDY}  - {{bars: bulk.receiver}}\n", tmp_path)
    assert "no 'over'" in said


def test_a_derived_value_may_be_used_by_a_figure_or_a_claim_alone(tmp_path: Path) -> None:
    text = STUDY.replace("let: {", "let: {base: rtt * 2, ")
    assert read(f"{text}  - {{cdf: rtt.avg - base}}\n", tmp_path).figures
    more = text.replace("figures:\n", "claims: [all(rtt.avg > base)]\n")
    assert read(more, tmp_path).claims
    _, said = error(text.replace("figures:\n", ""), tmp_path)
    assert "'base' is used nowhere" in said
