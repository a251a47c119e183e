from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.errors import InputError, LongfatError, MachineError
from longfat.model.traffic import Iperf3
from longfat.model.traffic.iperf3 import parse_report, read_report
from tests.paths import TESTS

DATA = TESTS / "data" / "traffic"


def flow(**fields: Any) -> Iperf3:
    return Iperf3(name="bulk", source="h1", target="h2", **fields)


def client_line(of: Iperf3, *, port: int = 5201) -> str:
    return " ".join(of.processes(address="10.0.0.2", port=port)[-1].argv)


def test_the_command_is_what_a_student_would_type() -> None:
    assert client_line(flow(time_s=10)) == "iperf3 -c 10.0.0.2 -t 10 -J"
    server, _ = flow().processes(address="10.0.0.2", port=5201)
    assert " ".join(server.argv) == "iperf3 -s -1 -J"
    assert (server.host, server.listens) == ("h2", True)


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"parallel": 8}, "-t 10 -P 8"),
        ({"bytes": 1000}, "-n 1000"),
        ({"reverse": True}, "-t 10 -R"),
        ({"udp": True, "rate_bps": 100_000_000}, "-u -t 10 -b 100000000"),
        ({"congestion": "bbr"}, "-t 10 -C bbr"),
        ({"window_bytes": 4096}, "-t 10 -w 4096"),
        ({"mss_bytes": 1400}, "-t 10 -M 1400"),
        ({"omit_s": 2}, "-t 10 -O 2"),
        ({"interval_s": 0.5}, "-t 10 -i 0.5"),
    ],
)
def test_options(fields: dict[str, Any], options: str) -> None:
    assert client_line(flow(**fields)) == f"iperf3 -c 10.0.0.2 {options} -J"


def test_a_second_flow_to_a_host_takes_another_port() -> None:
    assert "-p 5202" in client_line(flow(), port=5202)


def test_further_arguments_pass_through() -> None:
    assert client_line(flow(args=("-Z", "--dscp", "ef"))).endswith("-J -Z --dscp ef")


def test_tcp_report() -> None:
    report = read_report(DATA / "iperf3-3.12-tcp-client.json")
    assert report.version == "iperf 3.12"
    (rows,) = report.streams
    assert len(rows) == 10
    assert rows[3].start_s == pytest.approx(3, abs=0.01)
    assert rows[3].cwnd_bytes is not None
    assert rows[3].cwnd_bytes > 8e6
    assert rows[3].rtt_s == pytest.approx(0.02, rel=0.01)
    assert report.totals["sender_bps"] == pytest.approx(3.284e9, rel=1e-3)
    assert report.totals["receiver_bps"] == pytest.approx(3.2746e9, rel=1e-3)
    assert report.totals["retransmits"] == 0
    assert report.totals["max_cwnd_bytes"] == 17021240
    assert report.totals["mean_rtt_s"] == pytest.approx(0.02)


def test_the_receivers_report_knows_no_window() -> None:
    report = read_report(DATA / "iperf3-3.12-tcp-server.json")
    assert "max_cwnd_bytes" not in report.totals
    assert report.sender_totals == {}


def test_parallel_streams() -> None:
    report = read_report(DATA / "iperf3-3.12-parallel-client.json")
    assert len(report.streams) == 3
    assert sum(rows[0].bps for rows in report.streams) < 80e6


def test_how_evenly_parallel_streams_share() -> None:
    report = read_report(DATA / "iperf3-3.12-parallel-client.json")
    received = [8_134_872, 434_400, 3_634_480]  # as the report's end states them
    jain = sum(received) ** 2 / (3 * sum(x**2 for x in received))
    assert report.totals["fairness"] == pytest.approx(jain)
    assert report.totals["fairness"] == pytest.approx(0.624, abs=0.001)
    assert "fairness" not in read_report(DATA / "iperf3-3.12-tcp-client.json").totals


def test_reversed_traffic_takes_the_window_from_the_other_end(tmp_path: Path) -> None:
    for end in ("client", "server"):
        text = (DATA / f"iperf3-3.12-reverse-{end}.json").read_text()
        (tmp_path / f"bulk.{end}.json").write_text(text)
    of = flow(reverse=True, parallel=2)
    metrics = of.measure(tmp_path)
    assert metrics["max_cwnd_bytes"] > 1e5
    assert metrics["mean_rtt_s"] > 0.005
    assert metrics["receiver_bps"] == pytest.approx(48e6, rel=0.05)
    assert of.report(tmp_path).streams[0][0].cwnd_bytes is not None


def test_udp() -> None:
    totals = read_report(DATA / "iperf3-3.12-udp-client.json").totals
    assert totals["sender_bps"] == pytest.approx(5e6, rel=0.01)
    assert totals["loss"] == pytest.approx(0.0209, rel=0.01)
    assert totals["receiver_bps"] == pytest.approx(totals["sender_bps"] * 0.979, rel=0.01)
    assert totals["jitter_s"] < 1e-5
    assert "retransmits" not in totals


def test_every_total_is_a_known_metric() -> None:
    known = {metric.name for metric in Iperf3.metrics}
    for path in DATA.glob("iperf3-*.json"):
        assert set(read_report(path).totals) <= known


def test_a_lost_first_datagram_is_named() -> None:
    """What iperf3 3.12 writes on any machine, 30 s after that datagram was dropped."""
    words = "unable to read from stream socket: Resource temporarily unavailable"
    data = {"start": {}, "intervals": [], "end": {}, "error": words}
    with pytest.raises(InputError, match="its first datagram, or the reply to it, was lost"):
        parse_report(data, name="x.json")


def test_an_error_report() -> None:
    data = {"start": {}, "intervals": [], "end": {}, "error": "unable to connect"}
    with pytest.raises(InputError, match="iperf3 failed: unable to connect"):
        parse_report(data, name="x.json")
    assert flow().failure(json.dumps(data)) == "unable to connect"
    assert flow().failure("iperf3: no") == "iperf3: no"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"start": {"version": "x"}}'])
def test_no_report(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(MachineError, match=r"x\.json: not a"):
        read_report(tmp_path / "x.json")


def _mutants(value: Any) -> st.SearchStrategy[Any]:
    """Return the value with some part of it replaced or removed."""
    junk: st.SearchStrategy[Any] = st.one_of(
        st.none(), st.integers(), st.text(max_size=3), st.just([]), st.just({})
    )
    if isinstance(value, dict) and value:

        def change(key: str) -> st.SearchStrategy[Any]:
            without = {k: v for k, v in value.items() if k != key}
            return st.one_of(
                st.just(without), _mutants(value[key]).map(lambda inner: {**without, key: inner})
            )

        return st.one_of(junk, st.sampled_from(sorted(value)).flatmap(change))
    if isinstance(value, list) and value:
        return st.one_of(junk, _mutants(value[0]).map(lambda inner: [inner, *value[1:]]))
    return junk


WHOLE = json.loads((DATA / "iperf3-3.12-tcp-client.json").read_text())


@given(_mutants(WHOLE))
def test_a_broken_report_is_read_or_refused(data: Any) -> None:
    try:
        parse_report(data, name="x.json")
    except LongfatError as error:
        assert "x.json" in str(error)
