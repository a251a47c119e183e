"""The lines of `tc` for one direction of a link; what they do is tested in real machines."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.model.case import Case, Command
from longfat.model.fields import Field, fields_of
from longfat.model.flow_path import qdisc_lines, queue_line, shaping
from longfat.model.lint.tc_command import parse_tc
from longfat.model.network import (
    ROOT_NAMESPACE,
    Host,
    Link,
    LinkImpairments,
    Network,
    Switch,
    infer_impairments,
    shape_qdiscs,
    shaped_interfaces,
)
from longfat.model.network.impairments import MAX_BYTES, UNIMPAIRED
from longfat.model.network.qdisc import qdisc_problem
from longfat.model.network.shape import default_queue_bytes, with_buckets
from longfat.model.network.tc import Interface, Qdisc, parse_qdisc

RED = "red limit 1000000 min 30000 max 90000 avpkt 1000 burst 55 probability 1 bandwidth 1gbit"
NETEM = "qdisc add dev x root handle 1: netem limit 1000000000"
NETEM_OPTIONS = [field for field in fields_of(LinkImpairments).values() if field.about.tc]


def built(shape: LinkImpairments, *, mtu_bytes: int = 1500) -> tuple[str, ...]:
    qdiscs = shape_qdiscs(shape, mtu_bytes=mtu_bytes)
    return tuple(line.arguments for line in Interface(name="x", node="h1", qdiscs=qdiscs).lines)


@pytest.mark.parametrize(
    ("shape", "lines"),
    [
        (LinkImpairments(), ()),
        (LinkImpairments(delay_s=0.0, loss=0.0), ()),
        (LinkImpairments(delay_s=0.02), (f"{NETEM} delay 20ms",)),
        (LinkImpairments(delay_s=1.5e-6), (f"{NETEM} delay 1.5us",)),
        (
            LinkImpairments(delay_s=0.02, jitter_s=0.001, loss=1e-4),
            (f"{NETEM} delay 20ms 1ms distribution normal loss 0.01%",),
        ),
        (LinkImpairments(loss=1e-9), (f"{NETEM} loss 0.0000001%",)),
        (
            LinkImpairments(rate_bps=10**10, queue_bytes=25_000_000),
            ("qdisc add dev x root handle 1: wire rate 10gbit limit 25000000",),
        ),
        (
            LinkImpairments(rate_bps=10**10, delay_s=0.02),
            (
                f"{NETEM} delay 20ms",
                "qdisc add dev x parent 1: handle 2: wire rate 10gbit limit 50000000",
            ),
        ),
        (
            LinkImpairments(rate_bps=40_000_000_001),
            ("qdisc add dev x root handle 1: wire rate 40000000001bit limit 50000001",),
        ),
        (
            # An offloaded packet is at most an eighth of a small queue.
            LinkImpairments(rate_bps=10**9, queue_bytes=30_000),
            ("qdisc add dev x root handle 1: wire rate 1gbit limit 30000 cut 3750",),
        ),
        (
            LinkImpairments(rate_bps=10**6),
            ("qdisc add dev x root handle 1: wire rate 1mbit limit 151400 cut 1518",),
        ),
        (
            LinkImpairments(delay_s=0.02, loss=0.01, duplicate=0.02, corrupt=0.003, reorder=0.25),
            (f"{NETEM} delay 20ms loss 1% corrupt 0.3% duplicate 2% reorder 25%",),
        ),
        (
            LinkImpairments(rate_bps=10**9, burst_bytes=64_000, queue_bytes=30_000),
            ("qdisc add dev x root handle 1: tbf rate 1gbit burst 64000 limit 30000",),
        ),
        (
            # The burst and the queue of a token bucket are as they were given.
            LinkImpairments(rate_bps=10**9, burst_bytes=1600, qdisc="fq_codel"),
            (
                "qdisc add dev x root handle 1: tbf rate 1gbit burst 1600 limit 1250000",
                "qdisc add dev x parent 1:1 handle 2: fq_codel",
            ),
        ),
        (LinkImpairments(duplicate=0.5), (f"{NETEM} duplicate 50%",)),
        (
            LinkImpairments(qdisc="pfifo limit 100"),
            ("qdisc add dev x root handle 1: pfifo limit 100",),
        ),
        (
            LinkImpairments(delay_s=0.02, qdisc="fq_codel"),
            (f"{NETEM} delay 20ms", "qdisc add dev x parent 1: handle 2: fq_codel"),
        ),
        (
            LinkImpairments(rate_bps=10**6, qdisc=RED),
            (
                "qdisc add dev x root handle 1: wire rate 1mbit limit 151400 cut 1518",
                f"qdisc add dev x parent 1:1 handle 2: {RED}",
            ),
        ),
        (
            LinkImpairments(rate_bps=10**6, corrupt=0.1, qdisc=RED),
            (
                f"{NETEM} corrupt 10%",
                "qdisc add dev x parent 1: handle 2: wire rate 1mbit limit 151400 cut 1518",
                f"qdisc add dev x parent 2:1 handle 3: {RED}",
            ),
        ),
    ],
)
def test_lines(shape: LinkImpairments, lines: tuple[str, ...]) -> None:
    assert built(shape) == lines
    if any(value for value in asdict(shape).values()):
        assert infer_impairments(shape_qdiscs(shape)) == shape


@pytest.mark.parametrize("field", NETEM_OPTIONS, ids=lambda field: field.key)
def test_an_option_of_netem_follows_from_its_declaration(field: Field) -> None:
    value = field.kind.parse(field.kind.example or "5")
    shape = LinkImpairments(delay_s=0.01, **{field.name: value})
    (netem,) = shape_qdiscs(shape)
    read = parse_qdisc(netem.words.split())
    # A number that tc's syntax has no kind for would be printed without its unit.
    assert read.options == netem.options
    assert infer_impairments([replace(read, handle=netem.handle)]) == shape
    command = parse_tc(["tc", "qdisc", "add", "dev", "x", "root", *netem.words.split()])
    assert command is not None
    assert command.is_complete == (" " not in field.about.tc)


def test_a_packet_of_the_links_own_size_is_not_cut() -> None:
    (line,) = built(LinkImpairments(rate_bps=10**6), mtu_bytes=9000)
    assert line.endswith(" cut 9018")


WIRE_1G = LinkImpairments(rate_bps=10**9)
BUCKET_1G = LinkImpairments(rate_bps=10**9, burst_bytes=10**5)


def chain(*shapes: LinkImpairments, forwarding: bool = False) -> Network:
    """Return a host, as many nodes as there are links but one, and a host."""
    nodes = ["h1", *(f"n{number}" for number in range(1, len(shapes))), "h2"]
    middle = nodes[1:-1]
    return Network(
        hosts=(
            Host(name="h1", address="10.0.0.1/8"),
            Host(name="h2", address="10.0.0.2/8"),
            *(Host(name=name, address=None, forwards=True) for name in middle if forwarding),
        ),
        switches=tuple(Switch(name=name) for name in middle if not forwarding),
        links=tuple(
            Link(a=a, b=b, a_to_b=shape, b_to_a=shape)
            for a, b, shape in zip(nodes, nodes[1:], shapes, strict=False)
        ),
    )


@pytest.mark.parametrize("forwarding", [False, True])
@pytest.mark.parametrize(
    ("shapes", "through"),
    [
        ([WIRE_1G], ""),
        ([WIRE_1G] * 3, "h1-n1 n1-n2 h2-n2 n2-n1"),
        # The only wire: a host is behind it on either side.
        ([UNIMPAIRED, WIRE_1G, UNIMPAIRED], ""),
        # Another wire comes later, or a bucket, which does not wait for the last frame.
        ([WIRE_1G, UNIMPAIRED, WIRE_1G], "h1-n1 h2-n2"),
        ([WIRE_1G, BUCKET_1G], ""),
    ],
)
def test_a_wire_passes_frames_on_where_another_follows(
    shapes: list[LinkImpairments], through: str, forwarding: bool
) -> None:
    network = chain(*shapes, forwarding=forwarding)
    interfaces = iter(shaped_interfaces(network))
    passing = []
    for link in network.links:
        for a, b in ((link.a, link.b), (link.b, link.a)):
            if any(qdisc.get("through") for qdisc in next(interfaces).qdiscs):
                passing.append(f"{a}-{b}")
    assert sorted(passing) == sorted(through.split())


def test_a_wire_completes_packets_where_one_way_ends_at_a_host() -> None:
    hosts = tuple(Host(name=f"h{number}", address=None) for number in (1, 2, 3))
    links = tuple(
        Link(a=host.name, b="s1", a_to_b=shape, b_to_a=shape)
        for host, shape in zip(hosts, (WIRE_1G, WIRE_1G, UNIMPAIRED), strict=True)
    )
    network = Network(hosts=hosts, switches=(Switch(name="s1"),), links=links)
    assert not any(
        qdisc.get("through") for one in shaped_interfaces(network) for qdisc in one.qdiscs
    )


def test_ways_in_a_circle_lead_to_no_host() -> None:
    hosts = tuple(Host(name=name, address=None) for name in ("h1", "h2"))
    links = (
        *(Link(a=a, b=b) for a, b in (("s1", "s2"), ("s2", "s3"), ("s3", "s1"))),
        *(
            Link(a=host, b=switch, a_to_b=WIRE_1G, b_to_a=WIRE_1G)
            for host, switch in (("h1", "s1"), ("h2", "s2"))
        ),
    )
    switches = tuple(Switch(name=f"s{number}") for number in (1, 2, 3))
    network = Network(hosts=hosts, switches=switches, links=links)
    through = [any(q.get("through") for q in one.qdiscs) for one in shaped_interfaces(network)]
    assert through == [False] * 6 + [True, False, True, False]


def test_a_queue_of_no_given_size() -> None:
    assert default_queue_bytes(LinkImpairments(rate_bps=10**9, delay_s=0.05)) == 12_500_000
    assert default_queue_bytes(LinkImpairments(rate_bps=10**9)) == 1_250_000
    assert default_queue_bytes(LinkImpairments(rate_bps=10**14, delay_s=1.0)) == MAX_BYTES
    with pytest.raises(ValueError, match="needs a rate"):
        default_queue_bytes(LinkImpairments(delay_s=1.0))


@given(
    rate_bps=st.none() | st.integers(8, 10**13),
    delay_s=st.none() | st.integers(1, 10**12).map(lambda ns: ns / 1e9),
    jitter_s=st.none() | st.integers(1, 10**9).map(lambda ns: ns / 1e9),
    loss=st.none() | st.integers(1, 10**6).map(lambda millionths: millionths / 1e6),
    queue_bytes=st.none() | st.integers(1518, MAX_BYTES),
)
def test_what_qdiscs_say_is_what_was_asked_for(
    rate_bps: int | None,
    delay_s: float | None,
    jitter_s: float | None,
    loss: float | None,
    queue_bytes: int | None,
) -> None:
    shape = LinkImpairments(
        rate_bps=rate_bps,
        delay_s=delay_s,
        jitter_s=jitter_s,
        loss=loss,
        queue_bytes=queue_bytes if rate_bps else None,
    )
    plain = Interface(name="s1-eth1", node=ROOT_NAMESPACE)
    lines = replace(plain, qdiscs=shape_qdiscs(shape)).lines
    assert qdisc_lines(replace(plain, qdiscs=shape_qdiscs(shape)), []) == [*lines]
    # The same lines, as a person would type them.
    typed = [Command(node=ROOT_NAMESPACE, line=str(line)) for line in lines]
    assert qdisc_lines(plain, typed) == [*lines]
    read = shaping(lines)
    assert read.rate_bps == rate_bps
    assert read.delay_s == pytest.approx(delay_s or 0.0, rel=1e-12)
    assert read.loss == (loss or 0.0)
    if rate_bps and queue_bytes:
        queue = queue_line(lines)
        assert queue is not None
        assert queue.limit_bytes == queue_bytes


def test_a_case_without_the_later_properties_keeps_its_digest() -> None:
    link = Link(a="h1", b="s1", a_to_b=LinkImpairments(rate_bps=10**6, loss=0.1))
    case = Case(
        kernel="6.1",
        network=Network(
            hosts=(Host(name="h1", address="10.0.0.1/8"),),
            switches=(Switch(name="s1"),),
            links=(link,),
        ),
    )
    # What it was before there were more properties than these five.
    assert case.digest == "359ec9aafdc0e42554e6f13d03cf2fbc32acca224d8d4af786dbde0e2a1d6b4d"
    changed = replace(link, b_to_a=LinkImpairments(duplicate=0.1, qdisc="fq"))
    other = replace(case, network=replace(case.network, links=(changed,)))
    assert Case.from_json(other.to_json()) == other
    assert other.digest != case.digest
    zero = replace(link, b_to_a=LinkImpairments(duplicate=0.0))
    other = replace(case, network=replace(case.network, links=(zero,)))
    assert Case.from_json(other.to_json()) == other
    assert other.digest != case.digest


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("pfifo limit 100", None),
        (RED, None),
        ("netem delay 1ms", "netem is not a queue: what else the link does"),
        ("tbf rate 1mbit", "tbf is not a queue: the link's rate becomes one"),
        ("htb default 1", "htb needs more lines than this one: write its lines of tc under setup"),
        ("prio", "prio needs more lines"),
        ("rad limit 1", "there is no queueing discipline 'rad'; did you mean 'red'?"),
        ("", "'' are no words of tc"),
        ("pfifo limit 100; reboot", "are no words of tc"),
        ("pfifo  limit 100", "are no words of tc"),
        ("pfifo\nlimit", "are no words of tc"),
        ("pfifo " + "x" * 500, "506 characters are more than a line of tc"),
    ],
)
def test_the_words_of_a_queueing_discipline(words: str, reason: str | None) -> None:
    found = qdisc_problem(words)
    assert found is None if reason is None else reason in str(found)


def test_a_link_in_words() -> None:
    shape = LinkImpairments(delay_s=0.02, duplicate=0.01, corrupt=0.001, reorder=0.25, qdisc=RED)
    assert shape.summary() == "20 ms, 0.1 % corrupted, 1 % duplicated, 25 % reordered, red"


def qdiscs(*words: str) -> list[Qdisc]:
    places = [("root", "1:"), ("1:", "2:"), ("2:1", "3:")]
    return [
        parse_qdisc(one.split(), parent=parent, handle=handle)
        for one, (parent, handle) in zip(words, places, strict=False)
    ]


TBF = "tbf rate 1mbit burst 1518 limit 5000"


@pytest.mark.parametrize(
    ("words", "shape"),
    [
        (["netem limit 1000000000 loss gemodel 1% 25%"], LinkImpairments(burst_loss="1% 25%")),
        ([TBF], LinkImpairments(rate_bps=10**6, queue_bytes=5000, burst_bytes=1518)),
        (
            ["wire rate 1mbit limit 5000 cut 1518"],
            LinkImpairments(rate_bps=10**6, queue_bytes=5000),
        ),
        (
            ["wire rate 1gbit limit 5000000 through"],
            LinkImpairments(rate_bps=10**9, queue_bytes=5_000_000),
        ),
        (["wire rate 1mbit limit 5000 cut 3000"], None),
        (["pfifo limit 0x10"], LinkImpairments(qdisc="pfifo limit 0x10")),
        (["netem limit 1000000000 loss gemodel 1%"], None),
        (["netem limit 1000 delay 20ms"], None),
        (["netem limit 1000000000 delay 20000us"], None),  # not as it is printed
        (["netem limit 1000000000 delay 20ms slot 1ms"], None),
        (["netem limit 1000000000 jitter"], None),
        (["tbf rate 1mbit burst 1518 latency 50ms"], None),
        (["tbf rate 1mbit burst 1518 limit 1000"], None),  # holds no packet
        (["htb default 1"], None),
        (["pfifo", TBF], None),
        # No link has a queue of its own below a rate and another limit at the rate.
        (["netem limit 1000000000 delay 20ms", TBF, "fq_codel"], None),
    ],
)
def test_properties_that_become_given_qdiscs(
    words: list[str], shape: LinkImpairments | None
) -> None:
    assert infer_impairments(qdiscs(*words)) == shape


@pytest.mark.parametrize(
    "shape",
    [
        LinkImpairments(rate_bps=10**10),
        LinkImpairments(rate_bps=10**6, delay_s=0.02, queue_bytes=5000, loss=0.01),
        LinkImpairments(rate_bps=10**9, qdisc=RED),
        LinkImpairments(rate_bps=10**9, burst_bytes=4000),
    ],
)
def test_a_bucket_in_a_wires_place_is_known_again(shape: LinkImpairments) -> None:
    qdiscs = with_buckets(shape_qdiscs(shape, passes_frames=True))
    assert not any(qdisc.kind == "wire" for qdisc in qdiscs)
    assert infer_impairments(qdiscs) == shape


def test_a_bucket_in_a_wires_place_lets_a_gso_packet_pass() -> None:
    (slow,) = with_buckets(shape_qdiscs(LinkImpairments(rate_bps=10**6)))
    assert slow.words == "tbf rate 1mbit burst 66000 limit 151400"
    (fast,) = with_buckets(shape_qdiscs(LinkImpairments(rate_bps=10**10)))
    assert fast.words == "tbf rate 10gbit burst 1250000 limit 12500000"
