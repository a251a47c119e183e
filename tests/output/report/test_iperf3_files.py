"""Figures of any iperf3 report: the series, their units and names."""

import json
from pathlib import Path

import numpy as np
import pytest

from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.output.plot import Panel
from longfat.output.report.figure_files import PlotRequest
from longfat.output.report.iperf3_files import plot_reports, read_reports, report_panels
from tests.paths import TESTS

DATA = TESTS / "data" / "iperf3"


def panels(*names: str) -> dict[str, Panel]:
    reports = read_reports([DATA / f"{name}.json" for name in names])
    return {panel.name: panel for panel in report_panels(reports)}


def intervals(name: str) -> list[dict[str, float]]:
    data = json.loads((DATA / f"{name}.json").read_text())
    return [interval["sum"] for interval in data["intervals"]]


def test_single_stream() -> None:
    found = panels("tcp")
    assert list(found) == ["throughput", "rtt", "rttvar", "cwnd", "retransmits", "bytes"]
    told = intervals("tcp")
    (line,) = found["throughput"].lines
    assert line.values == pytest.approx([row["bits_per_second"] for row in told])
    assert line.times_s == pytest.approx([(row["start"] + row["end"]) / 2 for row in told])
    assert line.label == ""
    (line,) = found["bytes"].lines
    assert line.values == pytest.approx(np.cumsum([row["bytes"] for row in told]))
    units = [Unit.BPS, Unit.SECONDS, Unit.SECONDS, Unit.BYTES, Unit.COUNT, Unit.BYTES]
    assert [panel.unit for panel in found.values()] == units
    assert found["retransmits"].counted == "segments"
    assert found["rtt"].largest < 1e-3


def test_parallel_streams_are_summed_and_shown() -> None:
    found = panels("parallel")
    (line,) = found["throughput"].lines
    assert len(line.parts) == 4
    told = [row["bits_per_second"] for row in intervals("parallel")]
    assert line.values == pytest.approx(told, rel=1e-4)
    assert found["throughput"].title == "Throughput (sum; thin: each stream)"
    (line,) = found["rtt"].lines
    each = [part.values[0] for part in line.parts]
    assert line.values[0] == pytest.approx(np.mean(each))
    assert found["rtt"].title == "Smoothed RTT (mean; thin: each stream)"


def test_udp_and_reversed_tests_have_what_their_end_knows() -> None:
    assert list(panels("udp")) == ["throughput", "bytes"]
    assert list(panels("reverse")) == ["throughput", "bytes"]
    assert list(panels("udp-reverse")) == ["throughput", "bytes", "jitter", "lost"]


def test_both_directions_are_lines_of_their_own() -> None:
    found = panels("bidir")
    lines = found["throughput"].lines
    assert [line.label for line in lines] == ["sent (2 streams)", "received (2 streams)"]
    assert lines[0].style_index != lines[1].style_index
    sender, receiver = found["cwnd"].lines
    assert len(sender.values) == 3
    assert receiver.empty


def test_omitted_rows_and_the_short_one_behind_them_are_left_out() -> None:
    (line,) = panels("omit")["throughput"].lines
    assert len(line.values) == 1
    assert line.values[0] == pytest.approx(1e8, rel=0.2)


def test_several_reports_are_distinguished_by_their_names(tmp_path: Path) -> None:
    found = panels("tcp", "parallel", "udp")
    labels = [line.label for line in found["throughput"].lines]
    assert labels == ["tcp", "parallel (4 streams)", "udp"]
    # What a report does not tell leaves no trace, neither in lines nor in the title.
    drawn = [line.label for line in found["rtt"].lines if not line.empty]
    assert drawn == ["tcp", "parallel (4 streams)"]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "out.json").write_text((DATA / "tcp.json").read_text())
    both = [tmp_path / "a" / "out.json", tmp_path / "b" / "out.json"]
    lines = report_panels(read_reports(both))[0].lines
    assert [line.label for line in lines] == [str(path.with_suffix("")) for path in both]
    assert len(read_reports([both[0], both[0]])) == 1


def test_the_mtu_is_drawn_where_it_varies(tmp_path: Path) -> None:
    data = json.loads((DATA / "tcp.json").read_text())
    data["intervals"][3]["streams"][0]["pmtu"] = 1400
    (tmp_path / "a.json").write_text(json.dumps(data))
    found = {panel.name: panel for panel in report_panels(read_reports([tmp_path / "a.json"]))}
    assert 1400 in found["mtu"].lines[0].values


def test_files_are_called_as_the_labs_call_them(tmp_path: Path) -> None:
    done = plot_reports([DATA / "tcp.json"], PlotRequest(forms=("pdf",)), out=tmp_path / "results")
    names = ["throughput", "RTT", "RTT_Var", "cwnd", "retransmits", "bytes"]
    assert [path.name for path in done.files] == [f"{name}.pdf" for name in names]
    assert all(path.read_bytes().startswith(b"%PDF-") for path in done.files)


def test_a_broken_test_is_drawn_and_reported(tmp_path: Path) -> None:
    done = plot_reports([DATA / "interrupted.json"], PlotRequest(forms=("png",)), out=tmp_path)
    assert done.files
    assert "interrupted.json: the test broke off: interrupt" in done.notes[0]


def test_nothing_is_written_if_one_is_bad(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(InputError, match=r"bad\.json"):
        plot_reports(
            [DATA / "tcp.json", tmp_path / "bad.json"], PlotRequest(), out=tmp_path / "out"
        )
    assert not (tmp_path / "out").exists()


def test_each_bad_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "other.json").write_text('{"x": 1}')
    files = [tmp_path / "bad.json", DATA / "tcp.json", tmp_path / "other.json"]
    with pytest.raises(InputError) as caught:
        plot_reports(files, PlotRequest(), out=tmp_path / "out")
    assert "bad.json: " in str(caught.value)
    assert "other.json: JSON, but not iperf3's: an object with 'x'" in str(caught.value)


def test_a_metric_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no rtt in these reports; they have throughput, bytes"):
        plot_reports([DATA / "udp.json"], PlotRequest(metrics=("rtt",)), out=tmp_path / "out")
    with pytest.raises(InputError, match="no metric 'queue'; there are throughput, rtt"):
        plot_reports([DATA / "tcp.json"], PlotRequest(metrics=("queue",)), out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
