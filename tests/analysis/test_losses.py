"""The ledger of losses, with real losses of every cause on each kernel."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from longfat.analysis.advice.diagnosis import diagnose
from longfat.analysis.advice.remedied import compare, remedied_case
from longfat.analysis.advice.root_cause import RootCause
from longfat.analysis.loss_causes import _CAUSES, Cause
from longfat.analysis.loss_sections import drop_series, loss_sections
from longfat.analysis.losses import Loss, losses
from longfat.common.decoding import decode
from longfat.errors import InputError
from longfat.execution import run_case
from longfat.execution.runs import Run, load_run
from longfat.execution.runs.packet_drops import PacketDrop
from tests.books import imbalances
from tests.command import longfat
from tests.kernels import KERNELS
from tests.paths import TESTS

# The runs of a kernel are made once.
pytestmark = pytest.mark.xdist_group("losses")

_FORMAT = "/sys/kernel/tracing/events/skb/kfree_skb/format"
STUDY = TESTS / "data" / "losses" / "study.yaml"

# Where most packets of each case are lost, why, by which qdisc, and whether TCP sent again what
# was lost, packet for packet.
EXPECTED = {
    "queue": ("r1-eth1", Cause.QUEUE_FULL, "tbf 1:", True),
    "netem-loss": ("h1-eth0", Cause.NETEM_LOSS, "netem 8:", True),
    "netem-limit": ("r1-eth1", Cause.NETEM_LIMIT, "netem 7:", False),
    "policer": ("r1-eth0", Cause.FILTER, "", True),
    "red": ("r1-eth1", Cause.QUEUE_MANAGEMENT, "red 2:", True),
    "codel": ("r1-eth1", Cause.QUEUE_MANAGEMENT, "fq_codel 2:", True),
    "firewall": ("r1-eth1", Cause.FIREWALL, "", False),
    "mtu": ("r1-eth0", Cause.TOO_LARGE, "", False),
    "burst": ("r1-eth1", Cause.BURST_TOO_SMALL, "tbf 1:", False),
    "corrupt": (None, Cause.CORRUPTED, "", False),
    "hops": ("r1-eth0", Cause.HOP_LIMIT, "", False),
    "no-route": ("r1-eth0", Cause.NO_ROUTE, "", False),
    "no-route-back": (None, Cause.NO_REPLY, "", False),
    "no-neighbour": ("r1-eth1", Cause.NO_NEIGHBOUR, "", False),
    "not-forwarded": ("r1-eth0", Cause.NOT_FORWARDED, "", False),
    "socket-buffer": ("h2-eth0", Cause.SOCKET_BUFFER, "", False),
}


@pytest.fixture(scope="module", params=KERNELS)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out: Path = tmp_path_factory.mktemp("losses")
    done = longfat("run", str(STUDY), "--kernel", request.param, "--out", str(out), cwd=out)
    assert done.returncode == 0, done.stderr
    return out


def played(runs: Path, case: str) -> Run:
    return load_run(runs / f"{case}-seed1")


def lost(run: Run, flow: str | None = None) -> list[Loss]:
    return [loss for loss in losses(run, flow) if loss.cause.is_loss]


def total(found: list[Loss]) -> int:
    return sum(loss.packets for loss in found)


@pytest.mark.parametrize("case", EXPECTED)
def test_place_and_cause(runs: Path, case: str) -> None:
    run = played(runs, case)
    interface, cause, qdisc, is_sent_again = EXPECTED[case]
    found = lost(run, "bulk")
    assert all(loss.node and loss.flow == "bulk" for loss in found if loss.interface)
    mine = [loss for loss in found if loss.cause is cause]
    # A flow loses packets in the queue, too; how many is chance.
    assert total(mine) >= max(total([loss for loss in found if loss.cause is not cause]) / 2, 1)
    if interface is not None:
        assert (mine[0].interface, mine[0].qdisc) == (interface, qdisc)
        assert mine[0].node == interface.partition("-")[0]
    if is_sent_again:
        forward = [loss for loss in found if not loss.is_backward]
        # What the receiver reports to have had already was sent again without a loss.
        spurious = sum(each.count for each in run.counts if each.name == "TCPDSACKRecv")
        again = run.metrics["bulk.retransmits"]
        assert again - spurious - 2 <= total(forward) <= again * 1.02 + 2


def test_both_directions_are_apart(runs: Path) -> None:
    found = lost(played(runs, "netem-loss"), "bulk")
    assert {(loss.interface, loss.is_backward) for loss in found} == {
        ("h1-eth0", False),
        ("r1-eth0", True),
    }


def test_a_netem_and_the_queue_below_it_are_apart(runs: Path) -> None:
    run = played(runs, "netem-and-queue")
    found = lost(run, "bulk")
    assert {(loss.cause, loss.qdisc) for loss in found} == {
        (Cause.NETEM_LOSS, "netem 1:"),
        (Cause.QUEUE_FULL, "tbf 2:"),
    }
    # A packet may be sent again without a loss.
    assert 0 <= run.metrics["bulk.retransmits"] - total(found) <= 3


def test_a_root_cause_has_the_share_of_its_own_packets(runs: Path) -> None:
    run = played(runs, "netem-and-queue")
    (found,) = diagnose(run, "bulk")
    packets = total([loss for loss in lost(run, "bulk") if loss.cause is Cause.NETEM_LOSS])
    match = re.search(rf"{packets} packets at .*, ([\d.]+) % of all", found.verdict)
    assert match
    # netem is set to lose 0.5 %; the queue dropped half as many packets more.
    assert 0.3 < float(match[1]) < 0.7


def test_times_are_those_of_the_traffic(runs: Path) -> None:
    first, *_ = lost(played(runs, "queue"))
    assert 0 <= first.first_s < first.last_s < 3.1
    # 1,500 bytes and no Ethernet header, almost all of them.
    assert 1400 < first.size_bytes / first.packets <= 1500


def test_a_run_without_losses(runs: Path) -> None:
    assert lost(played(runs, "nothing"), "bulk") == []
    done = longfat("losses", str(runs / "nothing-seed1"), "bulk", cwd=runs)
    assert done.stdout == "No packet was lost while the traffic played.\n"


def test_the_command(runs: Path) -> None:
    done = longfat("losses", str(runs / "queue-seed1"), cwd=runs)
    head, row, *_, last = done.stdout.splitlines()
    assert head.split() == ["packets", "at", "cause", "flow", "from", "to"]
    assert row.split()[1:7] == ["r1-eth1", "queue", "full", "(tbf", "1:)", "bulk"]
    assert last == "queue full: the queue held as much as its limit allows"
    done = longfat("losses", str(runs / "queue-seed1"), "bulk", "--json", cwd=runs)
    (entry,) = json.loads(done.stdout)["losses"]
    assert (entry["node"], entry["cause"], entry["is_loss"]) == ("r1", "queue full", True)


@pytest.mark.parametrize(
    ("case", "cause", "sentence", "remedy"),
    [
        (
            "policer",
            RootCause.POLICER,
            "A policer drops what passes its rate of 100 Mbit/s: ",
            "Shape below the policer's rate at the sender",
        ),
        (
            "mtu",
            RootCause.MTU_BLACK_HOLE,
            "Full-size packets of bulk do not get through: ",
            "Let ICMP pass at r1",
        ),
        (
            "burst",
            RootCause.TINY_BURST,
            "were lost, since they are larger than the bucket of tbf (`burst`) and never fit.",
            "The `burst` of tbf 1: must be at least a frame",
        ),
    ],
)
def test_a_diagnosis_says_where_packets_were_lost_and_what_helps(
    runs: Path, case: str, cause: RootCause, sentence: str, remedy: str
) -> None:
    (found,) = diagnose(played(runs, case), "bulk")
    assert found.causes[0].cause is cause
    assert sentence in found.verdict
    assert remedy in found.recommendation.words
    assert not any("bbr" in line.text for line in found.recommendation.lines)


def test_what_is_recommended_for_a_black_hole_helps(runs: Path) -> None:
    run = played(runs, "mtu")
    (found,) = diagnose(run, "bulk")
    assert [line.node for line in found.recommendation.lines] == ["r1"] * 3
    assert [line.text for line in found.recommendation.alternatives] == [
        "sysctl -w net.ipv4.tcp_mtu_probing=1"
    ]
    assert run.metrics.get("bulk.receiver_bps", 0) < 1e6
    # The link carries 50 Mbit/s; the first seconds go by in timeouts, on 7.2 more than on 6.1.
    assert played(runs, "mtu-probed").metrics["bulk.receiver_bps"] > 10e6
    again = run_case(remedied_case(run, found), name="clamped", out=runs)
    checked = compare(run, again, found)
    assert checked.good
    assert again.metrics["bulk.receiver_bps"] > 40e6


def test_datagrams_of_iperf3_are_all_in_the_ledger(runs: Path) -> None:
    run = played(runs, "datagrams")
    assert total(lost(run, "bulk")) > 1000
    assert imbalances(run) == []


def test_losses_between_events(runs: Path) -> None:
    run = played(runs, "events")
    sections = loss_sections(run)
    assert [(each.start_s, each.end_s, each.event) for each in sections[:2]] == [
        (0, 1, ""),
        (1, 3, "h1: tc qdisc add dev h1-eth0 root handle 8: netem loss 2% limit 10000"),
    ]
    assert (sections[2].start_s, sections[2].event) == (3, "h1: tc qdisc del dev h1-eth0 root")
    # The qdisc is no longer there at the end, so its own counters are not, either.
    at_sender = (Cause.NETEM_LOSS, "netem 8:")
    assert [
        {
            (each.cause, each.qdisc)
            for each in section.losses
            if each.interface == "h1-eth0" and each.cause.is_loss
        }
        for section in sections
    ] == [set(), {at_sender}, set()]
    for section in sections:
        assert all(
            section.start_s <= each.first_s <= each.last_s <= section.end_s
            for each in section.losses
            if each.cause.is_loss
        )
    every = [each for section in sections for each in section.losses]
    assert sum(each.packets for each in every) == total(list(losses(run)))
    assert loss_sections(run, "bulk")[0].losses == tuple(
        each for each in sections[0].losses if each.flow == "bulk"
    )
    assert loss_sections(played(runs, "queue")) == ()


def test_drops_of_a_sampled_queue_over_time(runs: Path) -> None:
    run = played(runs, "events")
    (series,) = drop_series(run)
    assert (series.probe, series.interface, series.step_s) == ("queues", "r1-eth1", 0.1)
    assert sum(series.packets) == run.metrics["queues.drops"]
    assert len(series.packets) == 40
    done = longfat("losses", str(runs / "events-seed1"), "bulk", cwd=runs)
    lines = done.stdout.splitlines()
    head = next(line for line in lines if line.split()[:3] == ["from", "to", "since"])
    row = lines[lines.index(head) + 1]
    assert row.split()[:7] == ["0.00", "s", "1.00", "s", "the", "traffic's", "start"]
    assert any(line.startswith("r1-eth1, drops of its queue in each 0.1 s, ") for line in lines)
    done = longfat("losses", str(runs / "events-seed1"), "--json", cwd=runs)
    document = json.loads(done.stdout)
    assert [section["end_s"] for section in document["sections"]][:2] == [1, 3]
    assert document["queue_drops"][0]["packets"] == list(series.packets)


def test_a_flow_that_is_not_there(runs: Path) -> None:
    with pytest.raises(InputError, match="no flow 'other' in this run; its flows: bulk"):
        losses(played(runs, "queue"), "other")
    done = longfat("losses", str(runs / "queue-seed1"), "other", cwd=runs)
    assert (done.returncode, done.stdout) == (2, "")


def test_a_run_whose_kernel_does_not_count() -> None:
    run = load_run(TESTS / "data/runs/many/reversed-seed1")
    with pytest.raises(InputError, match=r"6\.1\.\d+ of this run does not count the packets"):
        losses(run)


@pytest.mark.slow
def test_reasons_are_those_of_kernels() -> None:
    known = set()
    for kernel in KERNELS:
        command = (
            "exec",
            "--kernel",
            kernel,
            "cat",
            "/sys/kernel/tracing/events/skb/kfree_skb/format",
        )
        done = longfat(*command, cwd=Path("/"))
        known |= set(re.findall(r'"(\w+)" *}', done.stdout))
    assert len(known) > 60
    for reason in _CAUSES:
        start = reason.rstrip("*")
        assert any(name == reason or (start != reason and name.startswith(start)) for name in known)


def test_numbers_that_no_kernel_counts_are_refused() -> None:
    fields = {"node": "h1", "interface": "", "reason": "", "function": "", "netem_full": False}
    fields |= {"network": 2048, "transport": 6, "source": "", "target": "", "source_port": 0}
    fields |= {"target_port": 0, "size_bytes": 0, "first_s": 0.0, "last_s": 0.0}
    with pytest.raises(InputError, match="it counts no packets"):
        decode(PacketDrop, {**fields, "packets": 0}, where="drop", error=InputError)
    with pytest.raises(InputError, match="it contains an impossible time"):
        decode(PacketDrop, {**fields, "packets": 1, "last_s": 1e12}, where="drop", error=InputError)
