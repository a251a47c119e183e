"""From raw bytes to tables and metrics, on what real machines left.

The data are of one run of two hosts for two seconds at 100 Mbit/s and 20 ms, behind a
queue of 1,000,000 bytes: `make_data.py` beside them tells how they came to be.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from longfat.errors import MachineError
from longfat.model.probes import Capture, Probe, Queue, Rate, Tcp
from longfat.model.probes.probe import MAX_SEPARATE
from longfat.model.probes.queue import the_queue, waiting_handles
from longfat.model.probes.tcp import alive
from longfat.model.probes.tcp_sockets import ENDED
from longfat.model.traffic import Iperf3
from tests.paths import TESTS

DATA = TESTS / "data/probe"
BULK = Iperf3(name="bulk", source="h1", target="h2", time_s=2.0)
QUEUE = Queue(name="queue", of=("s1-eth2", "h1-eth0"))
TCP = Tcp(name="tcp", of=("bulk",))
RATE = Rate(name="rate", of=("s1-eth2",))
WINDOW = Capture(name="window", of="h1-eth0")
EPOCH_S = 1700000002.0


def table(probe: Probe, raw: Path = DATA) -> pa.Table:
    return probe.table(raw, flows=(BULK,), epoch_s=EPOCH_S)


def rows(probe: Probe) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table(probe).to_pylist()
    return found


@pytest.mark.parametrize("probe", [QUEUE, TCP, RATE, WINDOW])
def test_every_column_has_a_unit_that_its_name_ends_in(probe: Probe, tmp_path: Path) -> None:
    endings = {"s": "_s", "bit/s": "_bps", "bytes": "_bytes", "packets": ""}
    pq.write_table(table(probe), tmp_path / "x.parquet")
    schema = pq.read_schema(tmp_path / "x.parquet")
    assert schema.field(0).name == "time_s"
    for field in schema:
        unit = field.metadata[b"unit"].decode()
        if unit == "bytes":
            assert "bytes" in field.name
        elif unit:
            assert field.name.endswith(endings[unit]), field.name


def test_the_qdiscs_of_an_interface_stand_in_their_tree() -> None:
    tree = {(r["interface"], r["qdisc"], r["handle"], r["parent"]) for r in rows(QUEUE)}
    assert tree == {
        ("s1-eth2", "netem", "1:", "root"),
        ("s1-eth2", "tbf", "2:", "1:"),
        ("h1-eth0", "noqueue", "0:", "root"),
    }


def test_the_queue_is_below_netem_and_within_its_limit() -> None:
    queue = the_queue(table(QUEUE)).to_pylist()
    assert {row["qdisc"] for row in queue} == {"tbf", "noqueue"}
    metrics = QUEUE.measure(table(QUEUE))
    assert 900_000 < metrics["peak_bytes"] <= 1_000_000
    assert 0 < metrics["mean_bytes"] < metrics["peak_bytes"]
    percentiles = [metrics[f"p{percent}_packets"] for percent in (5, 50, 95)]
    assert 0 <= percentiles[0] < percentiles[1] <= percentiles[2] <= metrics["peak_packets"]
    assert metrics["drops"] > 0
    assert "marks" not in metrics  # tbf marks nothing


@pytest.mark.parametrize(
    ("qdiscs", "handles"),
    [
        ([("netem", "1:", "1:")], ["1:"]),
        ([("netem", "1:", "root"), ("netem", "2:", "1:"), ("netem", "1:", "2:")], ["1:", "2:"]),
        ([("tbf", "1:", "root"), ("netem", "2:", "1:"), ("tbf", "1:", "2:")], ["1:", "2:"]),
    ],
)
def test_a_circle_of_qdiscs_ends(qdiscs: list[tuple[str, str, str]], handles: list[str]) -> None:
    rows = [dict(zip(("qdisc", "handle", "parent"), one, strict=True)) for one in qdiscs]
    assert sorted(waiting_handles(rows)) == handles


def test_both_ends_of_the_stream_are_found_and_the_control_connection_is_not() -> None:
    found = rows(TCP)
    assert {(r["flow"], r["end"], r["host"], r["stream"]) for r in found} == {
        ("bulk", "sender", "h1", 0),
        ("bulk", "receiver", "h2", 0),
    }
    sender = [row for row in alive(table(TCP)).to_pylist() if row["end"] == "sender"]
    assert sender[0]["ssthresh_bytes"] is None  # slow start
    assert {row["congestion"] for row in sender} == {"cubic"}
    last = sender[-1]
    assert last["bytes_acked"] == pytest.approx(100e6 / 8 * last["time_s"], rel=0.15)
    assert last["mss_bytes"] == 1448
    assert last["cwnd_bytes"] == last["cwnd_packets"] * 1448
    assert 0.02 <= last["min_rtt_s"] < 0.021 < last["rtt_s"] < 0.15
    assert last["busy_s"] == pytest.approx(last["time_s"], abs=0.15)
    assert last["receive_window_bytes"] is None  # 6.1 does not tell
    assert last["send_window_bytes"] > last["cwnd_bytes"]


def test_what_is_reported_twice_agrees_with_iperf3() -> None:
    told = BULK.report(DATA)
    metrics = TCP.measure(table(TCP))
    assert metrics["retransmits"] == told.totals["retransmits"]
    assert metrics["peak_cwnd_bytes"] >= told.totals["max_cwnd_bytes"]
    assert metrics["rwnd_limited"] < 0.1


def test_the_counters_of_an_interface_agree_with_the_shaped_rate() -> None:
    series = table(RATE).to_pylist()
    metrics = RATE.measure(table(RATE))
    before, after = (row for row in series if row["time_s"] in (1.0, 1.5))
    assert (after["tx_bytes"] - before["tx_bytes"]) * 8 / 0.5 == pytest.approx(100e6, rel=0.05)
    assert metrics["rx_bps"] < 2e6  # ACKs
    # All that was sent was sent between the first sample and the last.
    payload = BULK.report(DATA).totals["received_bytes"]
    sent = metrics["tx_bps"] * series[-1]["time_s"] / 8
    assert sent == pytest.approx(payload * 1514 / 1448, rel=0.01)


def test_several_interfaces_have_their_own_metrics_and_a_sum_that_says_so() -> None:
    both = Queue(name="queue", of=("s1-eth2", "h1-eth0"))
    metrics = both.measure(table(both))
    queue = Queue(name="queue", of=("s1-eth2",))
    only = table(both).filter(pc.equal(table(both)["interface"].cast("string"), "s1-eth2"))
    for name, value in queue.measure(only).items():
        assert metrics[f"s1_eth2_{name}"] == value
    assert metrics["h1_eth0_peak_bytes"] == 0
    assert metrics["peak_bytes"] == metrics["s1_eth2_peak_bytes"]
    known = {metric.name: metric for metric in both.metrics}
    assert metrics.keys() <= known.keys()
    assert known["s1_eth2_drops"].title == "s1-eth2 drops"
    assert known["drops"].title == "drops, sum of 2 interfaces"
    source = known["s1_eth2_drops"].source
    assert source is not None
    assert source.describe().endswith("; the rows of interface s1-eth2")


def test_one_target_has_no_prefix_and_very_many_have_none_of_their_own() -> None:
    assert RATE.metrics == Rate.target_metrics
    many = Rate(name="rate", of=tuple(f"s1-eth{number}" for number in range(MAX_SEPARATE + 1)))
    assert [metric.name for metric in many.metrics] == [one.name for one in Rate.target_metrics]
    assert many.metrics[0].title == "received, sum of 17 interfaces"


def test_targets_whose_names_differ_in_marks_only_have_metrics_of_different_names() -> None:
    flows = Tcp(name="tcp", of=("a-b", "a_b"))
    names = [metric.name for metric in flows.metrics]
    assert len(set(names)) == len(names)
    assert {"a_b_retransmits", "a_b_2_retransmits", "retransmits"} <= set(names)
    titles = {metric.name: metric.title for metric in flows.metrics}
    assert titles["retransmits"] == "retransmissions, over 2 flows"


def test_a_socket_that_has_ended_tells_its_last_counts_once() -> None:
    ends = [row for row in rows(TCP) if row["state"] == ENDED]
    assert {row["end"] for row in ends} == {"sender", "receiver"}
    assert len(ends) == 2
    for row in ends:
        own = [one for one in rows(TCP) if one["end"] == row["end"]]
        assert own[-1] == row
        assert all(one["bytes_received"] <= row["bytes_received"] for one in own)
    (received,) = (row["bytes_received"] for row in ends if row["end"] == "receiver")
    # The stream begins with a name of 37 bytes.
    assert received == BULK.report(DATA).totals["received_bytes"] + 37


def test_a_capture_knows_the_window_in_bytes() -> None:
    found = rows(WINDOW)
    syn_acks = [row for row in found if row["flags"] == "SA"]
    assert len(syn_acks) == 2  # control and data
    assert all(row["window_shift"] == 0 for row in syn_acks)
    metrics = WINDOW.measure(table(WINDOW))
    assert metrics["window_bytes"] == metrics["window_raw"] * 2 ** metrics["window_shift"]
    assert metrics["window_bytes"] > 1_000_000
    assert found[0]["source"] == "10.0.0.2"
    assert 0 < found[0]["time_s"] < 0.1


def test_the_window_in_a_capture_is_the_one_that_the_kernel_tells() -> None:
    sender = [row for row in rows(TCP) if row["end"] == "sender"]
    captured = rows(WINDOW)
    end_s = captured[-1]["time_s"]
    told = {row["send_window_bytes"] for row in sender if row["time_s"] < end_s}
    assert told
    assert told <= {row["window_bytes"] for row in captured}


@pytest.mark.parametrize("probe", [QUEUE, TCP, RATE, WINDOW])
def test_a_missing_file_is_reported(probe: Probe, tmp_path: Path) -> None:
    shutil.copy(DATA / "bulk.client.json", tmp_path)
    with pytest.raises(MachineError, match=probe.name):
        table(probe, tmp_path)


def test_a_cut_capture_is_reported(tmp_path: Path) -> None:
    (tmp_path / "window.pcap").write_bytes((DATA / "window.pcap").read_bytes()[:10])
    with pytest.raises(MachineError, match=r"window\.pcap: not a whole capture"):
        table(WINDOW, tmp_path)
