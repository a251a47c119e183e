"""Figures of real runs: what is drawn must be what was measured."""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from longfat.analysis.timeseries.curves import RunCurves
from longfat.analysis.timeseries.groups import group_runs, seeds_note
from longfat.errors import InputError
from longfat.execution import run_case
from longfat.execution.runs import Run, load_run
from longfat.model.case import Case, Command
from longfat.model.metric import Unit
from longfat.model.network import ROOT_NAMESPACE, Host, Link, Network, Switch
from longfat.model.probes import Queue, Tcp
from longfat.model.traffic import Bulk, Iperf3, Ping
from longfat.output.plot import Line, Panel
from longfat.output.report.figure_files import PlotFiles, PlotRequest
from longfat.output.report.plots import plot_runs
from longfat.output.report.series import Series
from tests.resealed import reseal

SECONDS = 4
RATE_BPS = 20e6
LIMIT_BYTES = 40_000
TBF = f"tc qdisc add dev s1-eth2 root handle 1: tbf rate {RATE_BPS / 1e6:.0f}mbit burst 20000"


def made_case(*, seed: int = 1, probes: bool = True, red: bool = False) -> Case:
    # Delayed on its way to the queue: TCP's small queues would see through to the veth's end.
    delay = Command(node="h1", line="tc qdisc add dev h1-eth0 root netem delay 20ms")
    lines = [f"{TBF} limit {LIMIT_BYTES}"]
    if red:
        lines.append(
            "tc qdisc add dev s1-eth2 parent 1: handle 2: red limit 90000 min 15000 max 45000 "
            "avpkt 1500 burst 15 bandwidth 20mbit"
        )
    return Case(
        kernel="6.1",
        network=Network(
            hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
            switches=(Switch(name="s1"),),
            links=(Link(a="h1", b="s1"), Link(a="h2", b="s1")),
        ),
        setup=(delay, *(Command(node=ROOT_NAMESPACE, line=line) for line in lines)),
        flows=(
            Ping(name="ping", source="h1", target="h2", count=20, interval_s=0.2),
            Iperf3(
                name="bulk",
                source="h1",
                target="h2",
                time_s=SECONDS,
                start_s=0.5,
                start_spread_s=0.05,
                parallel=2,
            ),
        ),
        probes=(
            Queue(name="queue", of=("s1-eth2",), every_s=0.01),
            Tcp(name="tcp", of=("bulk",), every_s=0.01),
        )
        if probes
        else (),
        seed=seed,
        memory_bytes=512 << 20,
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    out = tmp_path_factory.mktemp("runs")
    wanted = {
        "probed": made_case(),
        "again": made_case(seed=2),
        "plain": made_case(probes=False),
        "red": made_case(red=True),
    }
    names = {"again": "probed"}
    return {key: run_case(case, name=names.get(key, key), out=out) for key, case in wanted.items()}


def the_panel(run: Run, metric: str, *, flows: tuple[str, ...] = ()) -> Panel:
    panel = Series(group_runs([run]), flows=flows).panel(metric)
    assert panel is not None
    return panel


def the_line(run: Run, metric: str) -> Line:
    (line,) = the_panel(run, metric, flows=("bulk",)).lines
    return line


def test_throughput_of_both_sources_is_what_iperf3_says(runs: dict[str, Run]) -> None:
    for name in ("probed", "plain"):
        line = the_line(runs[name], "throughput")
        inside = (line.times_s > 1) & (line.times_s < 4)
        mean = float(np.nanmean(line.values[inside]))
        assert mean == pytest.approx(runs[name].metrics["bulk.receiver_bps"], rel=0.1)
        assert line.unit is Unit.BPS
        assert len(line.parts) == 2
    assert len(the_line(runs["plain"], "throughput").times_s) == SECONDS
    fine = the_line(runs["probed"], "throughput")
    assert np.diff(fine.times_s) == pytest.approx(0.1)
    # No bit is lost: the rates are what was received, spread over time.
    received = runs["probed"].metrics["bulk.received_bytes"]
    assert np.nansum(fine.values) * 0.1 / 8 == pytest.approx(received, rel=0.05)
    assert "means of 100 ms" in the_panel(runs["probed"], "throughput").title


def test_time_begins_with_the_traffic(runs: dict[str, Run]) -> None:
    for name in ("probed", "plain"):
        times_s = the_line(runs[name], "cwnd").times_s
        assert times_s[0] >= 0.5
        assert times_s[-1] == pytest.approx(0.5 + SECONDS, abs=0.5)
    series = Series(group_runs([runs["plain"]]), flows=("bulk",), from_first=Bulk)
    panel = series.panel("cwnd")
    assert panel is not None
    assert panel.lines[0].times_s[-1] == pytest.approx(SECONDS, abs=0.1)


def test_the_window_is_the_sum_and_the_rtt_the_mean_of_the_streams(runs: dict[str, Run]) -> None:
    for name in ("probed", "plain"):
        cwnd, rtt = the_line(runs[name], "cwnd"), the_line(runs[name], "rtt")
        for line, together in ((cwnd, np.sum), (rtt, np.mean)):
            each = np.array([part.values for part in line.parts])
            whole = np.isfinite(each).all(axis=0)
            assert line.values[whole] == pytest.approx(together(each[:, whole], axis=0))
        assert 0.02 <= rtt.values[-1] < 0.07
        assert (cwnd.unit, rtt.unit) == (Unit.BYTES, Unit.SECONDS)
    probed = runs["probed"]
    peak = max(float(np.nanmax(part.values)) for part in the_line(probed, "cwnd").parts)
    assert peak == probed.metrics["tcp.peak_cwnd_bytes"]


def test_retransmissions_only_grow_to_their_total(runs: dict[str, Run]) -> None:
    for name, total in (("probed", "tcp.retransmits"), ("plain", "bulk.retransmits")):
        line = the_line(runs[name], "retransmits")
        assert line.steps
        assert (np.diff(line.values) >= 0).all()
        assert line.values[-1] == runs[name].metrics[total]
    assert the_panel(runs["plain"], "retransmits").counted == "segments"


def test_pings_are_dots_where_they_were_sent(runs: dict[str, Run]) -> None:
    run = runs["plain"]
    panel = the_panel(run, "rtt")
    bulk, ping = sorted(panel.lines, key=lambda line: line.dots)
    assert (bulk.label, ping.label) == ("bulk (2 streams)", "ping")
    assert not bulk.dots
    lost = 0 if ping.missing_s is None else len(ping.missing_s)
    assert len(ping.values) + lost == run.metrics["ping.sent"]
    start_s = run.flow_times["ping"].start_s
    assert ping.times_s[0] == pytest.approx(start_s, abs=0.21)
    assert ping.times_s[-1] <= start_s + 19 * 0.2 + 1e-9
    assert ping.values.min() == pytest.approx(run.metrics["ping.min_s"])
    assert ping.style_index != bulk.style_index
    only = the_panel(run, "rtt", flows=("ping",))
    assert only.title == "ping: RTT of each request"


def test_the_queue_with_its_marks(runs: dict[str, Run]) -> None:
    panel = the_panel(runs["probed"], "queue")
    (line,) = panel.lines
    assert panel.title == "Queue of s1-eth2"
    assert line.largest == runs["probed"].metrics["queue.peak_bytes"]
    assert [(mark.label, mark.value) for mark in panel.references] == [("limit", LIMIT_BYTES)]
    marks = {mark.label: mark.value for mark in the_panel(runs["red"], "queue").references}
    assert marks == {"limit": 90_000, "RED max": 45_000, "RED min": 15_000}
    both = Series(group_runs([runs["probed"], runs["red"]])).panel("queue")
    assert both is not None
    assert [line.label for line in both.lines] == ["probed", "red"]
    assert "limit of red" in [mark.label for mark in both.references]


def test_references_of_the_path(runs: dict[str, Run]) -> None:
    (rate,) = the_panel(runs["plain"], "throughput").references
    assert (rate.label, rate.value) == ("bottleneck", RATE_BPS)
    (product,) = the_panel(runs["plain"], "cwnd").references
    assert product.label == "BDP"
    assert product.value == pytest.approx(RATE_BPS * 0.020 / 8)


def test_phase_is_queue_against_window(runs: dict[str, Run]) -> None:
    (trace,) = Series(group_runs([runs["probed"]])).phase_traces()
    cwnd = the_line(runs["probed"], "cwnd")
    assert trace.label == "bulk"
    assert trace.up_mark == LIMIT_BYTES
    assert trace.across_mark == pytest.approx(RATE_BPS * 0.020 / 8)
    place = int(np.searchsorted(trace.times_s, 2.0))
    assert trace.across[place] == pytest.approx(
        float(np.interp(trace.times_s[place], cwnd.times_s, cwnd.values))
    )
    # The window fills the pipe first, then the queue.
    later = (trace.times_s > 1) & (trace.times_s < 4)
    assert np.corrcoef(trace.across[later], trace.up[later])[0, 1] > 0.5
    assert Series(group_runs([runs["plain"]])).phase_traces() == []


def test_seeds_become_a_band(runs: dict[str, Run]) -> None:
    groups = group_runs([runs["probed"], runs["again"], runs["probed"]])
    assert [len(group.runs) for group in groups] == [2]
    assert seeds_note(groups) == "line: median of 2 seeds; band: 5-95 %"
    for metric in ("throughput", "rtt", "cwnd", "queue", "retransmits"):
        panel = Series(groups).panel(metric)
        assert panel is not None
        for line in panel.lines:
            assert line.low is not None
            assert line.high is not None
            assert (line.low <= line.values).all()
            assert (line.values <= line.high).all()
            assert line.parts == ()
    cwnd = Series(groups, flows=("bulk",)).panel("cwnd")
    assert cwnd is not None
    middle = [float(np.median(the_line(runs[n], "cwnd").values)) for n in ("probed", "again")]
    assert min(middle) * 0.9 <= float(np.median(cwnd.lines[0].values)) <= max(middle) * 1.1


def test_labels_say_what_differs(runs: dict[str, Run], tmp_path: Path) -> None:
    plain = runs["plain"]
    shutil.copytree(plain.folder, tmp_path / "newer")
    other = dataclasses.replace(plain, folder=Path("elsewhere"), seed=7)
    newer = dataclasses.replace(
        plain, folder=tmp_path / "newer", case=dataclasses.replace(plain.case, kernel="6.12")
    )
    assert [g.label for g in group_runs([plain])] == [""]
    assert [g.label for g in group_runs([plain, runs["red"]])] == ["plain", "red"]
    labels = [g.label for g in group_runs([plain, newer, runs["red"]])]
    assert labels == ["plain Linux 6.1", "plain Linux 6.12", "red"]
    changed = dataclasses.replace(other, case=dataclasses.replace(plain.case, memory_bytes=1 << 30))
    assert [g.label for g in group_runs([plain, changed])] == ["plain seed 1", "plain seed 7"]
    several = Series(group_runs([plain, newer]), flows=("bulk",)).panel("cwnd")
    assert several is not None
    assert [line.label for line in several.lines] == [
        "plain Linux 6.1 (2 streams)",
        "plain Linux 6.12 (2 streams)",
    ]
    assert len({line.style_index for line in several.lines}) == 2


def test_files(runs: dict[str, Run], tmp_path: Path) -> None:
    folder = tmp_path / "probed"
    shutil.copytree(runs["probed"].folder, folder)
    done = plot_runs([folder], PlotRequest(forms=("png", "svg")))
    names = ["throughput", "RTT", "cwnd", "queue", "retransmits", "phase"]
    assert [path.name for path in done.files] == [f"{n}.{f}" for n in names for f in ("png", "svg")]
    assert {path.parent for path in done.files} == {folder / "plots"}
    assert done.notes == ()
    before = [path.read_bytes() for path in done.files]
    again = plot_runs([folder], PlotRequest(forms=("png", "svg")), out=tmp_path / "out")
    assert [path.read_bytes() for path in again.files] == before
    few = plot_runs(
        [folder], PlotRequest(metrics=("RTT", "queue"), forms=("pdf",)), out=tmp_path / "few"
    )
    assert [path.name for path in few.files] == ["RTT.pdf", "queue.pdf"]
    plain = plot_runs([runs["plain"].folder], PlotRequest(forms=("png",)), out=tmp_path / "plain")
    assert [path.stem for path in plain.files] == ["throughput", "RTT", "cwnd", "retransmits"]


def test_a_run_is_loaded_as_it_was_kept(runs: dict[str, Run]) -> None:
    kept = load_run(runs["probed"].folder)
    one, other = RunCurves(kept).curves("cwnd"), RunCurves(runs["probed"]).curves("cwnd")
    assert one[0].values.tolist() == other[0].values.tolist()


def failure(folder: Path, request: PlotRequest | None = None) -> str:
    with pytest.raises(InputError) as caught:
        plot_runs([folder], request or PlotRequest(), out=folder / "nothing")
    assert not (folder / "nothing").exists()
    return str(caught.value)


def test_what_is_wrong_is_reported(runs: dict[str, Run], tmp_path: Path) -> None:
    probed, plain = runs["probed"].folder, runs["plain"].folder
    assert "no flow 'x' in it; its flows: ping, bulk" in failure(probed, PlotRequest(flows=("x",)))
    assert "no metric 'cwdn' (is it cwnd?)" in failure(probed, PlotRequest(metrics=("cwdn",)))
    words = failure(plain, PlotRequest(metrics=("queue",)))
    assert "no queue to draw: that takes a queue probe" in words
    assert "ping (ping), bulk (iperf3); its probes: none" in words
    assert "that takes a queue probe and a tcp probe" in failure(
        plain, PlotRequest(metrics=("phase",))
    )
    assert "nothing to draw from 50 s on: the data goes from" in failure(
        probed, PlotRequest(start_s=50)
    )
    assert "no such directory" in failure(tmp_path / "none")
    assert f"runs are in it: name one or more of {probed.parent}" in failure(probed.parent)
    with pytest.raises(InputError, match="the end must come after the start"):
        PlotRequest(start_s=3, end_s=2)


def test_a_run_with_files_missing(runs: dict[str, Run], tmp_path: Path) -> None:
    def broken(name: str, *parts: str) -> Path:
        folder = tmp_path / name
        shutil.copytree(runs["probed"].folder, folder)
        folder.joinpath(*parts).unlink()
        return folder

    assert "series/tcp.parquet: damaged: it is missing" in failure(
        broken("a", "series", "tcp.parquet")
    )
    words = failure(broken("b", "raw", "ping.txt"))
    assert "flow 'ping' cannot be drawn: " in words
    assert "in raw/: bulk.client.json" in words
    assert "no manifest.json" in failure(broken("c", "manifest.json"))
    folder = tmp_path / "d"
    shutil.copytree(runs["plain"].folder, folder)
    (folder / "raw" / "bulk.client.json").unlink()
    assert "flow 'bulk' cannot be drawn: " in failure(folder)
    assert "raw/bulk.client.json: it is missing" in failure(folder)
    (folder / "raw" / "bulk.client.json").write_text("{")
    assert "raw/bulk.client.json: it has 1 bytes instead of" in failure(folder)
    folder = broken("e", "series", "queue.parquet")
    (folder / "series" / "queue.parquet").write_bytes(b"PAR1 no")
    assert "queue.parquet: damaged: it has 7 bytes" in failure(folder)
    folder = tmp_path / "f"
    shutil.copytree(runs["probed"].folder, folder)
    path = folder / "series" / "tcp.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["cwnd_bytes"]), path)
    reseal(folder)
    assert "series/tcp.parquet: its columns are time_s, " in failure(folder)


def test_nothing_is_written_where_it_cannot_be(runs: dict[str, Run], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be written"):
        plot_runs([runs["plain"].folder], PlotRequest(), out=tmp_path / "file")


def test_a_span_of_time(runs: dict[str, Run], tmp_path: Path) -> None:
    request = PlotRequest(start_s=1, end_s=2, metrics=("cwnd",), forms=("png",), title="")
    done = plot_runs([runs["probed"].folder], request, out=tmp_path)
    assert isinstance(done, PlotFiles)
    whole = plot_runs(
        [runs["probed"].folder], dataclasses.replace(request, end_s=None), out=tmp_path / "b"
    )
    assert done.files[0].read_bytes() != whole.files[0].read_bytes()
