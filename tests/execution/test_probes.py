"""Probes on real machines: they see what is there, and change nothing (law 3 of the design)."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.analysis.advice.flow_evidence import collect_evidence
from longfat.analysis.timeseries.curves import RunCurves
from longfat.errors import InputError, MachineError
from longfat.execution import run_case
from longfat.execution.runs import Run, load_run
from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE, Host, Link, Network, Switch
from longfat.model.probes import Capture, Queue, Rate, Tcp
from longfat.model.probes.queue import the_queue
from longfat.model.traffic import Iperf3, Ping, Program
from tests.kernels import KERNELS

MakeCase = Callable[..., Case]
SHAPED = (
    "tc qdisc add dev s1-eth2 root handle 1: netem delay 10ms",
    "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 50mbit burst 50000 limit 250000",
)
LOSSY = (SHAPED[0] + " loss 1%", SHAPED[1])
BULK = Iperf3(name="bulk", source="h1", target="h2", time_s=5.0)
EIGHT = dataclasses.replace(BULK, parallel=8, congestion="reno")
PACED = dataclasses.replace(BULK, congestion="bbr")
PING = Ping(name="rtt", source="h1", target="h2", count=50, interval_s=0.1)
QUEUE = Queue(name="queue", of=("s1-eth2",), every_s=0.01)
TCP = Tcp(name="tcp", of=("bulk",), every_s=0.01)
RATE = Rate(name="rate", of=("s1-eth2", "h1-eth0"), every_s=0.1)


def run(case: Case, name: str, out: Path) -> Run:
    return run_case(case, name=name, out=out)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("root", "flow"),
    [(SHAPED, BULK), (LOSSY, EIGHT), (LOSSY, PACED)],
    ids=["queue overflows", "eight lossy streams", "lossy bbr"],
)
def test_looking_changes_nothing(
    root: tuple[str, ...], flow: Iperf3, kernel: str, make_case: MakeCase, tmp_path: Path
) -> None:
    case = make_case(flow, PING, root=root, kernel=kernel)
    bare = run(case, "bare", tmp_path)
    probed = run(dataclasses.replace(case, probes=(QUEUE, TCP, RATE)), "probed", tmp_path)
    for path in bare.raw.iterdir():
        assert path.read_bytes() == (probed.raw / path.name).read_bytes(), path.name
    assert probed.metrics["queue.peak_bytes"] > 0
    # iperf3 counts until the end of its test, and the kernel until that of the connection.
    told = probed.metrics["bulk.retransmits"]
    assert told <= probed.metrics["tcp.retransmits"] == pytest.approx(told, rel=0.05)


@pytest.mark.parametrize("kernel", KERNELS)
def test_sockets_that_end_meanwhile_change_nothing(
    kernel: str, make_case: MakeCase, tmp_path: Path
) -> None:
    # A kernel that tells of a socket's end destroys it in another place than one that does not.
    short = dataclasses.replace(EIGHT, time_s=None, bytes=1_000_000)
    flows = [
        dataclasses.replace(short, name=f"bulk{number}", start_s=start_s)
        for number, start_s in enumerate((0.0, 0.1, 0.4, 1.5))
    ]
    case = make_case(*flows, PING, root=LOSSY, kernel=kernel)
    tcp = dataclasses.replace(TCP, of=tuple(flow.name for flow in flows))
    bare = run(case, "bare", tmp_path)
    probed = run(dataclasses.replace(case, probes=(tcp,)), "probed", tmp_path)
    for path in bare.raw.iterdir():
        assert path.read_bytes() == (probed.raw / path.name).read_bytes(), path.name
    rows = probed.series("tcp").to_pylist()
    assert sum(row["state"] == "close" for row in rows) == 2 * 8 * len(flows)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("hosts", [4, 12])
def test_looking_changes_nothing_in_a_larger_network(
    hosts: int, kernel: str, tmp_path: Path
) -> None:
    # Each host has sockets of its own to be looked at by, and their number can matter.
    names = [f"h{number}" for number in range(1, hosts + 1)]
    network = Network(
        hosts=tuple(Host(name=name, address=f"10.0.0.{name[1:]}/8") for name in names),
        switches=(Switch(name="s1"),),
        links=tuple(Link(a=name, b="s1") for name in names),
    )
    setup = tuple(Command(node=ROOT_NAMESPACE, line=line) for line in LOSSY)
    bare = Case(
        kernel=kernel,
        network=network,
        setup=setup,
        flows=(BULK,),
        seed=1,
        memory_bytes=512 << 20,
    )
    everywhere = Rate(name="rate", of=tuple(f"{name}-eth0" for name in names), every_s=0.1)
    probed = dataclasses.replace(bare, probes=(QUEUE, TCP, everywhere))
    first, second = run(bare, "bare", tmp_path), run(probed, "probed", tmp_path)
    for path in first.raw.iterdir():
        assert path.read_bytes() == (second.raw / path.name).read_bytes(), path.name


def test_a_probed_run_repeats_and_its_series_have_every_tick(
    make_case: MakeCase, tmp_path: Path
) -> None:
    probes = (
        QUEUE,
        TCP,
        RATE,
        Capture(name="packets", of="h1-eth0", filter="tcp and src host 10.0.0.2"),
    )
    case = dataclasses.replace(make_case(BULK, root=SHAPED), probes=probes)
    first, again = run(case, "first", tmp_path), run(case, "again", tmp_path)
    assert first.digest == again.digest
    first = load_run(first.folder)
    *ticks, end_s = sorted({row["time_s"] for row in first.series("queue").to_pylist()})
    traffic_end_s = first.flow_times["bulk"].end_s
    assert ticks == pytest.approx([0.01 * tick for tick in range(int(traffic_end_s / 0.01) + 1)])
    assert end_s == pytest.approx(traffic_end_s, abs=1e-4)
    sent = [r for r in first.series("rate").to_pylist() if r["interface"] == "s1-eth2"]
    assert sent[-1]["tx_bytes"] * 8 / end_s == pytest.approx(50e6, rel=0.1)
    assert first.metrics["packets.packets"] == first.series("packets").num_rows > 100
    assert first.flow_times["bulk"].start_s == pytest.approx(0, abs=1e-3)
    # One look at the kernel and one at the wire tell the same window.
    sender = [r for r in first.series("tcp").to_pylist() if r["end"] == "sender"]
    assert first.metrics["packets.window_bytes"] >= max(r["send_window_bytes"] for r in sender)


def test_a_capture_has_all_packets_to_the_last(make_case: MakeCase, tmp_path: Path) -> None:
    # Less than a block of tcpdump's, and the flow ends with the case.
    flow = Iperf3(name="bulk", source="h1", target="h2", time_s=1.0, udp=True, rate_bps=1_000_000)
    probe = Capture(name="packets", of="h1-eth0", filter="udp and src host 10.0.0.1")
    found = run(dataclasses.replace(make_case(flow), probes=(probe,)), "case", tmp_path)
    report = json.loads((found.raw / "bulk.client.json").read_text())
    sent = report["end"]["sum"]["packets"]
    assert sent > 30
    # iperf3 sends one datagram before, to connect, and may send one at its end.
    assert sent < found.metrics["packets.packets"] <= sent + 3


# One packet a drop and a drop a packet, and all of them before the first second is over.
ALL_AT_ONCE = (
    SHAPED[0],
    "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 50mbit burst 50000 limit 60000",
    "ip netns exec h1 ip link set h1-eth0 gso_max_segs 1",
    "(sleep 6.5; tc -s qdisc show dev s1-eth2 > /run/tc.txt) > /dev/null 2>&1 &",
)


@pytest.mark.parametrize("kernel", KERNELS)
def test_counters_count_from_the_traffics_start_to_its_end(
    kernel: str, make_case: MakeCase, tmp_path: Path
) -> None:
    short = Iperf3(name="bulk", source="h1", target="h2", bytes=3_000_000)
    after = dataclasses.replace(PING, count=6, interval_s=1.0)
    once, fine = (
        (
            Queue(name=f"queue{name}", of=("s1-eth2",), every_s=every_s),
            Tcp(name=f"tcp{name}", of=("bulk",), every_s=every_s),
            Rate(name=f"rate{name}", of=("s1-eth2",), every_s=every_s),
        )
        for name, every_s in (("", 2.0), ("-fine", 0.001))
    )
    said = Program(name="tc", source="h1", target="h2", run="cat /run/tc.txt", start_s=4.7)
    case = make_case(short, after, said, root=ALL_AT_ONCE, kernel=kernel)
    done = run(dataclasses.replace(case, probes=(*once, *fine)), "x", tmp_path)
    # What the tools themselves counted.
    (count,) = set(re.findall(r"dropped (\d+)", (done.raw / "tc.client.txt").read_text()))
    dropped = int(count)
    assert dropped > 50
    assert done.metrics["bulk.retransmits"] == dropped
    assert done.flow_times["bulk"].end_s < 2

    end_s = done.flow_times["rtt"].end_s
    for name in ("", "-fine"):
        assert done.metrics[f"queue{name}.drops"] == dropped
        assert done.metrics[f"tcp{name}.retransmits"] == dropped
        (sent,) = set(re.findall(r"Sent (\d+) bytes", (done.raw / "tc.client.txt").read_text()))
        counted = done.metrics[f"rate{name}.tx_bps"] * end_s / 8
        assert counted == pytest.approx(int(sent), rel=0.001)
        grid = 0.001 if name else 2.0
        times_s = times_of(done, f"queue{name}")
        assert times_s[:2] == [0, grid]
        assert times_s[-1] == pytest.approx(end_s, abs=1e-4)
    # A mean over time is one: the sample of the end stands for 11 ms and not for a second.
    rows = the_queue(done.series("queue-fine")).to_pylist()
    whole = sum(row["backlog_bytes"] for row in rows) * 0.001
    assert done.metrics["queue-fine.mean_bytes"] == pytest.approx(whole / end_s, rel=0.001)
    curves = RunCurves(done)
    (drawn,) = curves.curves("queue")
    assert list(drawn.times_s) == times_of(done, "queue")
    assert len(curves.even_values(drawn)) == len(times_of(done, "queue")) - 2


def times_of(run: Run, probe: str) -> list[float]:
    return sorted(set(run.series(probe)["time_s"].to_pylist()))


def test_what_short_connections_counted_is_counted(make_case: MakeCase, tmp_path: Path) -> None:
    """What streams counted after their last sample is told at their end, each once."""
    short = Iperf3(name="bulk", source="h1", target="h2", bytes=8_000_000, parallel=4)
    more = dataclasses.replace(short, name="more", after="bulk", start_s=2.0)
    flows = (short, more, dataclasses.replace(PING, count=100))
    probes = (
        Tcp(name="tcp", of=("bulk", "more"), every_s=1.0),
        Queue(name="queue", of=("s1-eth2",), every_s=1.0),
    )
    small = (SHAPED[0], SHAPED[1].replace("limit 250000", "limit 60000"))
    case = dataclasses.replace(make_case(*flows, root=small), probes=probes)
    done = run(case, "x", tmp_path)
    rows = done.series("tcp").to_pylist()
    for flow in ("bulk", "more"):
        ends = [row for row in rows if row["flow"] == flow and row["state"] == "close"]
        assert len(ends) == 8
        received = sum(row["bytes_received"] for row in ends if row["end"] == "receiver")
        # Each stream begins with a name of 37 bytes, and the kernel counts a FIN that has come.
        rest = received - done.metrics[f"{flow}.received_bytes"]
        assert 4 * 37 <= rest <= 4 * 38
    told = done.metrics["bulk.retransmits"] + done.metrics["more.retransmits"]
    assert done.metrics["tcp.retransmits"] >= told
    # To each flow the diagnosis gives the drops of its time.
    seen = [collect_evidence(done, flow).queue for flow in flows[:2]]
    drops = [0 if queue is None else queue.drops for queue in seen]
    assert min(drops) > 0
    assert sum(drops) == done.metrics["queue.drops"]


def test_a_filter_that_tcpdump_refuses_fails_the_case(make_case: MakeCase, tmp_path: Path) -> None:
    wrong = Capture(name="odd", of="h1-eth0", filter="tcp porridge 80")
    case = dataclasses.replace(make_case(PING), probes=(wrong,))
    with pytest.raises(InputError, match=r"probe 'odd': `ip netns exec h1 tcpdump .* syntax error"):
        run(case, "x", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_capture_that_fails_for_another_cause_is_no_bad_input(
    make_case: MakeCase, tmp_path: Path
) -> None:
    probe = Capture(name="gone", of="h1-eth0", filter="icmp")
    rename = Command(node="h1", line="ip link set h1-eth0 down && ip link set h1-eth0 name other")
    case = dataclasses.replace(make_case(PING), setup=(rename,), probes=(probe,))
    with pytest.raises(MachineError, match=r"probe 'gone': .* No such device"):
        run(case, "x", tmp_path)


def test_a_series_that_is_not_there_is_told(make_case: MakeCase, tmp_path: Path) -> None:
    case = dataclasses.replace(make_case(PING), probes=(QUEUE,))
    done = run(case, "x", tmp_path)
    with pytest.raises(InputError, match="no probe 'tcp' in this run; its probes: queue"):
        done.series("tcp")
    path = done.folder / "series/queue.parquet"
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match=r"queue\.parquet: damaged: it has 50 bytes"):
        done.series("queue")
    path.unlink()
    with pytest.raises(InputError, match=r"queue\.parquet: damaged: it is missing"):
        done.series("queue")
