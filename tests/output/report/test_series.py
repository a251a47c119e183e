"""The series of captured runs: what figures of a study draw."""

from dataclasses import replace

import pytest

from longfat.analysis.timeseries.groups import Group, verdict_groups
from longfat.analysis.timeseries.sources import interval_rates
from longfat.analysis.verdict import Verdict
from longfat.execution.runs.run import EventTime
from longfat.model.probes import Queue
from longfat.model.traffic import Bulk, Ping
from longfat.output.plot import Panel
from longfat.output.report.series import Series


def panel(verdict: Verdict, metric: str, *, kinds: tuple[str, ...] = ("tcp", "queue")) -> Panel:
    first = Ping if kinds == ("ping",) else Bulk
    found = Series(verdict_groups(verdict), from_first=first).panel(metric, kinds=kinds)
    assert found is not None
    return found


def test_lab08(lab08: Verdict) -> None:
    throughput, cwnd = panel(lab08, "throughput"), panel(lab08, "cwnd")
    assert [line.label for line in throughput.lines] == ["default", "tuned"]
    default = cwnd.lines[0]
    assert len(default.values) == len(throughput.lines[0].values) == 10
    assert throughput.lines[0].times_s[0] == pytest.approx(0.5, abs=1e-3)
    assert default.times_s[-1] == pytest.approx(10.0, abs=1e-3)
    assert default.values[-1] == 17021240
    pings = panel(lab08, "rtt", kinds=("ping",))
    assert [line.label for line in pings.lines] == ["unshaped", "default", "tuned"]
    assert pings.lines[1].times_s.tolist() == [0, 1, 2, 3]
    assert pings.references == ()
    # A case keeps its style from one figure to the next.
    assert pings.lines[1].style_index == throughput.lines[0].style_index
    assert Series(verdict_groups(lab08)).panel("queue") is None


def test_what_all_paths_share_is_a_reference(lab08: Verdict) -> None:
    marks = [panel(lab08, metric).references[0] for metric in ("throughput", "cwnd", "rtt")]
    assert [mark.label for mark in marks] == ["bottleneck", "BDP", "idle path"]
    assert [mark.value for mark in marks] == pytest.approx([10e9, 25e6, 0.02], rel=1e-3)


def test_streams(many: Verdict) -> None:
    line = panel(many, "throughput").lines[0]
    assert line.label == "parallel (4 streams)"
    assert len(line.parts) == 4
    assert line.values == pytest.approx(sum(part.values for part in line.parts))
    rtt = panel(many, "rtt").lines[0]
    first = [part.values[0] for part in rtt.parts]
    assert min(first) <= rtt.values[0] <= max(first)


def test_all_pings_lost(many: Verdict) -> None:
    line = panel(many, "rtt", kinds=("ping",)).lines[0]
    assert len(line.values) == 0
    assert line.missing_s is not None
    assert len(line.missing_s) == 5


def test_rates_of_the_intervals(lab08: Verdict, many: Verdict) -> None:
    default, tuned = interval_rates(lab08)
    assert (default.label, tuned.label) == ("default", "tuned")
    assert len(default.bps) == 10
    assert default.bps[5] == pytest.approx(3.33e9, rel=0.01)
    assert len(interval_rates(many)[0].bps) == len(panel(many, "throughput").lines[0].values)


def test_a_case_alone_needs_no_name(lab08: Verdict) -> None:
    alone = Verdict(
        study=lab08.study, runs={"tuned": lab08.runs["tuned"]}, spreads={}, claims=(), published=()
    )
    assert [line.label for line in panel(alone, "cwnd").lines] == ["bulk"]


def test_events_are_moments_of_all_panels_on_the_axis_of_the_lines(lab08: Verdict) -> None:
    (default,), (tuned,) = lab08.runs["default"], lab08.runs["tuned"]
    cut = EventTime(event=0, at_s=7.0, words="s1 - s2 down")
    late = EventTime(event=1, at_s=9.0, words="s1 - s2 up")
    start_s = default.flow_times["bulk"].start_s
    groups = [
        Group("default", (replace(default, event_times=(cut,)),)),
        Group("tuned", (replace(tuned, event_times=(cut, late)),)),
    ]
    found = Series(groups, from_first=Bulk).panel("cwnd")
    assert found is not None
    assert [one.label for one in found.moments] == ["s1 - s2 down", "tuned: s1 - s2 up"]
    assert [one.at_s for one in found.moments] == pytest.approx([7 - start_s, 9 - start_s])
    assert [one.label for one in found.cut(0.0, 7.0 - start_s).moments] == ["s1 - s2 down"]


def test_a_case_keeps_its_look_where_others_have_more(lab08: Verdict) -> None:
    (default,), (tuned,) = lab08.runs["default"], lab08.runs["tuned"]
    queue = Queue(name="q", of=("s1-eth2",), every_s=0.01)
    ping = replace(default.case.pings[0], name="other")
    case = replace(tuned.case, probes=(queue,), flows=(*tuned.case.flows, ping))
    groups = [Group("default", (default,)), Group("tuned", (replace(tuned, case=case),))]
    found = Series(groups).panel("throughput")
    assert found is not None
    assert [line.style_index for line in found.lines] == [0, 1]
