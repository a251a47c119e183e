"""What a flow's packets go through, by what is installed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from longfat.common.decoding import decode
from longfat.errors import InputError
from longfat.model.flow_path.installed import (
    HeaderMatch,
    InstalledClass,
    InstalledFilter,
    InstalledInterface,
    InstalledNode,
    InstalledQdisc,
    PackedInstalled,
    Policer,
    Snapshot,
    differences,
    pack,
    snapshots,
)
from longfat.model.flow_path.installed_path import (
    Packets,
    Passage,
    arriving,
    leaving,
    queue_of,
    total_rate,
)

FLOW = Packets(source="10.0.1.1", target="10.0.2.1", transport=6, target_port=5201)
HTB = InstalledQdisc(kind="htb", handle="1:", parent="root", parameters={"default": 0x30})
TBF = InstalledQdisc(
    kind="tbf", handle="1:", parent="root", rate_bps=10e6, burst_bytes=1600, limit_bytes=9000
)
TO_SERVER = (
    HeaderMatch(offset=16, mask=0xFFFFFFFF, value=0x0A000201),
    HeaderMatch(offset=20, mask=0xFFFF, value=5201),
)


def htb_class(
    handle: str, rate_bps: float, *, parent: str = "root", sent: int = 0
) -> InstalledClass:
    return InstalledClass(
        kind="htb", handle=handle, parent=parent, rate_bps=1e6, ceil_bps=rate_bps, sent_bytes=sent
    )


CLASSES = (
    htb_class("1:1", 90e6),
    htb_class("1:10", 12e6, parent="1:1"),
    htb_class("1:30", 50e6, parent="1:1"),
)


def u32(target: str, *matches: HeaderMatch, priority: int = 1) -> InstalledFilter:
    return InstalledFilter(
        kind="u32", parent="1:", priority=priority, protocol=0x800, target=target, matches=matches
    )


def snapshot(*interfaces: InstalledInterface) -> Snapshot:
    return Snapshot(0.0, {("r1", each.name): each for each in interfaces}, {}, {})


def passage(interface: InstalledInterface, packets: Packets = FLOW) -> Passage:
    now = snapshot(interface)
    return leaving("r1", interface.name, packets, now=now, counted=now)


def interface(*qdiscs: InstalledQdisc, **others: object) -> InstalledInterface:
    return replace(InstalledInterface(name="r1-eth1", qdiscs=qdiscs), **others)  # type: ignore[arg-type]


def test_default_class_without_filters() -> None:
    found = passage(interface(HTB, classes=CLASSES))
    assert (found.rate_bps, found.limited_by) == (50e6, "htb 1:30")
    assert found.queue is not None
    assert (found.queue.kind, found.queue.limit_packets) == ("pfifo", 1000)


def test_no_default_class_means_no_limit() -> None:
    direct = replace(HTB, parameters={"default": 0})
    assert passage(interface(direct, classes=CLASSES)).rate_bps is None


@pytest.mark.parametrize(
    ("filters", "rate_bps"),
    [
        pytest.param((u32("1:10", *TO_SERVER),), 12e6, id="it matches"),
        pytest.param(
            (u32("1:10", HeaderMatch(offset=16, mask=0xFFFFFFFF, value=1)),),
            50e6,
            id="another address",
        ),
        pytest.param(
            (u32("1:30", *TO_SERVER, priority=2), u32("1:10", *TO_SERVER)), 12e6, id="by priority"
        ),
        pytest.param((replace(u32("1:10", *TO_SERVER), protocol=0x86DD),), 50e6, id="IPv6 only"),
        pytest.param(
            (u32("1:1"), replace(u32("1:10"), parent="1:1")), 12e6, id="by an inner class"
        ),
        pytest.param((u32("1:1"),), 50e6, id="an inner class without filters"),
    ],
)
def test_class_by_filters(filters: tuple[InstalledFilter, ...], rate_bps: float) -> None:
    found = passage(interface(HTB, classes=CLASSES, filters=filters))
    assert (found.rate_bps, found.unknown_rate) == (rate_bps, "")


BY_MARK = replace(u32("1:10"), kind="fw", matches=None)
BY_SOURCE_PORT = u32("1:10", HeaderMatch(offset=20, mask=0xFFFF0000, value=4000 << 16))


@pytest.mark.parametrize("filters", [(BY_MARK,), (BY_SOURCE_PORT,)])
def test_class_by_counters(filters: tuple[InstalledFilter, ...]) -> None:
    sent = (CLASSES[0], replace(CLASSES[1], sent_bytes=10**8), replace(CLASSES[2], sent_bytes=99))
    found = passage(interface(HTB, classes=sent, filters=filters))
    assert (found.rate_bps, found.limited_by) == (12e6, "htb 1:10")


def test_class_that_is_not_known_has_the_rate_of_the_root() -> None:
    found = passage(interface(HTB, classes=CLASSES, filters=(BY_MARK,)))
    assert (found.rate_bps, found.limited_by) == (90e6, "htb 1:")
    below = InstalledQdisc(kind="netem", handle="10:", parent="1:10", delay_s=0.1)
    found = passage(interface(HTB, below, classes=CLASSES, filters=(BY_MARK,)))
    assert "it is not known in which of them" in found.unknown_delay


def test_classes_without_any_rate_are_said_not_to_be_known() -> None:
    hfsc = InstalledQdisc(kind="hfsc", handle="1:", parent="root", parameters={"default": 1})
    classes = tuple(
        InstalledClass(kind="hfsc", handle=handle, parent=parent, rate_bps=1e6, ceil_bps=ceil)
        for handle, parent, ceil in (("1:", "root", None), ("1:1", "1:", None), ("1:2", "1:", 5e6))
    )
    found = passage(interface(hfsc, classes=classes, filters=(replace(BY_MARK, target="1:2"),)))
    assert "`hfsc 1: at r1-eth1` has classes" in found.unknown_rate
    assert passage(interface(hfsc, classes=classes)).rate_bps is None
    limited = replace(hfsc, parameters={"default": 2})
    assert passage(interface(limited, classes=classes)).rate_bps == 5e6


def test_queue_and_delay_below_a_class() -> None:
    netem = InstalledQdisc(
        kind="netem", handle="100:", parent="1:30", limit_packets=1000, delay_s=0.2, loss=0.01
    )
    found = passage(interface(HTB, netem, classes=CLASSES))
    assert (found.delay_s, found.loss) == pytest.approx((0.2, 0.01))
    assert found.queue is not None
    assert (found.queue.kind, found.queue.handle, found.queue.limit_packets) == (
        "netem",
        "100:",
        1000,
    )


def test_queue_below_a_bucket() -> None:
    red = InstalledQdisc(
        kind="red", handle="2:", parent="1:1", limit_bytes=400, parameters={"min_bytes": 3}
    )
    found = passage(interface(TBF, red))
    assert (found.rate_bps, found.limited_by, found.burst_bytes) == (10e6, "tbf 1:", 1600)
    assert found.queue is not None
    assert (found.queue.kind, found.queue.limit_bytes) == ("red", 400)
    assert found.queue.parameters == {"min_bytes": 3}
    assert queue_of(interface(TBF, red)) == found.queue


def test_rate_of_each_stream() -> None:
    fq = InstalledQdisc(kind="fq", handle="1:", parent="root", rate_bps=5e6, limit_packets=10000)
    found = passage(interface(fq))
    assert (found.rate_bps, found.stream_bps) == (None, 5e6)
    assert total_rate(interface(fq)) is None


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("trace", "follows a trace"), ("plug", "of a kind that is not known")],
)
def test_what_is_not_known_has_a_reason(kind: str, reason: str) -> None:
    found = passage(interface(InstalledQdisc(kind=kind, handle="1:", parent="root")))
    assert reason in found.unknown_rate
    assert reason in found.unknown_delay


def policed(*matches: HeaderMatch, **changes: object) -> InstalledInterface:
    policer = Policer(rate_bps=2e6, burst_bytes=20000)
    each = InstalledFilter(kind="flower", parent="ingress", matches=matches, policer=policer)
    return InstalledInterface(name="r1-eth0", filters=(replace(each, **changes),))  # type: ignore[arg-type]


def policers(at: InstalledInterface) -> list[tuple[str, float]]:
    found = arriving("r1", "r1-eth0", FLOW, now=snapshot(at))
    return [(each.direction, each.rate_bps) for each in found.policers]


def test_policer_of_what_arrives() -> None:
    assert policers(policed()) == [("ingress", 2e6)]
    assert policers(policed(*TO_SERVER)) == [("ingress", 2e6)]
    assert policers(policed(HeaderMatch(offset=20, mask=0xFFFF, value=80))) == []
    assert policers(policed(policer=Policer(rate_bps=2e6, burst_bytes=1, drops=False))) == []
    found = arriving("r1", "r1-eth0", FLOW, now=snapshot(policed(kind="unknown", matches=None)))
    assert "is not known" in found.unknown_rate


def test_redirection_of_what_arrives() -> None:
    ifb = InstalledInterface(name="ifb0", qdiscs=(TBF,))
    now = snapshot(policed(policer=None, redirect="ifb0"), ifb)
    assert arriving("r1", "r1-eth0", FLOW, now=now).rate_bps == 10e6


def test_policer_at_a_qdisc_and_at_egress() -> None:
    policer = Policer(rate_bps=2e6, burst_bytes=20000)
    each = InstalledFilter(kind="matchall", parent="1:", policer=policer, target="1:10")
    found = passage(interface(HTB, classes=CLASSES, filters=(each,)))
    assert [one.direction for one in found.policers] == ["1:"]
    assert found.rate_bps == 12e6
    out_of = replace(each, parent="egress", target="")
    found = passage(interface(HTB, classes=CLASSES, filters=(out_of,)))
    assert [one.direction for one in found.policers] == ["egress"]
    assert total_rate(interface(HTB, classes=CLASSES, filters=(out_of,))) == 2e6


def test_addresses_that_are_not_known_match_nothing_for_certain() -> None:
    found = passage(interface(HTB, classes=CLASSES, filters=(u32("1:10", *TO_SERVER),)), Packets())
    assert found.limited_by == "htb 1:"


NODES = (
    InstalledNode(
        at_s=0.0,
        node="root",
        interfaces=(interface(TBF), replace(interface(TBF), name="s1-eth1")),
        sysctls={"net.ipv4.tcp_sack": "1"},
    ),
    InstalledNode(at_s=0.0, node="r1", sysctls={"net.ipv4.tcp_ecn": "1"}),
    InstalledNode(at_s=2.0, node="root", interfaces=(InstalledInterface(name="r1-eth1"),)),
)


def test_manifest_has_once_what_interfaces_have_in_common() -> None:
    packed = pack(NODES)
    assert len(packed["contents"]) == 2
    assert decode(PackedInstalled, packed, where="x").unpack() == NODES
    packed["nodes"][0]["interfaces"]["r1-eth1"] = 2
    with pytest.raises(InputError, match="an interface has none of the contents"):
        decode(PackedInstalled, packed, where="x")


def test_time_that_is_impossible() -> None:
    packed = pack(NODES)
    packed["nodes"][0]["at_s"] = 1e99
    with pytest.raises(InputError, match="impossible time"):
        decode(PackedInstalled, packed, where="x")


def test_classes_in_a_circle() -> None:
    circle = (htb_class("1:30", 5e6, parent="1:31"), htb_class("1:31", 9e6, parent="1:30"))
    assert passage(interface(HTB, classes=circle, filters=(u32("1:31"),))).rate_bps is not None


def test_snapshots() -> None:
    first, then = snapshots(NODES)
    assert (first.at_s, then.at_s) == (0.0, 2.0)
    assert first.interface("root", "r1-eth1").qdiscs == (TBF,)
    assert then.interface("root", "r1-eth1") == InstalledInterface(name="r1-eth1")
    assert then.interface("root", "s1-eth1").qdiscs == (TBF,)
    assert then.sysctl("r1", "net.ipv4.tcp_sack") == "1"
    assert then.sysctl("h9", "net.ipv4.tcp_sack") == "1"
    assert then.sysctl("root", "net.ipv4.tcp_ecn") is None


def test_only_differences_are_kept() -> None:
    again = replace(NODES[0], at_s=1.0)
    classes = replace(interface(HTB, classes=CLASSES), name="s9-eth1")
    begin = replace(NODES[0], interfaces=(*NODES[0].interfaces, classes))
    counted = replace(classes, classes=(replace(CLASSES[0], sent_bytes=5), *CLASSES[1:]))
    meanwhile = InstalledNode(at_s=1.5, node="root", interfaces=(counted,))
    end = InstalledNode(at_s=2.0, node="root", interfaces=(counted,))
    assert list(differences([begin, NODES[1], again, meanwhile, end])) == [begin, NODES[1], end]
