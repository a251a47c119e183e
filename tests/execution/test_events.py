"""Events on real machines: they happen at their times, the same each time, watched or not."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import pytest

from longfat.errors import InputError, Place
from longfat.execution import run_case
from longfat.execution.runs import Run, load_run
from longfat.model.case import Case, CasePlaces
from longfat.model.events import Event, LinkChange, PropertyChange, TypedLine
from longfat.model.network import Host, Link, LinkImpairments, Network, Switch
from longfat.model.probes import Queue, Tcp
from longfat.model.traffic import Flow, Iperf3, Ping, Transfer
from tests.kernels import KERNELS

NETWORK = Network(
    hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
    switches=(Switch(name="s1"), Switch(name="s2")),
    links=(
        Link(a="h1", b="s1"),
        Link(a="s1", b="s2", a_to_b=LinkImpairments(rate_bps=20_000_000, delay_s=0.01)),
        Link(a="s2", b="h2"),
    ),
)
BULK = Transfer(name="bulk", source="h1", target="h2", time_s=8.0)
PING = Ping(name="rtt", source="h1", target="h2", count=900, interval_s=0.01)
QUEUE = Queue(name="queue", of=("s1-eth2",), every_s=0.01)
TCP = Tcp(name="tcp", of=("bulk",), every_s=0.01)


def to(shape: LinkImpairments) -> PropertyChange:
    return PropertyChange(given=shape)


SLOWER = LinkChange(
    at_s=3.0, for_s=2.0, a="s1", b="s2", a_to_b=to(LinkImpairments(rate_bps=5_000_000))
)
DOWN = LinkChange(at_s=4.0, for_s=2.0, a="s1", b="s2", down=True)


def run(
    out: Path, *flows: Flow, events: tuple[Event, ...], kernel: str = "6.1", **more: object
) -> Run:
    case = Case(kernel=kernel, network=NETWORK, flows=flows, events=events, memory_bytes=512 << 20)
    case = dataclasses.replace(case, **more)  # type: ignore[arg-type]
    return run_case(case, name="case", out=out)


def rates_bps(found: Run) -> dict[float, float]:
    """Return what left the bottleneck in each 10 ms, in bit/s, by the end of that time."""
    table = found.series("queue").to_pylist()
    sent = [(row["time_s"], row["sent_bytes"]) for row in table if row["qdisc"] == "wire"]
    return {
        round(now_s, 2): (after - before) * 8 / (now_s - then_s)
        for (then_s, before), (now_s, after) in itertools.pairwise(sent)
    }


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_rate_changes_at_its_time(kernel: str, tmp_path: Path) -> None:
    found = run(tmp_path, BULK, events=(SLOWER,), probes=(QUEUE,), kernel=kernel)
    assert [(time.at_s, time.words) for time in found.event_times] == [
        (3.0, "s1 → s2: 5 Mbit/s"),
        (5.0, "s1 → s2: 20 Mbit/s"),
    ]
    rates = rates_bps(found)
    packet_bps = 2 * 1514 * 8 / 0.01  # two packets more or less in 10 ms
    for end_s, rate_bps in ((2.99, 20e6), (3.0, 20e6), (3.02, 5e6), (4.99, 5e6), (5.02, 20e6)):
        assert rates[end_s] == pytest.approx(rate_bps, abs=packet_bps), end_s
    assert rates[3.01] == pytest.approx(5e6, abs=packet_bps)
    script = (found.folder / "commands.sh").read_text().splitlines()
    at = script.index("# t=5.000000")
    assert script[at - 1] == "sleep 3"
    assert script[at + 1].startswith(
        "tc qdisc change dev s1-eth2 parent 1: handle 2: wire rate 5mb"
    )
    assert load_run(found.folder).event_times == found.event_times


def test_nothing_passes_a_link_that_is_down(tmp_path: Path) -> None:
    found = run(tmp_path, PING, events=(DOWN,), probes=(QUEUE,))
    rates = rates_bps(found)
    assert {rate for end_s, rate in rates.items() if 4.01 <= end_s <= 6.0} == {0.0}
    assert min(rate for end_s, rate in rates.items() if 3.0 <= end_s <= 4.0) > 0
    assert max(rate for end_s, rate in rates.items() if 6.0 < end_s <= 6.1) > 0
    # Requests are numbered: none of those that left meanwhile was answered, and all others were.
    lost = set(range(1, 901)) - {reply.sequence for reply in PING.replies(found.raw)}
    assert len(lost) == max(lost) - min(lost) + 1
    assert 399 <= min(lost) <= 402


@pytest.mark.parametrize(
    ("kernel", "streams"), [*((kernel, 1) for kernel in KERNELS), ("6.1", 2), ("7.2", 2)]
)
def test_a_lossy_case_is_the_same_watched_or_not(kernel: str, streams: int, tmp_path: Path) -> None:
    lossy = LinkImpairments(loss=0.01)
    events = (
        LinkChange(at_s=1.0, a="s1", b="s2", a_to_b=to(lossy), b_to_a=to(lossy)),
        SLOWER,
        dataclasses.replace(DOWN, at_s=6.0, for_s=0.5),
        TypedLine(at_s=2.0, every_s=0.5, times=4, node="h1", line="ip route show; sleep 0.1"),
    )
    flow = Iperf3(name="bulk", source="h1", target="h2", time_s=8.0, parallel=streams)
    ping = dataclasses.replace(PING, count=80, interval_s=0.1)
    bare = run(tmp_path / "bare", flow, ping, events=events, kernel=kernel)
    again = run(tmp_path / "again", flow, ping, events=events, kernel=kernel)
    probed = run(tmp_path / "probed", flow, ping, events=events, probes=(QUEUE, TCP), kernel=kernel)
    assert again.digest == bare.digest
    assert again.event_times == bare.event_times == probed.event_times
    sums = {name: one for name, one in bare.files.items() if name.startswith("raw/")}
    assert sums == {name: probed.files[name] for name in sums}
    assert bare.metrics["bulk.retransmits"] > 0


def test_lines_run_in_the_order_of_the_file(tmp_path: Path) -> None:
    flow = dataclasses.replace(PING, count=4, interval_s=1.0)
    lines = ("sleep 0.5; echo one >> /tmp/order", "echo two >> /tmp/order")
    check = '[ "$(tr "\\n" " " < /tmp/order)" = "one two " ]'
    events = (
        *(TypedLine(at_s=1.0, node="h1", line=line) for line in lines),
        TypedLine(at_s=1.6, node="root", line=check),
        TypedLine(at_s=0.25, after="first", node="h1", line="true"),
    )
    first = dataclasses.replace(flow, name="first", count=1)
    found = run(tmp_path, flow, first, events=events)
    times = [time.at_s for time in found.event_times]
    end_s = found.flow_times["first"].end_s
    # To start a program takes some microseconds.
    assert times == pytest.approx([end_s + 0.25, 1.0, 1.5, 1.6], abs=1e-3)
    assert times[1] == 1.0


def test_a_line_that_fails_fails_the_case(tmp_path: Path) -> None:
    events = (
        TypedLine(at_s=0.5, node="h1", line="true"),
        TypedLine(at_s=1.0, node="root", line="tc qdisc change dev s9-eth1 root netem delay 1ms"),
    )
    case = Case(kernel="6.1", network=NETWORK, flows=(BULK,), events=events)
    places = (Place("a.yaml", 8, 3), Place("a.yaml", 9, 3, "events[1].root"))
    with pytest.raises(InputError) as caught:
        run_case(case, name="c", out=tmp_path, places=CasePlaces(events=places))
    assert str(caught.value) == (
        "a.yaml:9:3: events[1].root: case 'c': `tc qdisc change dev s9-eth1 root netem delay 1ms`"
        ' exited with status 1: Cannot find device "s9-eth1"'
    )
    assert list(tmp_path.iterdir()) == []


def test_an_event_after_the_traffic_fails_the_case(tmp_path: Path) -> None:
    flow = Transfer(name="bulk", source="h1", target="h2", bytes=100_000)
    event = TypedLine(at_s=5.0, node="h1", line="true")
    with pytest.raises(InputError, match=r"`ip netns exec h1 true`.* the traffic ended before it"):
        run(tmp_path, flow, events=(event,))
