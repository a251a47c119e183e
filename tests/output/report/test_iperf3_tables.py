import pytest

from longfat.analysis.verdict import Verdict
from longfat.model.traffic import Iperf3
from longfat.model.traffic.iperf3 import Iperf3Report
from longfat.output.report.iperf3_tables import bytes_text, iperf3_tables, rate_text


def report(verdict: Verdict, case: str) -> Iperf3Report:
    (flow,) = (f for f in verdict.study.cases[case].case.flows if isinstance(f, Iperf3))
    return flow.report(verdict.first_runs[case].raw)


def test_single_stream(lab08: Verdict) -> None:
    tables = iperf3_tables(report(lab08, "default"))
    assert len(tables.rows) == 10
    assert tables.streams == ()
    first = ("0.00-1.00 sec", "335 MBytes", "2.81 Gbits/sec", "0", "16.2 MBytes")
    assert tables.rows[0].cells == first
    sender, receiver = tables.totals
    assert sender.cells == ("0.00-10.00 sec", "3.82 GBytes", "3.28 Gbits/sec", "0", "-")
    assert receiver.cells == ("0.00-10.02 sec", "3.82 GBytes", "3.27 Gbits/sec", "-", "-")


def test_parallel_streams(many: Verdict) -> None:
    tables = iperf3_tables(report(many, "parallel"))
    assert len(tables.streams) == 4
    assert {row.label for row in tables.rows} == {"SUM"}
    assert all(row.cells[4] == "-" for row in tables.rows)
    assert all(row.cells[4].endswith("Bytes") for stream in tables.streams for row in stream)
    single = sum(int(stream[0].cells[3]) for stream in tables.streams)
    assert tables.rows[0].cells[3] == str(single)


def test_udp_has_no_tcp_columns(many: Verdict) -> None:
    tables = iperf3_tables(report(many, "udp"))
    assert all(row.cells[3:] == ("-", "-") for row in tables.rows)


def test_reversed_shows_the_sender(many: Verdict) -> None:
    tables = iperf3_tables(report(many, "reversed"))
    assert all(row.cells[4] != "-" for row in tables.rows)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.00 Bytes"), (1024, "1.00 KBytes"), (17021240, "16.2 MBytes"), (3.5e8, "334 MBytes")],
)
def test_bytes(value: float, text: str) -> None:
    assert bytes_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0.00 bits/sec"), (9.389e9, "9.39 Gbits/sec"), (78.8e6, "78.8 Mbits/sec")],
)
def test_rate(value: float, text: str) -> None:
    assert rate_text(value) == text
